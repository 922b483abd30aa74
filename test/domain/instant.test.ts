import { expect, test } from "vitest";
import { parseInstant } from "../../src/domain/instant.ts";

test("a time without offset is UTC, and every way of writing it is one instant", () => {
  const at = "2026-11-30T10:15:00.000Z";
  for (const text of [
    "2026-11-30T10:15:00Z",
    "2026-11-30 10:15",
    "2026-11-30T10:15:00.000",
    "2026-11-30T12:15:00+02:00",
    "2026-11-30 05:15:00 -05",
    "2026-11-30t11:15:00+0100",
    " 2026-11-30 10:15:00 UTC ",
  ]) {
    expect(parseInstant(text)).toBe(at);
  }
  expect(parseInstant("2024-01-01")).toBe("2024-01-01T00:00:00.000Z");
  expect(parseInstant("2024-1-1 0:00:00,123456")).toBe("2024-01-01T00:00:00.123Z");
});

test("what is no instant is null", () => {
  for (const text of [
    "",
    "yesterday",
    "2024-13-01",
    "2023-02-29",
    "2024-01-01T25:00",
    "12:30",
    "20240101",
    "2024-01-01T10:00:61Z",
    "0001-01-01",
  ]) {
    expect(parseInstant(text)).toBeNull();
  }
});

test("of our own form those are instants that a calendar has", () => {
  const two = (n: number) => String(n).padStart(2, "0");
  for (const year of [99, 100, 1900, 2000, 2023, 2024, 9999]) {
    for (let month = 0; month <= 13; month++) {
      for (const day of [0, 1, 28, 29, 30, 31, 32]) {
        for (const time of ["00:00:00", "23:59:59", "24:00:00", "12:60:00", "12:00:60"]) {
          const text = `${String(year).padStart(4, "0")}-${two(month)}-${two(day)}T${time}.007Z`;
          const ms = Date.parse(text);
          const isReal = year >= 100 && !Number.isNaN(ms) && new Date(ms).toISOString() === text;
          expect([text, parseInstant(text)]).toEqual([text, isReal ? text : null]);
        }
      }
    }
  }
});
