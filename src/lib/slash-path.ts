/** Parts of a `/` separated path, as Git writes it: text alone, no disk and no rule about what a path may be. */

/** The folder, without a slash at its end; the empty text for what lies at the top. */
export function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

/** The last part. */
export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** The last part without `.md`. */
export function stemOf(path: string): string {
  return nameOf(path).replace(/\.md$/i, "");
}
