import { existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { clearAbandonedPushes } from "../../../src/store/recovery/abandoned-pushes.ts";

const NOW_MS = Date.UTC(2026, 10, 30);
const HOUR_MS = 3_600_000;
let gitdir: string;
beforeEach(() => {
  gitdir = mkdtempSync(join(tmpdir(), "notesd-abandoned-"));
});
afterEach(() => rmSync(gitdir, { recursive: true, force: true }));

/** A folder with a pack that was begun in it. @param hoursAgo when folder and pack were written to last */
function left(name: string, hoursAgo: number, packHoursAgo = hoursAgo): string {
  const folder = join(gitdir, "objects", name);
  mkdirSync(join(folder, "pack"), { recursive: true });
  const pack = join(folder, "pack", "tmp_pack_abcdef");
  writeFileSync(pack, "PACK");
  for (const [path, hours] of [
    [pack, packHoursAgo],
    [join(folder, "pack"), hoursAgo],
    [folder, hoursAgo],
  ] as const) {
    const at = new Date(NOW_MS - hours * HOUR_MS);
    utimesSync(path, at, at);
  }
  return folder;
}

test("what a killed push left a day ago goes, with the names of both Gits, and nothing else of objects", () => {
  const gone = [left("tmp_objdir-incoming-aB3xyz", 25), left("incoming-aB3xyz", 25)];
  const stay = [
    left("tmp_objdir-incoming-fresh1", 23),
    left("tmp_objdir-incoming-busy22", 25, 1),
    left("pack", 99),
    left("ab", 99),
    left("tmp_objdir-bulk-fsync-abc", 99),
  ];
  expect(clearAbandonedPushes(gitdir, NOW_MS)).toBe(2);
  expect(gone.filter(existsSync)).toEqual([]);
  expect(stay.filter(existsSync)).toEqual(stay);
  expect(clearAbandonedPushes(gitdir, NOW_MS)).toBe(0);
});

test("a repository without objects has none", () => {
  expect(clearAbandonedPushes(gitdir, NOW_MS)).toBe(0);
});
