/**
 * A purge that is about to be carried out, durable before the first ref moves and kept until the last old object is
 * gone: who finds it goes on where a kill stopped. It names ids and paths, never what is purged.
 */
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { fsyncFolder, orAbsent, writeDurably } from "../../lib/durable-file.ts";
import { jsonOrNull } from "../../lib/json-text.ts";
import type { ObjectId } from "../objects/object-id.ts";
import type { ObjectKind } from "./rewriting.ts";

const Id = z.string().regex(/^[0-9a-f]{40}$/);

const PurgePlan = z.strictObject({
  format: z.literal(1),
  moves: z.array(z.strictObject({ name: z.string(), from: Id.nullable(), to: Id.nullable() })),
  head: z.strictObject({ from: Id, to: Id }).nullable(),
  stash: z.string().nullable(),
  /** Old content to new one, as the Git index and the table of working files hold it; null: the file goes. */
  blobs: z.array(z.tuple([Id, Id.nullable()])),
  /** Paths of the Git index and of working files that change. */
  paths: z.array(z.tuple([z.string(), z.string()])),
  /** Entries of the Git index and of the table that go, though their content stays elsewhere: path and content. */
  gone: z.array(z.tuple([z.string(), Id])).default([]),
  /** Working files of HEAD that hold it. */
  files: z.array(
    z.strictObject({
      path: z.string(),
      mode: z.string(),
      blob: Id,
      to: z.strictObject({ path: z.string(), blob: Id }).nullable(),
    }),
  ),
});
export type PurgePlan = z.infer<typeof PurgePlan>;

/** Old and new commits of the last purge, a line each; in the Git directory. */
export const PURGE_MAP = "notesd/purge-map";

const folderOf = (gitdir: string) => join(gitdir, "notesd", "purge");

/**
 * Write map, list and plan; the plan last, since with it the purge begins.
 * @param ids objects that must go
 * @param commits old to new
 */
export async function writePlan(
  gitdir: string,
  plan: PurgePlan,
  ids: ReadonlyMap<ObjectId, ObjectKind>,
  commits: ReadonlyMap<ObjectId, ObjectId>,
): Promise<void> {
  const folder = folderOf(gitdir);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  await fsyncFolder(join(gitdir, "notesd"));
  const map = Array.from(commits, ([from, to]) => `${from} ${to}\n`).join("");
  await writeDurably(join(gitdir, PURGE_MAP), map, { mode: 0o600 });
  await writeDurably(join(folder, "ids"), Array.from(ids, ([id, kind]) => `${kind} ${id}\n`).join(""));
  await writeDurably(join(folder, "plan.json"), `${JSON.stringify(plan)}\n`);
}

/** The plan that stands, and what it drops; null: there is none. @throws Error it can't be read */
export function readPlan(
  gitdir: string,
): { readonly plan: PurgePlan; readonly ids: ReadonlyMap<ObjectId, ObjectKind> } | null {
  const folder = folderOf(gitdir);
  const text = orAbsent(() => readFileSync(join(folder, "plan.json"), "utf8"));
  if (text === null) return null;
  const plan = PurgePlan.parse(jsonOrNull(text));
  const ids = new Map<ObjectId, ObjectKind>();
  for (const line of readFileSync(join(folder, "ids"), "latin1").split("\n")) {
    const [, kind, id] = /^(blob|tree|commit|tag) ([0-9a-f]{40})$/.exec(line) ?? [];
    // The pattern has the four kinds and no other.
    if (id !== undefined) ids.set(id, kind as ObjectKind);
  }
  return { plan, ids };
}

/** Whether a purge was cut short. @cost one look at the disk */
export const isPurgeOpen = (gitdir: string): boolean => existsSync(join(folderOf(gitdir), "plan.json"));

export function dropPlan(gitdir: string): void {
  rmSync(folderOf(gitdir), { recursive: true, force: true });
}
