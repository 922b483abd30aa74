import { createHash } from "node:crypto";
import { readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openIdx } from "../../../src/store/objects/find-in-idx.ts";
import { hashObject } from "../../../src/store/objects/object-id.ts";
import { packBuilder } from "../../../src/store/objects/pack-bytes.ts";
import { temporaryFolder } from "../../support/git-repo.ts";

/** An idx of so many small blobs, as our writer makes it: several pages long. */
function idxOf(count: number): { readonly file: string; readonly ids: readonly string[] } {
  const builder = packBuilder();
  const ids = Array.from({ length: count }, (_, n) => {
    const bytes = Buffer.from(`blob ${n}\n`);
    const id = hashObject("blob", bytes);
    builder.add("blob", id, bytes);
    return id;
  });
  const file = join(temporaryFolder(), "pack.idx");
  writeFileSync(file, builder.finish().idx);
  return { file, ids };
}

const bytesOf = (id: string) => Buffer.from(id, "hex");

test("held or left on disk, an idx finds the same objects at the same offsets, and none that it doesn't hold", () => {
  const { file, ids } = idxOf(5_000);
  const held = openIdx(file, Number.POSITIVE_INFINITY);
  const paged = openIdx(file, 0);
  const sorted = [...ids].sort();
  expect([held.count, paged.count]).toEqual([5_000, 5_000]);
  for (const id of ids) {
    const index = paged.find(bytesOf(id));
    expect(sorted[index]).toBe(id);
    expect(paged.id(index)).toBe(id);
    expect([held.find(bytesOf(id)), held.offset(index)]).toEqual([index, paged.offset(index)]);
  }
  for (let n = 0; n < 1_000; n++) {
    const absent = createHash("sha1").update(`absent ${n}`).digest();
    expect([held.find(absent), paged.find(absent)]).toEqual([-1, -1]);
    expect(paged.lowerBound(absent.readUInt32BE(0))).toBe(held.lowerBound(absent.readUInt32BE(0)));
  }
  for (const end of [0, 0xffffffff]) expect(paged.lowerBound(end)).toBe(held.lowerBound(end));
  paged.close();
  held.close();
});

test("one that is left on disk and cut short meanwhile is told, and found no wrong object in", () => {
  const { file, ids } = idxOf(5_000);
  const paged = openIdx(file, 0);
  const last = [...ids].sort().at(-1) ?? "";
  truncateSync(file, 20_000);
  expect(() => paged.find(bytesOf(last))).toThrow(/cut short/);
  paged.close();
});

test("what is no idx of version 2, or ends too early, is not opened", () => {
  const { file } = idxOf(10);
  const whole = readFileSync(file);
  for (const [bytes, why] of [
    [whole.subarray(0, 500), /version 2/],
    [whole.subarray(0, whole.length - 30), /cut short/],
    [Buffer.alloc(2_000), /version 2/],
  ] as const) {
    writeFileSync(file, bytes);
    for (const held of [0, Number.POSITIVE_INFINITY]) expect(() => openIdx(file, held)).toThrow(why);
  }
});
