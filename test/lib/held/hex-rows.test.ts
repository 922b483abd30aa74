import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { HexTable } from "../../../src/lib/held/hex-rows.ts";

const id = (n: number) => createHash("sha1").update(`${n}`).digest("hex");

test("ids come back by row and are found again, others are not", () => {
  const table = new HexTable();
  for (let n = 0; n < 5_000; n++) expect(table.push(id(n))).toBe(n);
  const again = new HexTable();
  for (const [i, rows] of table.rows.entries()) again.rows[i]?.append(rows.bytes(0, rows.length));
  again.restored();
  for (const held of [table, again]) {
    for (let n = 0; n < 5_000; n++) {
      expect(held.at(n)).toBe(id(n));
      expect(held.find(id(n))).toBe(n);
    }
    expect(
      [id(5_000), "", "xyz", "0".repeat(39), `${id(1).slice(1)}x`].map((text) => held.find(text)),
    ).toEqual(Array(5).fill(-1));
  }
});
