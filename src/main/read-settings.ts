/**
 * Where settings come from, highest first: flags, environment, `<gitdir>/notesd/config.json`, the file named
 * by `--config` or `notes.config.json` in the current folder, and last the one inside the note repository,
 * which may set only what cannot open a door. The environment comes in as a parameter; `cli-host.ts` reads it.
 */
import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { z } from "zod";
import { ProcessError } from "../domain/process-error.ts";
import { errnoOf } from "../lib/durable-file.ts";
import { nearest } from "../lib/nearest.ts";
import { REPOSITORY_MAY_SET, SETTING_NAMES, type SettingName, Settings, WITHOUT_EFFECT } from "./settings.ts";

export const CONFIG_FILE = "notes.config.json";

export interface Layer {
  /** For messages: a file's path, `flags`, or `environment`. */
  readonly from: string;
  readonly settings: Settings;
}

/**
 * Check one layer.
 * @throws ProcessError USAGE an unknown key with the nearest name, or a value of the wrong kind
 */
export function parseSettings(given: unknown, from: string): Settings {
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    throw new ProcessError("USAGE", `${from}: expected an object of settings.`);
  }
  const { $schema: _, ...rest } = given as Record<string, unknown>; // an object, as was just checked
  const parsed = Settings.safeParse(rest);
  if (parsed.success) return parsed.data;
  throw new ProcessError("USAGE", parsed.error.issues.map((issue) => `${from}: ${say(issue)}`).join("\n"));
}

function say(issue: z.core.$ZodIssue): string {
  const path = issue.path.map(String).join(".");
  if (issue.code !== "unrecognized_keys") return `${path || "settings"}: ${issue.message}.`;
  return issue.keys
    .map((key) => {
      const near = nearest(key, namesAt(issue.path));
      const full = path === "" ? key : `${path}.${key}`;
      return `${full} is no setting${near ? `; did you mean ${path === "" ? near : `${path}.${near}`}?` : "."}`;
    })
    .join(" ");
}

/** @throws ProcessError USAGE a name that is no setting's */
export function checkSettingName(key: string): void {
  const path = key.split(".");
  for (const [at, part] of path.entries()) {
    const names = namesAt(path.slice(0, at));
    if (names.length > 0 && !names.includes(part)) {
      throw new ProcessError(
        "USAGE",
        say({ code: "unrecognized_keys", keys: [part], path: path.slice(0, at), message: "" }),
      );
    }
  }
}

/** The names that a group of settings has. */
function namesAt(path: readonly PropertyKey[]): readonly string[] {
  let schema: unknown = Settings;
  for (const key of path) {
    if (!(schema instanceof z.ZodObject)) return [];
    schema = schema.shape[String(key)];
    while (schema instanceof z.ZodOptional) schema = schema.unwrap();
  }
  return schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
}

/** Settings of a file; null when there is none. `repo` is made absolute. @throws ProcessError USAGE */
export async function readSettingsFile(file: string): Promise<Layer | null> {
  const given = await readJson(file);
  if (given === null) return null;
  const settings = parseSettings(given, file);
  if (settings.repo !== undefined) settings.repo = resolve(dirname(file), settings.repo);
  return { from: file, settings };
}

/** As `readSettingsFile` for the file inside the note repository; other keys are warned about and ignored. */
export async function readRepositoryFile(file: string, warn: (text: string) => void): Promise<Layer | null> {
  const given = await readJson(file);
  if (given === null) return null;
  const allowed: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(given)) {
    if (REPOSITORY_MAY_SET.some((name) => name === key)) allowed[key] = value;
    else if (key !== "$schema") {
      warn(
        `${file}: ${key} is ignored: a file in the note repository may set only ${REPOSITORY_MAY_SET.join(", ")}.`,
      );
    }
  }
  return { from: file, settings: parseSettings(allowed, file) };
}

async function readJson(file: string): Promise<object | null> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return null;
    throw new ProcessError("USAGE", `${file} can't be read: ${String(error)}`, error);
  }
  try {
    const given: unknown = JSON.parse(text);
    if (typeof given === "object" && given !== null && !Array.isArray(given)) return given;
  } catch (error) {
    throw new ProcessError("USAGE", `${file} is not JSON: ${(error as Error).message}.`, error);
  }
  throw new ProcessError("USAGE", `${file}: expected an object of settings.`);
}

/** Settings named by the environment: `NOTESD_<KEY>`, lists by commas, groups as JSON. @throws ProcessError USAGE */
export function environmentSettings(env: Readonly<Record<string, string | undefined>>): Layer {
  const given: Record<string, unknown> = {};
  for (const key of SETTING_NAMES) {
    const text = env[`NOTESD_${key.toUpperCase()}`];
    if (text !== undefined && text !== "") given[key] = settingFromText(key, text);
  }
  return { from: "environment", settings: parseSettings(given, "environment") };
}

/** A value as a person types it on a command line: what the key's schema asks for, else JSON, else the text. */
export function settingFromText(key: string, text: string): unknown {
  let schema: unknown = Settings;
  for (const part of key.split(".")) {
    if (!(schema instanceof z.ZodObject)) break;
    schema = schema.shape[part];
    while (schema instanceof z.ZodOptional) schema = schema.unwrap();
  }
  if (schema instanceof z.ZodString || schema instanceof z.ZodEnum || schema instanceof z.ZodURL) return text;
  if (schema instanceof z.ZodArray && !text.startsWith("["))
    return text.split(",").map((part) => part.trim());
  try {
    return JSON.parse(text);
  } catch {
    return text; // the schema says what was expected
  }
}

/** One settings object from layers, highest first; groups are merged key by key. */
export function mergeLayers(layers: readonly (Layer | null)[]): Settings {
  const merged: Record<string, unknown> = {};
  for (const layer of [...layers].reverse()) {
    for (const [key, value] of Object.entries(layer?.settings ?? {})) {
      const below = merged[key];
      merged[key] = isGroup(value) && isGroup(below) ? { ...below, ...value } : value;
    }
  }
  return merged as Settings; // every layer was checked, and merging groups adds no key
}

const isGroup = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Sentences about settings that were set and that this version doesn't act on. */
export function withoutEffect(settings: Settings): string[] {
  return WITHOUT_EFFECT.filter((key: SettingName) => settings[key] !== undefined).map(
    (key) => `the setting ${key} has no effect in this version.`,
  );
}
