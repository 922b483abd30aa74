/** What a push is held to, from the settings: the hook and the daemon ask here, so that they agree. */
import { NOTE_TYPES } from "../domain/note.ts";
import type { PushRules } from "../doors/hook.ts";
import { allRoots } from "./attributes.ts";
import type { Settings } from "./settings.ts";

export const NOTE_BYTES = 256 << 10;
/** Larger files would be in memory whole, and in every clone for ever. */
const FILE_BYTES = 32 << 20;
const DEFAULT_PRIORITY = 0.6;

/** The rules of one repository. */
export function pushRules(settings: Settings): PushRules {
  return {
    branch: settings.branch ?? "main",
    roots: allRoots(settings.roots ?? []),
    types: Object.keys(typesOf(settings)),
    note_bytes: settings.limits?.note_bytes ?? NOTE_BYTES,
    file_bytes: settings.limits?.file_bytes ?? FILE_BYTES,
  };
}

/** Every type that notes may have, with its priority. */
export function typesOf({ types = {} }: Settings): Record<string, { readonly priority: number }> {
  const added = Object.entries(types).map(([name, { priority }]) => [
    name,
    { priority: priority ?? NOTE_TYPES[name]?.priority ?? DEFAULT_PRIORITY },
  ]);
  return { ...NOTE_TYPES, ...Object.fromEntries(added) };
}
