/** From flags, environment and files to one repository and the settings that hold there. */
import { dirname, join, resolve } from "node:path";
import { findRepository, isMarked } from "../client/find-repository.ts";
import { ProcessError } from "../domain/process-error.ts";
import type { Flags } from "../doors/cli/host.ts";
import { type GitPlace, gitPlacesAround } from "../lib/git-dir.ts";
import { configFile } from "./config-file.ts";
import {
  CONFIG_FILE,
  environmentSettings,
  type Layer,
  mergeLayers,
  parseSettings,
  readRepositoryFile,
  readSettingsFile,
  withoutEffect,
} from "./read-settings.ts";
import type { Settings } from "./settings.ts";

export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  warn(text: string): void;
}

export interface Resolved {
  readonly place: GitPlace;
  readonly settings: Settings;
}

interface Upper {
  readonly layers: readonly (Layer | null)[];
  readonly named: string | null;
}

/** The repository that is meant. @throws ProcessError USAGE none, or settings that can't be read */
export async function resolvePlace(flags: Flags, around: Surroundings): Promise<GitPlace> {
  const { named } = await upperLayers(flags, around);
  return findRepository(named, around.cwd);
}

/** The repository and every setting that holds for it. @throws ProcessError USAGE */
export async function resolveSettings(flags: Flags, around: Surroundings): Promise<Resolved> {
  const { layers, named } = await upperLayers(flags, around);
  const place = await findRepository(named, around.cwd);
  const [flagLayer, environment, fileLayer] = layers;
  const settings = mergeLayers([
    flagLayer ?? null,
    environment ?? null,
    await readSettingsFile(configFile(place)),
    fileLayer ?? null,
    await readRepositoryFile(join(place.root, CONFIG_FILE), around.warn),
  ]);
  for (const text of withoutEffect(settings)) around.warn(text);
  return { place, settings };
}

async function upperLayers(flags: Flags, around: Surroundings): Promise<Upper> {
  const { config, ...given } = flags;
  const flagLayer: Layer = { from: "flags", settings: parseSettings(given, "flags") };
  const environment = environmentSettings(around.env);
  const file = resolve(around.cwd, config ?? CONFIG_FILE);
  const fileLayer = await namedFile(file, config !== undefined);
  const named = flagLayer.settings.repo ?? environment.settings.repo ?? fileLayer?.settings.repo ?? null;
  return { layers: [flagLayer, environment, fileLayer], named };
}

/** The file of `--config` or of the current folder. One inside a note repository counts only as that one's own. */
async function namedFile(file: string, asked: boolean): Promise<Layer | null> {
  for (const place of await gitPlacesAround(dirname(file))) if (await isMarked(place)) return null;
  const layer = await readSettingsFile(file);
  if (!layer && asked) throw new ProcessError("USAGE", `${file}: there is no such settings file.`);
  return layer;
}
