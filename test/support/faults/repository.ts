/** Repositories for scenarios: made once, copied for each fault. */
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { committed, draft } from "../drafts.ts";
import { git, openFor, type Scenario, STANDING } from "./scenarios.ts";

export interface Template {
  readonly scenario: Scenario;
  readonly root: string;
  /** The branch before the scenario's group; null: unborn. */
  readonly base: string | null;
}

/** All repositories of a test file, removed at once. */
export function repositories(): { folder(): string; remove(): void } {
  const home = mkdtempSync(join(tmpdir(), "notesd-faults-"));
  let count = 0;
  return {
    folder() {
      const folder = join(home, String(++count));
      mkdirSync(folder);
      return folder;
    },
    remove: () => rmSync(home, { recursive: true, force: true }),
  };
}

/** A repository that stands where the scenario begins. */
export async function prepare(scenario: Scenario, root: string): Promise<Template> {
  git(root, "init", "-q", "-b", "main", ".");
  for (const [key, value] of [
    ["core.trustctime", "false"],
    ["core.fsync", "none"],
    ["gc.auto", "0"],
  ] as const)
    git(root, "config", key, value);
  const { onStep: _, ...still } = scenario;
  const store = await openFor(still, root);
  if (scenario.unborn !== true) {
    const { outcomes } = await store.commit(
      Object.entries(STANDING).map(([path, text]) => draft(path, text)),
    );
    for (const outcome of outcomes) committed(outcome);
  }
  await store.close();
  await scenario.before?.(root);
  const base = scenario.unborn === true ? null : git(root, "rev-parse", "main");
  return { scenario, root, base };
}

/** A copy to break. */
export function copyOf({ root }: Template, to: string): string {
  cpSync(root, to, { recursive: true, preserveTimestamps: true });
  return to;
}
