/**
 * A note's versions and where their lines come from. A version is a note file with the commit that last changed it;
 * its parents are what that commit's parents had of the note, so that merges are followed on every side, and
 * renames by the note's id. Reads; keeps nothing but for one walk.
 */
import { carriedLines } from "../../domain/carried-lines.ts";
import type { CommitId } from "../../domain/note.ts";
import type { FileAt, NoteIndex } from "../../index/note-index.ts";
import { slicer } from "../../lib/slicer.ts";
import type { NoteStore } from "../../store/note-store.ts";

export interface LineageDeps {
  readonly store: Pick<NoteStore, "readBlob" | "commitInfo">;
  readonly index: Pick<NoteIndex, "namedAt" | "fileAt" | "history">;
}

export interface Lineage {
  /** The lines of a version's file, without their line feeds. */
  linesOf(version: FileAt): Promise<readonly string[]>;
  /** The versions that a version was made of: none for a new note, two for a merge. */
  parentsOf(version: FileAt): Promise<readonly FileAt[]>;
  /**
   * The commit that brought each line.
   * @param wanted  0-based lines of the version; absent: all
   * @returns one commit for each wanted line, in their order
   * @cost one blob and one line diff a version, back to the oldest that brought one of the lines; in turns
   */
  originsOf(version: FileAt, wanted?: readonly number[]): Promise<readonly CommitId[]>;
}

const VERSIONS_HELD = 64;
const ROWS_LOOKED_AT = 50;

/** Make the reader of one walk over versions. */
export function createLineage({ store, index }: LineageDeps): Lineage {
  const texts = new Map<string, Promise<readonly string[]>>();
  const parents = new Map<string, Promise<readonly FileAt[]>>();

  function linesOf({ blob }: FileAt): Promise<readonly string[]> {
    return held(texts, blob, async () => new TextDecoder().decode(await store.readBlob(blob)).split("\n"));
  }

  const parentsOf = (version: FileAt) =>
    held(parents, `${version.changedIn} ${version.noteId}`, async () => {
      const { parents: commits, proved } = await store.commitInfo(version.changedIn);
      const found = commits.flatMap((commit) => index.namedAt(commit, version.noteId) ?? []);
      // A restored note goes on from what was deleted.
      if (found.length === 0 && proved?.action === "restore") found.push(...lastBefore(version));
      return found;
    });

  function lastBefore({ noteId, changedIn }: FileAt): FileAt[] {
    let met = false;
    for (let cursor: string | null = null; ; ) {
      const page = index.history({ noteId }, ROWS_LOOKED_AT, cursor);
      for (const { commit, revision, path } of page.items) {
        if (met && revision !== null) return [index.fileAt(commit, path) ?? []].flat();
        met ||= commit === changedIn;
      }
      if (page.nextCursor === null) return [];
      cursor = page.nextCursor;
    }
  }

  return {
    linesOf,
    parentsOf,
    async originsOf(version, wanted) {
      const lines = await linesOf(version);
      const asked = wanted ?? [...lines.keys()];
      const origins: CommitId[] = asked.map(() => version.changedIn);
      const turn = slicer();
      // Each holds lines of a version that are nobody's yet, by the place of their answer.
      const open: { version: FileAt; lines: Map<number, number> }[] = [
        { version, lines: new Map(asked.map((line, answer) => [answer, line])) },
      ];
      for (let next = open.pop(); next !== undefined; next = open.pop()) {
        const rest = next.lines;
        for (const parent of await parentsOf(next.version)) {
          if (rest.size === 0) break;
          const from = carriedLines(await linesOf(parent), await linesOf(next.version));
          const passed = new Map<number, number>();
          for (const [answer, line] of rest) {
            const before = from[line] ?? -1;
            if (before < 0) continue;
            passed.set(answer, before);
            rest.delete(answer);
          }
          if (passed.size > 0) open.push({ version: parent, lines: passed });
        }
        for (const answer of rest.keys()) origins[answer] = next.version.changedIn;
        await turn();
      }
      return origins;
    },
  };
}

/** A value by key, the last so many of them kept. */
function held<T>(values: Map<string, Promise<T>>, key: string, make: () => Promise<T>): Promise<T> {
  const known = values.get(key) ?? make();
  values.delete(key);
  values.set(key, known);
  for (const oldest of values.keys()) {
    if (values.size <= VERSIONS_HELD) break;
    values.delete(oldest);
  }
  return known;
}
