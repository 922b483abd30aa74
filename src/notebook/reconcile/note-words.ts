/** What the reconciler asks about a file's words, answered by the domain for one set of types. */
import { keepsChanges } from "../../domain/keeps-changes.ts";
import { mergeNotes } from "../../domain/merge.ts";
import { readNoteFile } from "../../domain/note-file.ts";
import { stemOf } from "../../lib/slash-path.ts";
import type { NoteWords } from "./reconciler.ts";

/** Answer for one set of note types. */
export function noteWords(types: ReadonlySet<string>): NoteWords {
  return {
    describe(path, bytes) {
      const file = readNoteFile(path, bytes, types);
      if (file.kind === "note") {
        const { id, title, type } = file.fields;
        return { id, title, type };
      }
      return { id: null, title: stemOf(path), type: "general" };
    },
    merge(_path, base, ours, theirs) {
      const merge = mergeNotes(base, ours, theirs);
      if (merge.kind === "merged") return merge.bytes;
      const [from, mine, other] = [base ?? new Uint8Array(), ours, theirs].map(textOf);
      if (from === undefined || mine === undefined || other === undefined) return null;
      if (keepsChanges(from, mine, other)) return theirs;
      return keepsChanges(from, other, mine) ? ours : null;
    },
  };
}

/** Working files that reach here are UTF-8. */
const textOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
