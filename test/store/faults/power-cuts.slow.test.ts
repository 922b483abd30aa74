/** The power goes at each rename, after each answer and at the end: what was not synced is gone. */
import "../../support/faults/fs-tap.ts";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { type DiskModel, diskModel } from "../../support/faults/disk-model.ts";
import { type FsHook, tapFileSystem } from "../../support/faults/fs-tap.ts";
import { cutPower, type Disk } from "../../support/faults/power-cut.ts";
import { copyOf, prepare, repositories, type Template } from "../../support/faults/repository.ts";
import { ALL_FAULTS, numbersTo, SEED, sampleOf } from "../../support/faults/sample.ts";
import { act, openFor, SCENARIOS } from "../../support/faults/scenarios.ts";
import { problemsAfter, writeOn } from "../../support/faults/sound.ts";
import { settled } from "../../support/faults/told.ts";
import { wholeFrom } from "../../support/random.ts";

const CUTS_OF_A_SAMPLE = 6;
/** Another mixture each. */
const MIXTURES = ALL_FAULTS ? 6 : 1;
/** One in so many renames is looked at in a sample. */
const RENAMES = ALL_FAULTS ? 1 : 4;

const repos = repositories();
afterAll(() => repos.remove(), 300_000);

interface Image {
  readonly root: string;
  /** What was happening. */
  readonly when: string;
  readonly disk: Disk;
  readonly answered: readonly string[];
}

/** Do a scenario and keep what a power cut would leave at each moment that counts. */
async function imagesOf({ scenario }: Template, root: string): Promise<Image[]> {
  const model = diskModel(root);
  const images: Image[] = [];
  let answered: string[] = [];
  const whole = wholeFrom(SEED);
  const cut = (when: string) => {
    const disks: Disk[] = ["strict", "ordered", ...numbersTo(MIXTURES).map((): Disk => "mixed")];
    for (const disk of disks) {
      const to = join(repos.folder(), "repository");
      cutPower(model, to, disk, whole);
      images.push({ root: to, when, disk, answered });
    }
  };
  const chosen = wholeFrom(SEED + 1);
  const sometimes = (when: string) => {
    if (chosen(RENAMES) === 0) cut(when);
  };
  const untap = tapFileSystem(root, cuttingAtRenames(model, root, sometimes));
  const onStep = scenario.onStep?.(root);
  try {
    const store = await openFor(scenario, root, {
      onStep: (step) => {
        onStep?.(step);
        if (step === "packed") model.learn();
      },
    });
    const publication = await act(scenario, store, root);
    answered = (publication?.outcomes ?? []).flatMap((outcome) =>
      outcome.kind === "committed" ? [outcome.events.commit.id] : [],
    );
    cut("when the answer is there");
    await settled(root);
    cut("when all is settled");
    // Another write makes durable what was noted of the one before.
    await writeOn(store);
    await settled(root);
    cut("after another write");
    await store.close();
    cut("when the store is closed");
  } finally {
    untap();
  }
  return images;
}

function cuttingAtRenames(model: DiskModel, root: string, cut: (when: string) => void): FsHook {
  const name = (path: string) => path.slice(root.length + 1).replace(/[0-9a-f]{12,40}/g, "…");
  return {
    before(call) {
      if (call.op === "rename") cut(`before ${name(call.path)} is renamed`);
      return model.before(call);
    },
    after(call) {
      model.after(call);
      if (call.op === "rename") cut(`after ${name(call.path)} was renamed`);
    },
  };
}

describe(`the power goes (seed ${SEED}) while`, () => {
  test.each(SCENARIOS.map((one) => [one.name, one] as const))("%s", async (_, scenario) => {
    const template = await prepare(scenario, repos.folder());
    const images = await imagesOf(template, copyOf(template, repos.folder()));
    const found: object[] = [];
    for (const { root, when, disk, answered } of sampleOf(images, CUTS_OF_A_SAMPLE)) {
      const wrong = await problemsAfter({ ...template, root, answered }).catch((error: unknown) => [
        error instanceof Error ? String(error.stack) : String(error),
      ]);
      if (wrong.length > 0) found.push({ when, disk, root, wrong });
      else rmSync(root, { recursive: true });
    }
    expect(found).toEqual([]);
  });
});
