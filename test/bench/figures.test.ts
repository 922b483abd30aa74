/** The pure parts of the bench: what it counts, compares, draws and says. */
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

/** The bench runs without a build step, so its files are plain JavaScript. */
const part = (name: string) => import(new URL(`./${name}.mjs`, import.meta.url).href);

const figure = (msEach: number, times: Record<string, number> = {}) => ({
  label: "x",
  perSecond: 1000 / msEach,
  msEach,
  p50Ms: msEach,
  p99Ms: msEach * 2,
  samples: 3,
  times,
});
const size = (notes: number, figures: Record<string, unknown>, more = {}) => ({
  notes,
  figures,
  locks: {},
  packs: { most: 0, afterQuiet: null },
  commits: 1,
  ...more,
});

test("a percentile is a sample, the nearest rank; a median of two is between them", async () => {
  const { percentile, median } = await part("stats");
  expect(percentile([5, 1, 3, 2, 4], 0.5)).toBe(3);
  expect(percentile([5, 1, 3, 2, 4], 0.99)).toBe(5);
  expect(percentile([7], 0)).toBe(7);
  expect(percentile([], 0.5)).toBeNaN();
  expect(median([4, 1])).toBe(2.5);
  expect(median([9, 1, 5])).toBe(5);
});

test("growth is the slope of the line through the second half of the samples", async () => {
  const { slope } = await part("stats");
  const { growth } = await part("growth");
  expect(
    slope([
      [0, 1],
      [10, 21],
      [20, 41],
    ]),
  ).toBeCloseTo(2);
  const steep = [0, 1, 2, 3].map((n) => ({ writes: n * 100, rss: n * 9_000, heap: 0 }));
  const thenFlat = [4, 6, 8].map((n) => ({ writes: n * 100, rss: 30_000, heap: n * 500 }));
  expect(growth([...steep, ...thenFlat], "rss")).toBeCloseTo(0);
  expect(growth([...steep, ...thenFlat], "heap")).toBeCloseTo(5);
});

test("a contestant is compared with another of the same round, and the middle ratio counts", async () => {
  const { figures } = await part("parts/rounds");
  const contestants = [
    { id: "slow", label: "slow", against: [] },
    { id: "fast", label: "fast", against: ["slow", "absent"] },
  ];
  // The machine was busy in the second round, for both.
  const samples = new Map<string, unknown>([
    ["slow", [100, 1_000, 100].map((ms) => ({ ms, latencies: [ms] }))],
    ["fast", [100, 1_000, 100].map((ms) => ({ ms, count: 4 }))],
  ]);
  const made = figures(contestants, samples);
  expect(made.fast.times).toEqual({ slow: 4 });
  expect(made.fast.perSecond).toBe(40);
  expect(made.fast.p50Ms).toBeNull();
  expect(made.slow.p99Ms).toBe(1_000);
});

test("an aim is met, missed or not measured, and never guessed", async () => {
  const { judge } = await part("aims");
  const one = size(
    10_000,
    { "create@1": figure(9, { native: 8.2 }) },
    { locks: { 1: { p99Ms: 3 }, 64: { p99Ms: 11 } } },
  );
  const verdicts = new Map(
    judge([one]).map((row: { figure: string; verdict: string; value: number | null }) => [row.figure, row]),
  );
  expect(verdicts.get("1 writer, 10k notes")).toMatchObject({ verdict: "met", value: 8.2 });
  expect(verdicts.get("1 writer, 10k notes, p50")).toMatchObject({ verdict: "missed", value: 9 });
  expect(verdicts.get("locks held, p99, 10k notes")).toMatchObject({ verdict: "missed", value: 11 });
  expect(verdicts.get("64 writers, 100k notes")).toMatchObject({ verdict: "not measured", value: null });
  const grown = [size(1_000, { "create@1": figure(2) }), size(100_000, { "create@1": figure(3) })];
  expect(judge(grown)).toContainEqual(
    expect.objectContaining({
      figure: "growth, 1 writer, 100k against 1k notes",
      verdict: "met",
      value: 1.5,
    }),
  );
});

test("the plot is well-formed, names every line, and places larger costs higher", async () => {
  const { costSvg } = await part("cost-plot");
  const svg: string = costSvg(
    [size(1_000, { native: figure(20) }), size(100_000, { native: figure(400), "create@64": figure(1) })],
    "2 × <CPU> & more",
  );
  expect(svg).toContain("2 × &lt;CPU&gt; &amp; more");
  expect(svg).toContain(">git add + commit</text>");
  expect(svg).toContain(">notesd, 64 writers</text>");
  expect(svg).not.toContain("isomorphic");
  expect(svg).not.toMatch(/NaN|undefined|Infinity/);
  const [, first = "", last = ""] = /<path d="M\S+ (\S+) L\S+ (\S+)"/.exec(svg) ?? [];
  expect(Number(last)).toBeLessThan(Number(first));
  const opened = svg.match(/<(svg|style|text|line|path|circle)\b/g)?.length ?? 0;
  expect((svg.match(/\/>|<\/\w+>/g) ?? []).length).toBe(opened);
  expect(() => costSvg([size(1_000, {})], "")).toThrow(/nothing was created/);
});

test("ticks enclose every value", async () => {
  const { decades, steps } = await part("plot");
  expect(decades([0.4, 30])).toEqual([0.1, 1, 10, 100]);
  expect(decades([10])).toEqual([10, 100]);
  const ticks: number[] = steps([0, 730]);
  expect(ticks[0]).toBe(0);
  expect(ticks.at(-1)).toBeGreaterThanOrEqual(730);
  expect(ticks.length).toBeLessThan(9);
});

test("the command line is read, or refused by name", async () => {
  const { readOptions } = await part("options");
  const { notes, writers, wanted } = readOptions([
    "--notes",
    "1k,5",
    "--writers",
    "64",
    "--only",
    "create,git",
  ]);
  expect(notes).toEqual([1_000, 5]);
  expect(writers).toEqual([64]);
  expect([wanted("create"), wanted("search")]).toEqual([true, false]);
  expect(() => readOptions(["--notes", "many"])).toThrow(/--notes many/);
  expect(() => readOptions(["--only", "creat"])).toThrow(/--only creat/);
});

test("a result is told in words, with a dash for what was not measured", async () => {
  const { sizeText, aimsText } = await part("table");
  const { judge } = await part("aims");
  const text: string = sizeText(size(1_000, { "create@1": figure(2, { native: 7.53 }) }));
  expect(text).toContain("7.53 × native");
  expect(text).toContain("packs: at most 0 while writing, – after 10 s of quiet");
  expect(aimsText(judge([]))).toContain("not measured");
});

test("every file of the bench says what it is for", () => {
  const folder = new URL(".", import.meta.url);
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((f) => f.endsWith(".mjs"));
  expect(files.length).toBeGreaterThan(20);
  expect(files.filter((f) => !readFileSync(new URL(f, folder), "utf8").startsWith("/**"))).toEqual([]);
});
