/**
 * Ids of what was purged here, in `<gitdir>/notesd/purged`: commits of the old history, file contents and tags. Whoever
 * brings one of them back is refused. Invariant: an id that is in the list is never taken out.
 */
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { orAbsent, writeDurably } from "../../lib/durable-file.ts";
import type { ObjectId } from "../objects/object-id.ts";
import type { ObjectKind } from "./rewriting.ts";

const fileOf = (gitdir: string) => join(gitdir, "notesd", "purged");
const NONE: ReadonlySet<ObjectId> = new Set();
const LINE = /^(?:commit|blob|tag) ([0-9a-f]{40})$/;

let held: { readonly key: string; readonly ids: ReadonlySet<ObjectId> } | null = null;

/** @cost one stat; a read when the file is another one than last time */
export function purgedIds(gitdir: string): ReadonlySet<ObjectId> {
  const file = fileOf(gitdir);
  const stat = orAbsent(() => statSync(file, { bigint: true }));
  if (stat === null) return NONE;
  const key = `${file} ${stat.ino} ${stat.size} ${stat.mtimeNs}`;
  if (held?.key !== key)
    held = { key, ids: new Set(linesOf(file).flatMap((line) => LINE.exec(line)?.[1] ?? [])) };
  return held.ids;
}

/** Remember, durably. Trees are left out: no history holds one without a commit or content that is named. */
export async function rememberPurged(gitdir: string, ids: ReadonlyMap<ObjectId, ObjectKind>): Promise<void> {
  const file = fileOf(gitdir);
  const lines = new Set(linesOf(file).filter((line) => LINE.test(line)));
  for (const [id, kind] of ids) if (kind !== "tree") lines.add(`${kind} ${id}`);
  await writeDurably(file, [...lines].map((line) => `${line}\n`).join(""), { mode: 0o600 });
}

const linesOf = (file: string) => (orAbsent(() => readFileSync(file, "latin1")) ?? "").split("\n");
