/** Lines of ours in a file of the Git directory that is a person's as well: `info/attributes`, `info/exclude`. */
import { appendFile, mkdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
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

/** What is absent is empty. */
const textOf = (place: GitPlace, name: string) => readFile(join(place.gitDir, name), "utf8").catch(() => "");
