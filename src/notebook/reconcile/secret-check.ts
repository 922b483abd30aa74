/**
 * What hand edits would bring into the repository that must not be there. Files are read and searched before the
 * writer's queue is entered, and what was found is kept by blob, so that in the queue it is only looked up.
 * Invariant: `fresh` never calls a text clean that was not searched.
 */
import { blobIdOf } from "../../domain/identity.ts";
import type { BlobId } from "../../domain/note.ts";
import { findSecrets, type SecretMatch } from "../../domain/secrets/secrets.ts";
import { slicer } from "../../lib/slicer.ts";
import type { NoteStore } from "../../store/note-store.ts";
import type { SecretGuard } from "../secrets/secret-guard.ts";
import type { Edit } from "./settling.ts";

/** Finds secrets in a text, and knows which a person has let pass. */
export interface SecretFinder {
  /** Those of a text, also those that are let pass. */
  find(text: string): Promise<readonly SecretMatch[]>;
  isAllowed(fingerprint: string): boolean;
  /** An edit is held for this: what its fingerprint is of can be looked up later. */
  noteHeld(match: SecretMatch, where: string): void;
}

/** The finder of a notebook. @param key 32 bytes of `proof.key` */
export const secretFinder = ({ allowed }: Pick<SecretGuard, "allowed">, key: Uint8Array): SecretFinder => ({
  find: (text) => findSecrets(text, key),
  isAllowed: allowed.has,
  noteHeld: (match, where) =>
    allowed.noteRefusal(match, `${where}${match.line === 0 ? "" : `:${match.line}`}, held`),
});

export interface SecretCheck {
  /** Search the files of these edits, those that were not yet. Outside of the queue. @cost a read of each, and a search */
  look(edits: Iterable<Edit>): Promise<void>;
  /**
   * What a searched text has that nobody allowed and none of the given texts of the repository has.
   * @returns null: the text was not searched
   */
  fresh(text: BlobId, known: readonly (BlobId | null)[]): Promise<readonly SecretMatch[] | null>;
  /** The same of bytes that no file holds. @cost a search */
  freshIn(bytes: Uint8Array, known: readonly (BlobId | null)[]): Promise<readonly SecretMatch[]>;
}

/** Texts of which it is remembered what was found; more than one commit takes. */
const MOST_FOUND = 8192;
const NOTHING: readonly SecretMatch[] = [];

/** Make the check of one reconciler. */
export function createSecretCheck(
  { workTree, readBlob }: Pick<NoteStore, "workTree" | "readBlob">,
  finder: SecretFinder,
): SecretCheck {
  const found = new Map<BlobId, readonly SecretMatch[]>();

  async function search(bytes: Uint8Array): Promise<readonly SecretMatch[]> {
    // Working files that reach here are UTF-8.
    const matches = await finder.find(new TextDecoder().decode(bytes));
    return matches.length === 0 ? NOTHING : matches;
  }

  function remember(blob: BlobId, matches: readonly SecretMatch[]): void {
    found.set(blob, matches);
    if (found.size <= MOST_FOUND) return;
    for (const oldest of found.keys()) {
      found.delete(oldest);
      return;
    }
  }

  /** Fingerprints of what texts of the repository hold already: those bring nothing new. */
  async function fingerprints(known: readonly (BlobId | null)[]): Promise<Set<string>> {
    const all = new Set<string>();
    for (const blob of new Set(known)) {
      if (blob === null) continue;
      for (const { fingerprint } of await search(await readBlob(blob))) all.add(fingerprint);
    }
    return all;
  }

  async function without(
    matches: readonly SecretMatch[],
    known: readonly (BlobId | null)[],
  ): Promise<readonly SecretMatch[]> {
    const open = matches.filter(({ fingerprint }) => !finder.isAllowed(fingerprint));
    if (open.length === 0) return NOTHING;
    const old = await fingerprints(known);
    return open.filter(({ fingerprint }) => !old.has(fingerprint));
  }

  return {
    async look(edits) {
      const turn = slicer();
      for (const { path, blob } of edits) {
        if (blob === null || found.has(blob)) continue;
        const bytes = await workTree.read(path);
        // One that was saved again since is looked at when it has settled anew.
        if (bytes !== null && blobIdOf(bytes) === blob) remember(blob, await search(bytes));
        const pause = turn();
        if (pause !== null) await pause;
      }
    },
    async fresh(text, known) {
      const matches = found.get(text);
      return matches === undefined ? null : without(matches, known);
    },
    freshIn: async (bytes, known) => without(await search(bytes), known),
  };
}
