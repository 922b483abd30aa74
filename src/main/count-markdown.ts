/** How many Markdown files of a working tree lie outside the roots, so that `init` can say so. */
import { opendir } from "node:fs/promises";
import { join } from "node:path";

/** @cost one pass over the tree; dot folders and node_modules are left out, symbolic links not followed */
export async function countMarkdownOutside(top: string, roots: readonly string[]): Promise<number> {
  if (roots.includes(".")) return 0;
  let count = 0;
  const walk = async (folder: string, path: string): Promise<void> => {
    if (roots.includes(path)) return;
    // A folder that may not be read holds no file that could become a note.
    const entries = await opendir(folder).catch(() => null);
    if (!entries) return;
    for await (const entry of entries) {
      if (entry.isDirectory()) {
        if (entry.name.startsWith(".") || entry.name === "node_modules") continue;
        await walk(join(folder, entry.name), path === "" ? entry.name : `${path}/${entry.name}`);
      } else if (entry.isFile() && entry.name.endsWith(".md")) {
        count += 1;
      }
    }
  };
  await walk(top, "");
  return count;
}
