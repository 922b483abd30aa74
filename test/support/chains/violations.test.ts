/** The checker finds what is planted, and nothing in a history that may be. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { randomFrom } from "../random.ts";
import { type Operation, type Outcome, type Step, violations } from "./violations.ts";

const NOTE = "n";
let time = 0;

function operation(id: string, outcome: Outcome, more: Partial<Operation> = {}): Operation {
  const invoked = ++time;
  const answered = ++time;
  return {
    id,
    note: NOTE,
    kind: "write",
    ifRevision: null,
    merges: false,
    invoked,
    answered,
    outcome,
    ...more,
  };
}
const ok = (revision: string | null, commit: string | null = `c-${revision}`): Outcome => ({
  kind: "ok",
  revision,
  commit,
});
const refused = (revision: string): Outcome => ({
  kind: "refused",
  code: "CONFLICT",
  revision,
  commit: null,
});
const UNKNOWN: Outcome = { kind: "unknown" };
const step = (operation: string | null, before: string | null, after: string | null): Step => ({
  note: NOTE,
  commit: `c-${after}`,
  operation,
  before,
  after,
});

const BORN = step(null, null, "r0");
const on = (ifRevision: string) => ({ ifRevision });

describe("a history that may be", () => {
  test("acknowledged, refused, unknown and done, unknown and not done, merged, read, deleted and back", () => {
    const operations = [
      operation("a", ok("r1"), on("r0")),
      operation("b", refused("r1"), on("r0")),
      operation("c", UNKNOWN, { ...on("r1"), answered: Number.POSITIVE_INFINITY }),
      operation("d", UNKNOWN, { ...on("r1"), answered: Number.POSITIVE_INFINITY }),
      operation("e", ok("r2", null), { kind: "read" }),
      operation("f", ok("r3"), { ...on("r0"), merges: true }),
      operation("g", ok(null, "c-null"), on("r3")),
      operation("h", { kind: "refused", code: "NOT_FOUND", revision: null, commit: "c-null" }, on("r3")),
      operation("i", ok("r4")),
    ];
    const steps = [
      BORN,
      step("a", "r0", "r1"),
      step("c", "r1", "r2"),
      step("f", "r2", "r3"),
      step("g", "r3", null),
      step("i", null, "r4"),
    ];
    expect(violations(operations, steps)).toEqual([]);
  });

  test("two at the same time may see each other or not", () => {
    const write = operation("a", ok("r1"), { invoked: 1, answered: 10 });
    const early = operation("b", ok("r0", null), { kind: "read", invoked: 2, answered: 3 });
    const late = operation("c", ok("r1", null), { kind: "read", invoked: 4, answered: 5 });
    expect(violations([write, early, late], [BORN, step("a", "r0", "r1")])).toEqual([]);
  });
});

test("a request that changed nothing has a commit of its own, and the note stays as it was", () => {
  const same: Step = { note: NOTE, commit: "c-same", operation: "b", before: "r1", after: "r1" };
  const operations = [
    operation("a", ok("r1")),
    operation("b", ok("r1", "c-same")),
    operation("c", ok("r1", null), { kind: "read" }),
    operation("d", ok("r2"), on("r1")),
  ];
  expect(violations(operations, [BORN, step("a", "r0", "r1"), same, step("d", "r1", "r2")])).toEqual([]);
});

describe("what is planted is found:", () => {
  const found = (operations: Operation[], steps: Step[]) => violations(operations, steps).join("\n");

  test("an update that was lost", () => {
    const operations = [operation("a", ok("r1"), on("r0")), operation("b", ok("r2"), on("r0"))];
    expect(found(operations, [BORN, step("b", "r0", "r2")])).toMatch(/a was acknowledged and is not there/);
  });

  test("a fork, from the answers alone and in the history", () => {
    const operations = [operation("a", ok("r1"), on("r0")), operation("b", ok("r2"), on("r0"))];
    expect(found(operations, [])).toMatch(/a fork: a and b both followed n r0/);
    expect(found(operations, [BORN, step("a", "r0", "r1"), step("b", "r0", "r2")])).toMatch(/n is no chain/);
  });

  test("a stale write that succeeded, also one that nobody was told of", () => {
    for (const outcome of [ok("r2"), UNKNOWN]) {
      const operations = [operation("a", ok("r1"), on("r0")), operation("b", outcome, on("r0"))];
      const steps = [BORN, step("a", "r0", "r1"), step("b", "r1", "r2")];
      expect(found(operations, steps)).toMatch(/b was made on r0, and c-r2 put it on r1: a stale write/);
    }
  });

  test("a write that took effect twice", () => {
    const operations = [operation("a", ok("r1"))];
    const steps = [BORN, step("a", "r0", "r1"), step("a", "r1", "r2")];
    expect(found(operations, steps)).toMatch(/a took effect 2 times: c-r1, c-r2/);
  });

  test("a write that was refused and took effect", () => {
    const operations = [operation("a", refused("r0"), on("r9"))];
    expect(found(operations, [BORN, step("a", "r0", "r1")])).toMatch(
      /a was refused with CONFLICT, and c-r1 did it/,
    );
  });

  test("a write that nobody asked for, and one of another note", () => {
    expect(found([], [BORN, step("ghost", "r0", "r1")])).toMatch(/c-r1 is of ghost, which nobody asked for/);
    const elsewhere = operation("a", ok("r1"), { note: "m" });
    expect(found([elsewhere], [BORN, step("a", "r0", "r1")])).toMatch(/a was of m and changed n/);
  });

  test("an answer with another write's commit or revision", () => {
    const other = operation("a", ok("r1", "c-r0"));
    expect(found([other], [BORN, step("a", "r0", "r1")])).toMatch(/a was told c-r0, and c-r1 did it/);
    const wrong = operation("a", ok("r7", "c-r1"));
    expect(found([wrong], [BORN, step("a", "r0", "r1")])).toMatch(/a was told revision r7, and c-r1 made r1/);
  });

  test("a read that goes back behind an answer, and a refusal that does", () => {
    for (const late of [ok("r0", null), refused("r0")]) {
      const kind = late.kind === "ok" ? ("read" as const) : ("write" as const);
      const operations = [operation("a", ok("r1"), on("r0")), operation("b", late, { kind })];
      expect(found(operations, [BORN, step("a", "r0", "r1")])).toMatch(/b was asked after a was answered/);
    }
  });

  test("a write that is put before one that was answered earlier", () => {
    const operations = [operation("a", ok("r2")), operation("b", ok("r1"))];
    const steps = [BORN, step("b", "r0", "r1"), step("a", "r1", "r2")];
    expect(found(operations, steps)).toMatch(/b was asked after a was answered, and tells of before it/);
  });

  test("a read of what was never there, and of what was not asked for yet", () => {
    expect(found([operation("a", ok("r9", null), { kind: "read" })], [BORN])).toMatch(/r9, which never was/);
    const read = operation("a", ok("r1", null), { kind: "read" });
    const later = operation("b", ok("r1"));
    expect(found([read, later], [BORN, step("b", "r0", "r1")])).toMatch(/before that was asked for/);
  });

  test("a merge with what came after it", () => {
    const operations = [operation("a", ok("r1"), { ...on("r2"), merges: true }), operation("b", ok("r2"))];
    const steps = [BORN, step("a", "r0", "r1"), step("b", "r1", "r2")];
    expect(found(operations, steps)).toMatch(/a was merged with r2, which did not come before it/);
  });
});

test("of whatever history may be nothing is found, and each of its steps that is taken out is missed", () => {
  const histories = fc.record({ seed: fc.nat(), length: fc.integer({ min: 1, max: 30 }) });
  fc.assert(
    fc.property(histories, ({ seed, length }) => {
      const random = randomFrom(seed);
      const operations: Operation[] = [];
      const steps: Step[] = [BORN];
      for (let i = 0; i < length; i++) {
        const now = steps.at(-1)?.after ?? "r0";
        const stale = steps[Math.floor(random() * steps.length)]?.after ?? "r0";
        const ifRevision = random() < 0.3 ? null : random() < 0.5 ? now : stale;
        const done = ifRevision === null || ifRevision === now;
        const isKnown = random() < 0.8;
        if (done) steps.push(step(`o${i}`, now, `r${i + 1}`));
        const outcome = !isKnown ? UNKNOWN : done ? ok(`r${i + 1}`) : refused(now);
        operations.push(
          operation(`o${i}`, outcome, { ifRevision, ...(isKnown ? {} : { answered: Infinity }) }),
        );
      }
      expect(violations(operations, steps)).toEqual([]);
      for (const lost of steps.slice(1)) {
        const told = operations.some(({ id, outcome }) => id === lost.operation && outcome.kind === "ok");
        const isLast = lost === steps.at(-1);
        const left = violations(
          operations,
          steps.filter((one) => one !== lost),
        );
        if (told || !isLast) expect(left).not.toEqual([]);
      }
    }),
    { numRuns: 200, seed: 7 },
  );
});
