/**
 * The difference of two files as Git writes it: what `git apply` takes and every tool shows. Pure.
 * Invariant: applied to the one text it gives the other, whatever their line ends.
 */
import { formatPatch, structuredPatch } from "diff";

/** A file with its text; null stands for one that is not there. */
export interface FileText {
  readonly path: string;
  readonly text: string;
}

const CONTEXT_LINES = 3;
const MAX_EDIT_LENGTH = 4_000;

/**
 * @returns the empty text when nothing differs
 * @cost a line diff; over 4,000 edits every line counts as replaced
 */
export function unifiedDiff(before: FileText | null, after: FileText | null): string {
  const from = before ?? after;
  const to = after ?? before;
  if (from === null || to === null) return "";
  const head = [`diff --git ${quoted(`a/${from.path}`)} ${quoted(`b/${to.path}`)}`];
  if (before === null) head.push("new file mode 100644");
  if (after === null) head.push("deleted file mode 100644");
  if (from.path !== to.path) head.push(`rename from ${quoted(from.path)}`, `rename to ${quoted(to.path)}`);
  const hunks = hunksOf(before?.text ?? "", after?.text ?? "");
  if (hunks === "" && head.length === 1) return "";
  if (hunks !== "") {
    head.push(`--- ${before ? quoted(`a/${from.path}`) : "/dev/null"}`);
    head.push(`+++ ${after ? quoted(`b/${to.path}`) : "/dev/null"}`);
  }
  return `${head.join("\n")}\n${hunks}`;
}

function hunksOf(before: string, after: string): string {
  if (before === after) return "";
  const options = { context: CONTEXT_LINES, maxEditLength: MAX_EDIT_LENGTH };
  const patch = structuredPatch("", "", before, after, "", "", options);
  if (patch === undefined) return replaced(before, after);
  const text = formatPatch(patch, {
    includeIndex: false,
    includeUnderline: false,
    includeFileHeaders: false,
  });
  return text.endsWith("\n") ? text : `${text}\n`;
}

/** Every line taken away and every line added. */
function replaced(before: string, after: string): string {
  const side = (sign: string, text: string) => {
    if (text === "") return { count: 0, lines: "" };
    const lines = text.replace(/\n$/, "").split("\n");
    const end = text.endsWith("\n") ? "" : "\\ No newline at end of file\n";
    return { count: lines.length, lines: `${lines.map((line) => `${sign}${line}\n`).join("")}${end}` };
  };
  const [gone, come] = [side("-", before), side("+", after)];
  const at = (count: number) => `${count === 0 ? 0 : 1},${count}`;
  return `@@ -${at(gone.count)} +${at(come.count)} @@\n${gone.lines}${come.lines}`;
}

/** A path as Git's patches have it: quoted where it holds what would end or change a line. */
function quoted(path: string): string {
  if (!/["\\\x00-\x1f\x7f]/.test(path)) return path.includes(" ") ? `${path}\t`.trimEnd() : path;
  const escaped = path.replace(/["\\\x00-\x1f\x7f]/g, (char) =>
    char === '"' || char === "\\" ? `\\${char}` : `\\${char.charCodeAt(0).toString(8).padStart(3, "0")}`,
  );
  return `"${escaped}"`;
}
