/**
 * One scan of the working files, in steps that give no turn to anybody: which folders changed, and what files
 * hold. Whoever runs it decides where: `scan-worker.ts` in a thread, `scanner.ts` in slices.
 */
import type { BlobId, RepoPath } from "../../domain/note.ts";
import { noteFilter } from "../trees/note-filter.ts";
import { type LookRules, lookAt } from "./disk-look.ts";
import { signatureOf, signatureText } from "./file-signature.ts";
import { type WalkedPart, walkFolders } from "./folder-walk.ts";

/** Plain data, so that a thread can be given it. */
export interface ScanWork {
  /** Absolute folder of the working tree. */
  readonly root: string;
  readonly roots: readonly string[];
  readonly maxBytes: number;
  /** Digests of folders that need not be told again while they are the same. */
  readonly known: ReadonlyMap<string, string>;
}

/** What a look at one file found. */
export type Seen =
  | {
      readonly kind: "file";
      readonly blob: BlobId;
      /** Null: too young to be believed later. */
      readonly signature: string | null;
      readonly mtimeMs: number;
    }
  | { readonly kind: "absent" }
  | { readonly kind: "unfit"; readonly reason: string };

/** The next of a walk. */
export interface Walked {
  readonly parts: readonly WalkedPart[];
  /** At the end: how many notes lie there, and which known folders do no more. */
  readonly end: { readonly files: number; readonly gone: readonly string[] } | null;
}

export interface Scan {
  /** Walk on, until `enough` says so between two steps, or to the end. @throws NotesError STORAGE */
  walk(enough: (files: number) => boolean): Walked;
  /** @throws Node errors, as `lookAt` */
  look(path: RepoPath): Seen;
}

/** Begin a scan. @param nowMs the file system's time */
export function openScan({ root, roots, maxBytes, known }: ScanWork, nowMs = Date.now): Scan {
  const left = new Map(known);
  const rules: LookRules = { root, maxBytes, isPrepared: () => false, nowMs };
  const walk = walkFolders({ ...rules, folders: roots, notes: noteFilter(roots) }, left);
  let files = 0;
  return {
    walk(enough) {
      const parts: WalkedPart[] = [];
      let told = 0;
      for (let step = walk.next(); !step.done; step = walk.next()) {
        files += step.value.files;
        const { part } = step.value;
        if (part !== null) {
          parts.push(part);
          told += part.names.length;
        }
        if (enough(told)) return { parts, end: null };
      }
      return { parts, end: { files, gone: [...left.keys()] } };
    },
    look: (path) => seenOf(rules, path),
  };
}

function seenOf(rules: LookRules, path: RepoPath): Seen {
  const look = lookAt(rules, path, null);
  if (look.kind !== "file") return look;
  const signature = look.settled ? signatureText(signatureOf(look.stat)) : null;
  return { kind: "file", blob: look.blob, signature, mtimeMs: Number(look.stat.mtimeNs / 1_000n) / 1_000 };
}
