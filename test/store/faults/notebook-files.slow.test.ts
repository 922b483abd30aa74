/** The notebook's own files (checkpoint, heads, seen, the base table) under kills, refusals and power cuts. */
import "../../support/faults/fs-tap.ts";
import { spawnSync } from "node:child_process";
import { appendFileSync, cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bundle } from "../../support/bundle.ts";
import { type DiskModel, diskModel } from "../../support/faults/disk-model.ts";
import { faultAt, type Refusal, refusalsOf } from "../../support/faults/fault-at.ts";
import { type FsHook, tapFileSystem } from "../../support/faults/fs-tap.ts";
import { cutPower, type Disk } from "../../support/faults/power-cut.ts";
import { repositories } from "../../support/faults/repository.ts";
import { numbersTo, SEED, sampleOf } from "../../support/faults/sample.ts";
import { git } from "../../support/faults/scenarios.ts";
import { notebookProblems } from "../../support/faults/sound-notebook.ts";
import { type Answered, createSome, isStateFile, openWhole } from "../../support/faults/whole-notebook.ts";
import { wholeFrom } from "../../support/random.ts";

const OF_A_SAMPLE = 8;

const repos = repositories();
let folder = "";
let program = "";
let template = "";
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "notesd-bundle-"));
  program = await bundle(join(import.meta.dirname, "../../support/faults/notebook-child.ts"), folder);
  template = await begun();
}, 120_000);
afterAll(() => {
  repos.remove();
  rmSync(folder, { recursive: true, force: true });
}, 120_000);

/** A notebook that was used and closed once, so that each of its files exists. */
async function begun(): Promise<string> {
  const root = repos.folder();
  git(root, "init", "-q", "-b", "main", ".");
  git(root, "config", "core.trustctime", "false");
  git(root, "config", "gc.auto", "0");
  git(root, "commit", "-q", "--allow-empty", "-m", "first");
  appendFileSync(join(root, ".git/info/exclude"), "notes_index.json\n");
  const opened = await openWhole(root, 99);
  await opened.notebook.close();
  return root;
}

function copy(): string {
  const to = repos.folder();
  cpSync(template, to, { recursive: true, preserveTimestamps: true });
  return to;
}

async function expectSound(
  runs: { readonly how: object; readonly root: string; readonly answered: Answered[] }[],
) {
  const found: object[] = [];
  for (const { how, root, answered } of runs) {
    const wrong = await notebookProblems(root, answered).catch((error: unknown) => [
      error instanceof Error ? String(error.stack) : String(error),
    ]);
    if (wrong.length > 0) found.push({ ...how, root, wrong });
  }
  expect(found).toEqual([]);
}

function killedAt(root: string, nth: number, torn: boolean) {
  const child = spawnSync(process.execPath, [program, root, String(nth), torn ? "torn" : ""], {
    encoding: "utf8",
    timeout: 60_000,
  });
  expect([child.stderr, child.status === 0 || child.signal === "SIGKILL"]).toEqual(["", true]);
  const lines = child.stdout.split("\n");
  const answered = lines.flatMap((line): Answered[] => (line.startsWith("{") ? [JSON.parse(line)] : []));
  return { answered, calls: Number(/^calls (\d+)$/m.exec(child.stdout)?.[1] ?? 0) };
}

test(`a process killed while it writes them loses nothing that it answered (seed ${SEED})`, async () => {
  const { calls } = killedAt(copy(), 0, false);
  const moments = numbersTo(calls).flatMap((nth) => [false, true].map((torn) => ({ nth, torn })));
  const runs = sampleOf(moments, OF_A_SAMPLE).map((how) => {
    const root = copy();
    return { how, root, answered: killedAt(root, how.nth, how.torn).answered };
  });
  expect(calls).toBeGreaterThan(10);
  await expectSound(runs);
});

/** Use a notebook while one call on its own files is refused. */
async function refused(root: string, refusal: Refusal | null) {
  const hook = faultAt(refusal);
  const answered: Answered[] = [];
  const untap = tapFileSystem(root, {
    before: (call) => (isStateFile(call.path) ? hook.before(call) : null),
  });
  try {
    const opened = await openWhole(root, 1);
    await createSome(opened, (one) => answered.push(one)).catch(() => {});
    await opened.notebook.close().catch(() => {});
  } catch {
    // Trigger: it could not be opened. Why: the disk refused. Outcome: the next start must.
  } finally {
    untap();
  }
  return { answered, calls: hook.calls };
}

test(`a disk that refuses one of their calls costs nothing that was answered (seed ${SEED})`, async () => {
  const { calls } = await refused(copy(), null);
  const runs = [];
  const all = calls.flatMap((call, n) => refusalsOf(call, n + 1));
  for (const how of sampleOf(all, OF_A_SAMPLE)) {
    const root = copy();
    const { answered, calls: seen } = await refused(root, how);
    const call = seen[how.nth - 1];
    runs.push({ how: { ...how, op: call?.op, path: call?.path.slice(root.length) }, root, answered });
  }
  await expectSound(runs);
});

test(`a power cut at one of their renames, after an answer or at the end loses nothing that was answered (seed ${SEED})`, async () => {
  const root = copy();
  const model = diskModel(root);
  const whole = wholeFrom(SEED);
  const answered: Answered[] = [];
  const images: { how: object; root: string; answered: Answered[] }[] = [];
  const cut = (when: string) => {
    for (const disk of ["strict", "ordered", "mixed"] satisfies Disk[]) {
      const to = join(repos.folder(), "repository");
      cutPower(model, to, disk, whole);
      images.push({ how: { when, disk }, root: to, answered: [...answered] });
    }
  };
  const untap = tapFileSystem(root, cuttingAtStateRenames(model, cut));
  const opened = await openWhole(root, 1);
  await createSome(opened, (one) => {
    answered.push(one);
    cut(`after ${one.key}`);
  });
  await opened.notebook.close();
  cut("at the end");
  untap();
  await expectSound(sampleOf(images, OF_A_SAMPLE * 2));
});

function cuttingAtStateRenames(model: DiskModel, cut: (when: string) => void): FsHook {
  return {
    before(call) {
      if (call.op === "rename" && isStateFile(call.path)) cut(`before ${call.to} is written`);
      return model.before(call);
    },
    after(call) {
      model.after(call);
      if (call.op === "rename" && isStateFile(call.path)) cut(`after ${call.to} is written`);
    },
  };
}
