/** The disk refuses one call of an operation: the caller is told, nothing is half done, and the store goes on. */
import "../../support/faults/fs-tap.ts";
import { rmSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import { NotesError } from "../../../src/domain/errors.ts";
import { type Counting, faultAt, type Refusal, refusalsOf } from "../../support/faults/fault-at.ts";
import { tapFileSystem } from "../../support/faults/fs-tap.ts";
import { copyOf, prepare, repositories, type Template } from "../../support/faults/repository.ts";
import { SEED, sampleOf } from "../../support/faults/sample.ts";
import { act, openFor, SCENARIOS } from "../../support/faults/scenarios.ts";
import { goOn, problemsAfter } from "../../support/faults/sound.ts";
import { settled, whyNotTold } from "../../support/faults/told.ts";

const REFUSALS_OF_A_SAMPLE = 8;
const OPENINGS_OF_A_SAMPLE = 8;

const repos = repositories();
afterAll(() => repos.remove(), 300_000);

interface Tried {
  readonly hook: Counting;
  readonly answered: string[];
  readonly wrong: string[];
}

/** Do a scenario while one call is refused, and write on with the same store. */
async function tryActing(
  { scenario, base }: Template,
  root: string,
  refusal: Refusal | null,
): Promise<Tried> {
  const hook = faultAt(refusal);
  const wrong: string[] = [];
  let answered: string[] = [];
  const store = await openFor(scenario, root, { warn: () => {} });
  const untap = tapFileSystem(root, hook);
  try {
    const publication = await act(scenario, store, root);
    answered = (publication?.outcomes ?? []).flatMap((outcome) =>
      outcome.kind === "committed" ? [outcome.events.commit.id] : [],
    );
    await settled(root);
  } catch (error) {
    wrong.push(...whyNotTold(error));
  } finally {
    untap();
  }
  try {
    const after = { scenario, root, base, answered };
    wrong.push(...(await goOn(store, after, answered.length < scenario.commits)));
  } catch (error) {
    wrong.push(`the store does not go on: ${error}`);
  }
  await store.close();
  return { hook, answered, wrong };
}

async function tryOpening({ scenario }: Template, root: string, refusal: Refusal | null): Promise<Tried> {
  const hook = faultAt(refusal);
  const wrong: string[] = [];
  const untap = tapFileSystem(root, hook);
  try {
    const store = await openFor(scenario, root, { warn: () => {} });
    await store.close();
  } catch (error) {
    wrong.push(...whyNotTold(error));
  } finally {
    untap();
  }
  return { hook, answered: [], wrong };
}

async function everyRefusal(template: Template, doing: typeof tryActing, most: number): Promise<object[]> {
  const { scenario, base } = template;
  const whole = copyOf(template, repos.folder());
  const { hook, wrong } = await doing(template, whole, null);
  expect(wrong).toEqual([]);
  const all = hook.calls.flatMap((call, n) => refusalsOf(call, n + 1));
  const found: object[] = [];
  for (const refusal of sampleOf(all, most)) {
    const root = copyOf(template, repos.folder());
    const tried = await doing(template, root, refusal);
    const call = tried.hook.calls[refusal.nth - 1];
    const after = await problemsAfter({ scenario, root, base, answered: tried.answered }).catch(
      (error: unknown) => [error instanceof NotesError ? `${error.code} ${error.message}` : String(error)],
    );
    const problems = [...tried.wrong, ...after];
    if (problems.length > 0)
      found.push({ ...refusal, op: call?.op, path: call?.path.slice(root.length), problems });
    else rmSync(root, { recursive: true });
  }
  return found;
}

describe(`the disk refuses a call (seed ${SEED}) while`, () => {
  test.each(SCENARIOS.map((one) => [one.name, one] as const))("%s", async (_, scenario) => {
    const template = await prepare(scenario, repos.folder());
    expect(await everyRefusal(template, tryActing, REFUSALS_OF_A_SAMPLE)).toEqual([]);
  });
});

describe(`the disk refuses a call (seed ${SEED}) while the store opens, where`, () => {
  test.each(SCENARIOS.slice(0, 1).map((one) => [one.name, one] as const))("%s", async (_, scenario) => {
    const template = await prepare(scenario, repos.folder());
    expect(await everyRefusal(template, tryOpening, OPENINGS_OF_A_SAMPLE)).toEqual([]);
  });
});
