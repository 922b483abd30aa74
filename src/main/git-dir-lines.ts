/** Lines of ours in a file of the Git directory that is a person's as well: `info/attributes`, `info/exclude`. */
import { appendFile, mkdir, readFile, realpath, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { writeDurably } from "../lib/durable-file.ts";
import type { GitPlace } from "../lib/git-dir.ts";

/** Those of the wanted lines that the file lacks, each with its LF. @param name below the Git directory */
export async function missingLines(place: GitPlace, name: string, wanted: string): Promise<string> {
  const present = new Set((await textOf(place, name)).split(/\r?\n/));
  return wanted
    .split("\n")
    .filter((line) => line !== "" && !present.has(line))
    .map((line) => `${line}\n`)
    .join("");
}

/** Append the lines that the file lacks. */
export async function addLines(place: GitPlace, name: string, wanted: string): Promise<void> {
  const missing = await missingLines(place, name, wanted);
  if (missing === "") return;
  const text = await textOf(place, name);
  const file = join(place.gitDir, name);
  await mkdir(dirname(file), { recursive: true });
  await appendFile(file, `${text === "" || text.endsWith("\n") ? "" : "\n"}${missing}`);
}

/** Take lines away; a file that has no other goes with them. */
export async function removeLines(
  place: GitPlace,
  name: string,
  isOurs: (line: string) => boolean,
): Promise<void> {
  const lines = (await textOf(place, name)).split("\n");
  const left = lines.filter((line) => !isOurs(line.replace(/\r$/, "")));
  if (left.length === lines.length) return;
  // A link stays one.
  const file = await realpath(join(place.gitDir, name));
  const text = left.join("\n");
  if (text === "") await rm(file);
  else await writeDurably(file, text, { mode: (await stat(file)).mode & 0o777 });
}

/** What is absent is empty. */
const textOf = (place: GitPlace, name: string) => readFile(join(place.gitDir, name), "utf8").catch(() => "");
