/**
 * The attributes that keep Git from converting a note's bytes: a revision is the hash of the file's bytes.
 *
 * @see spec: storage, section 1 · gitattributes(5)
 */

/** Roots that are always there. */
const ALWAYS_ROOTS = ["notes", "memory"] as const;

/** The strongest of all files of attributes, in the Git directory. */
export const ATTRIBUTES_FILE = "info/attributes";

/** All roots, the fixed ones first; `.` stands for the whole tree and makes every other one needless. */
export function allRoots(roots: readonly string[]): string[] {
  return roots.includes(".") ? ["."] : [...new Set([...ALWAYS_ROOTS, ...roots])];
}

const KEEPS_BYTES = "-text -filter -ident -working-tree-encoding merge=notesd";

/** Whether a line of attributes is one that we write, of whatever root. */
export const isAttributeLine = (line: string): boolean =>
  line.endsWith(`*.md ${KEEPS_BYTES}`) || line.endsWith(`*.md" ${KEEPS_BYTES}`);

/** One line a root, with its LF. */
export function attributeLines(roots: readonly string[]): string {
  return allRoots(roots)
    .map((root) => `${pattern(root)} ${KEEPS_BYTES}\n`)
    .join("");
}

function pattern(root: string): string {
  if (root === ".") return "*.md";
  const glob = `${root.replace(/[\\*?[\]]/g, "\\$&")}/**/*.md`;
  if (!/[\s"\\#!]/.test(glob)) return glob;
  return `"${glob.replace(/["\\]/g, "\\$&").replaceAll("\t", "\\t")}"`;
}
