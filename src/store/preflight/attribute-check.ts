/**
 * Finds attributes by which Git would convert a note's bytes: line endings, a filter (LFS), an encoding, an
 * expanded `$Id$`. A note's revision is the hash of its file's bytes, so none of these may hold for a note.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { orAbsent } from "../../lib/durable-file.ts";
import { folderOf } from "../../lib/slash-path.ts";
import {
  type Assignment,
  type AttributeRule,
  decide,
  gitMacros,
  type Macros,
  parseAttributes,
} from "./attribute-rules.ts";

export interface AttributeCheck {
  readonly root: string;
  readonly gitdir: string;
  /** Note paths to judge: existing ones, and what new ones will be called. Looked at when some line may convert. */
  readonly paths: readonly string[];
  /** Folders that these lie in, where they are known. */
  readonly folders?: Iterable<string>;
  /** Files of the system and the person, weakest first (core.attributesFile and such). */
  readonly outsideFiles?: readonly string[];
  /** Lines that are about to be appended to `<gitdir>/info/attributes`. */
  readonly pendingLines?: string;
}

/** One line that must change, with a path that it is wrong for. */
interface AttributeRefusal {
  readonly file: string;
  readonly line: number;
  readonly path: string;
  readonly message: string;
}

/** These folders and all above them. */
function withFoldersAbove(folders: Iterable<string>): string[] {
  const found = new Set<string>([""]);
  for (const folder of folders) for (let at = folder; !found.has(at); at = folderOf(at)) found.add(at);
  // A folder before those below it: the nearer file is the stronger one.
  return [...found].sort();
}

const WATCHED = ["text", "crlf", "eol", "filter", "working-tree-encoding", "ident"];

interface Rules {
  /** Weakest first; empty when no line, and no macro, is about content. */
  readonly rules: readonly AttributeRule[];
  readonly macros: Macros;
}

/** What every file says, the stronger later. */
function rulesOf(check: AttributeCheck): Rules {
  const { root, gitdir, outsideFiles = [], pendingLines = "" } = check;
  const folders = check.folders ?? new Set(check.paths.map(folderOf));
  const macros = gitMacros();
  const rules: AttributeRule[] = [];
  const add = (file: string, shown: string, folder: string, more = "") => {
    const text = orAbsent(() => readFileSync(file, "utf8")) ?? "";
    const whole = text === "" || text.endsWith("\n") ? text + more : `${text}\n${more}`;
    rules.push(...parseAttributes(whole, shown, folder, macros));
  };
  for (const file of outsideFiles) add(file, file, "");
  for (const folder of withFoldersAbove(folders)) {
    const shown = join(folder, ".gitattributes");
    add(join(root, shown), shown, folder);
  }
  add(join(gitdir, "info", "attributes"), join(gitdir, "info", "attributes"), "", pendingLines);
  const watched = new Set([...WATCHED, ...macros.keys()]);
  return { rules: rules.filter((rule) => rule.assigns.some(([name]) => watched.has(name))), macros };
}

/** Whether any line, by itself, could have Git convert a file's bytes; lines that only forbid it can't. */
function mayConvert({ rules, macros }: Rules): boolean {
  const allows = ([name, value]: Assignment): boolean => {
    if (value === false || value === null) return false;
    return WATCHED.includes(name) || (macros.get(name)?.some(allows) ?? false);
  };
  return rules.some(({ assigns }) => assigns.some(allows));
}

/** What converts this path, if anything: the deciding rule and what it does. */
function conversion({ rules, macros }: Rules, path: string): { rule: AttributeRule; why: string } | null {
  const decided = decide(rules, macros, path);
  /** Decided, and not sent back to unspecified. */
  const get = (name: string) => {
    const found = decided.get(name);
    return found === undefined || found.value === null ? null : found;
  };
  const on = (name: string) => {
    const found = get(name);
    return found === null || found.value === false ? null : found;
  };
  const encoding = on("working-tree-encoding");
  if (encoding !== null && !/^utf-?8$/i.test(String(encoding.value)))
    return { rule: encoding.rule, why: `converts notes to the encoding ${String(encoding.value)}` };
  const filter = on("filter");
  if (filter !== null)
    return { rule: filter.rule, why: `sends notes through the filter ${String(filter.value)}` };
  const text = get("text") ?? get("crlf");
  if (text !== null && text.value !== false)
    return { rule: text.rule, why: "lets Git convert line endings in notes" };
  const eol = text === null ? on("eol") : null;
  if (eol !== null) return { rule: eol.rule, why: `gives notes the line ending ${String(eol.value)}` };
  const ident = on("ident");
  return ident === null ? null : { rule: ident.rule, why: "lets Git expand $Id$ in notes" };
}

/**
 * Lines by which Git would change a note's bytes, each once.
 * @cost one small read for each folder that holds notes; paths are matched only when some line may convert content
 */
export function attributeRefusals(check: AttributeCheck): AttributeRefusal[] {
  const found = new Map<AttributeRule, AttributeRefusal>();
  const rules = rulesOf(check);
  if (!mayConvert(rules)) return [];
  for (const path of check.paths) {
    const bad = conversion(rules, path);
    if (bad === null || found.has(bad.rule)) continue;
    const { file, line } = bad.rule;
    const advice = `Take notes out of that line, or add "${path.endsWith(".md") ? "*.md" : path} -text -filter -ident -working-tree-encoding" below it`;
    found.set(bad.rule, { file, line, path, message: `${file}:${line} ${bad.why} (${path}). ${advice}.` });
  }
  return [...found.values()];
}
