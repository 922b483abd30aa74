/**
 * The index's TREE extension: Git's record of which folders' trees are already written. A folder below which
 * an entry changed is marked invalid, as Git marks it; Git computes those again and trusts the others.
 * @see gitformat-index(5), "Cache tree"
 */

interface Folder {
  readonly name: string;
  /** Entries below it; -1: invalid, without an id. */
  count: number;
  id: Buffer | null;
  readonly folders: Folder[];
}

function parse(content: Buffer, position: { at: number }): Folder | null {
  const nul = content.indexOf(0, position.at);
  const end = content.indexOf(0x0a, nul + 1);
  if (nul < 0 || end < 0) return null;
  const [, count, folders] = /^(-?\d+) (\d+)$/.exec(content.toString("latin1", nul + 1, end)) ?? [];
  if (count === undefined) return null;
  const name = content.toString("latin1", position.at, nul);
  const valid = Number(count) >= 0;
  position.at = end + 1 + (valid ? 20 : 0);
  if (position.at > content.length) return null;
  const id = valid ? content.subarray(end + 1, end + 21) : null;
  const found: Folder = { name, count: Number(count), id, folders: [] };
  for (let left = Number(folders); left > 0; left--) {
    const child = parse(content, position);
    if (child === null) return null;
    found.folders.push(child);
  }
  return found;
}

function write(folder: Folder, out: Buffer[]): void {
  out.push(Buffer.from(`${folder.name}\0${folder.count} ${folder.folders.length}\n`, "latin1"));
  if (folder.id !== null) out.push(folder.id);
  for (const child of folder.folders) write(child, out);
}

/**
 * The extension's content with every folder above these paths marked invalid.
 * @param paths latin1 strings of raw bytes
 * @returns null when the content can't be read: leaving the extension out is always right
 */
export function invalidateCacheTree(content: Buffer, paths: Iterable<string>): Buffer | null {
  const root = parse(content, { at: 0 });
  if (root === null) return null;
  for (const path of paths) {
    let folder: Folder | undefined = root;
    for (const part of path.split("/")) {
      if (folder === undefined) break;
      folder.count = -1;
      folder.id = null;
      folder = folder.folders.find((child) => child.name === part);
    }
  }
  const out: Buffer[] = [];
  write(root, out);
  return Buffer.concat(out);
}
