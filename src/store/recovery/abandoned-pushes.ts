/**
 * What a `git receive-pack` that was killed left in `objects`: the folder in which it kept a push from the repository
 * until its hooks had judged it. `git gc` takes them after two weeks, but nothing here ever starts one.
 * Invariant: none that a push may still need goes. It writes there for as long as objects come; then only hooks
 * run, ours for minutes. So what nobody has written to for a day is nobody's. A push that comes back even then is
 * refused by Git for want of its objects, and loses nothing.
 */
import { lstatSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { errnoOf, orAbsent } from "../../lib/durable-file.ts";

const DAY_MS = 86_400_000;
/** Before Git 2.35 without `tmp_objdir-`. */
const QUARANTINE = /^(?:tmp_objdir-)?incoming-[A-Za-z0-9]{6}$/;

/** @returns how many folders went @cost a listing of `objects` */
export function clearAbandonedPushes(gitdir: string, nowMs: number): number {
  const objects = join(gitdir, "objects");
  const names = (orAbsent(() => readdirSync(objects)) ?? []).filter((name) => QUARANTINE.test(name));
  return names.filter((name) => clear(join(objects, name), nowMs)).length;
}

function clear(folder: string, nowMs: number): boolean {
  try {
    if (nowMs - writtenMs(folder) <= DAY_MS) return false;
    rmSync(folder, { recursive: true, force: true });
    return true;
  } catch (error) {
    // Of a push that came as another user: theirs to clear, and in nobody's way.
    if (["EACCES", "EPERM"].includes(errnoOf(error) ?? "")) return false;
    throw error;
  }
}

/** When something at or below a path was written last. What just vanished is in use. */
function writtenMs(path: string): number {
  const found = orAbsent(() => lstatSync(path));
  if (found === null) return Number.POSITIVE_INFINITY;
  const below = found.isDirectory() ? (orAbsent(() => readdirSync(path)) ?? []) : [];
  return Math.max(found.mtimeMs, ...below.map((name) => writtenMs(join(path, name))));
}
