/** Saves a working file as an editor does that writes in place; null removes it. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

export function saveFile(root: string, path: string, content: string | Uint8Array | null): void {
  const file = join(root, path);
  if (content === null) {
    rmSync(file, { force: true });
    return;
  }
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
}
