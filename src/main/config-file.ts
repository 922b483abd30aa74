/** `<gitdir>/notesd/config.json`: the settings of one repository, changed by `init` and `config set`. */
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { writeDurably } from "../lib/durable-file.ts";
import type { GitPlace } from "../lib/git-dir.ts";
import { parseSettings, readSettingsFile } from "./read-settings.ts";
import type { Settings } from "./settings.ts";

export const configFile = (place: GitPlace): string => join(place.gitDir, "notesd", "config.json");

/** What the file sets; empty when there is none. @throws ProcessError USAGE */
export async function readConfig(place: GitPlace): Promise<Settings> {
  return (await readSettingsFile(configFile(place)))?.settings ?? {};
}

/** Change the file; what results is checked before a byte is written. @throws ProcessError USAGE */
export async function changeConfig(place: GitPlace, change: (now: Settings) => unknown): Promise<Settings> {
  const file = configFile(place);
  const before = await readConfig(place);
  const after = parseSettings(change(before), file);
  if (JSON.stringify(after) === JSON.stringify(before)) return after;
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await writeDurably(file, `${JSON.stringify(after, null, 2)}\n`, { mode: 0o600 });
  return after;
}
