/** What a client of the chains test asks next: a mix that makes many writers meet on few notes. */

/** What a client knows of a note: the revision it last heard of (null: deleted), and a commit at which it was there. */
export interface Known {
  readonly revision: string | null;
  readonly commit: string;
}

export interface Wish {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/**
 * The next wish on a note.
 * @param id       of the operation: the text that it writes is nobody else's, so no two revisions are the same
 * @param deletes  whether this client may delete
 */
export function nextWish(
  note: string,
  known: Known,
  id: string,
  random: () => number,
  deletes: boolean,
): Wish {
  const dice = random();
  const named = { note_id: note };
  if (known.revision === null && deletes)
    return { method: "notes.restore", params: { ...named, at: known.commit } };
  if (dice < 0.2 || known.revision === null) return { method: "notes.read", params: named };
  const based = { ...named, if_revision: known.revision };
  const content = `mark\n\nfirst of ${id}\n\nmiddle\n\nlast\n`;
  if (dice < 0.5) return { method: "notes.update", params: { ...based, content } };
  if (dice < 0.65) return { method: "notes.append", params: { ...based, content: `after ${id}\n` } };
  if (dice < 0.75)
    return { method: "notes.edit", params: { ...based, old_str: "mark", new_str: `mark ${id}` } };
  if (dice < 0.85)
    return { method: "notes.update", params: { ...based, extra: { [id]: true }, on_conflict: "merge" } };
  if (dice < 0.95 || !deletes)
    return { method: "notes.append", params: { ...named, content: `last of ${id}\n` } };
  return { method: "notes.delete", params: based };
}
