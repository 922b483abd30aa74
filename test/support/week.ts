/**
 * A repository in which three agents and two people worked for a week: 400 writes with their reasons, through the
 * real notebook on a real Git repository, hand edits and a commit by hand among them. Time, ids and the proof key are
 * given, so that every commit has the same id wherever it runs.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { invoke } from "../../src/actions/invoke.ts";
import { registry } from "../../src/actions/registry.ts";
import { agentIdOf } from "../../src/domain/identity.ts";
import { NOTE_TYPES } from "../../src/domain/note.ts";
import type { Principal } from "../../src/domain/principal.ts";
import { createNoteIndex } from "../../src/index/create.ts";
import { type Clock, systemClock } from "../../src/lib/clock.ts";
import { type OpenedNotebook, openNotebook } from "../../src/notebook/open.ts";
import { type GitStore, openGitStore } from "../../src/store/git-store.ts";
import { contextOf } from "./call.ts";
import { GIT_ENV } from "./git-env.ts";
import { type GitRepo, repoAt } from "./git-repo.ts";
import { wholeFrom } from "./random.ts";
import { type Act, AGENTS, BEFORE, STORY, type Who, WORK } from "./week-story.ts";

const MONDAY_MS = Date.UTC(2026, 10, 23);
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Writes of the week itself. */
export const WRITES = 400;
/** When the week is over and somebody reads what happened. */
export const NEXT_MONDAY_MS = MONDAY_MS + 7 * DAY_MS + 8 * HOUR_MS;

export const PAT: Principal = { kind: "person", name: "Pat", email: "pat@example.org" };
const ADA: Principal = { kind: "person", name: "Ada", email: "ada@example.org" };
const agent = (name: string): Principal => ({
  kind: "agent",
  name,
  agentId: agentIdOf(name),
  readOnly: false,
  mcp: false,
});
const PRINCIPALS: Readonly<Record<Who, Principal>> = {
  planner: agent("planner"),
  coder: agent("coder"),
  tester: agent("tester"),
  Pat: PAT,
  Ada: ADA,
};

export interface Week {
  readonly repo: GitRepo;
  readonly store: GitStore;
  readonly opened: OpenedNotebook;
  readonly clock: Clock;
  /** Note ids by their names in the story. */
  readonly ids: ReadonlyMap<string, string>;
  close(): Promise<void>;
}

/** Play the week. @cost some 5 s */
export async function playWeek(): Promise<Week> {
  const root = mkdtempSync(join(tmpdir(), "notesd-week-"));
  const repo = repoAt(root);
  repo.git("init", "-q", "-b", "main", ".");
  for (const [key, value] of [
    ["core.trustctime", "false"],
    ["gc.auto", "0"],
  ] as const)
    repo.git("config", key, value);
  let nowMs = MONDAY_MS - 4 * DAY_MS;
  // Time stands where the story is; what waits, waits for real.
  const clock: Clock = { now: () => nowMs, after: systemClock.after };
  const { store, opened } = await openWeek(repo, clock);
  const player = new Player(repo, opened, () => nowMs);

  const play = async (acts: readonly Act[]) => {
    for (const one of [...acts].sort((a, b) => a.day - b.day || a.hour - b.hour)) {
      // Never back, and never twice the same second.
      nowMs = Math.max(nowMs + 1000, MONDAY_MS + one.day * DAY_MS + one.hour * HOUR_MS);
      await player.play(one);
    }
  };
  await play(BEFORE);
  nowMs = MONDAY_MS + 8 * HOUR_MS;
  await player.call("Pat", "notes.review", { mark: true });
  await play([...STORY, ...dailyWork(WRITES - STORY.length)]);
  nowMs = NEXT_MONDAY_MS;
  return {
    repo,
    store,
    opened,
    clock,
    ids: player.ids,
    async close() {
      await opened.notebook.close();
      rmSync(root, { recursive: true, force: true });
    },
  };
}

async function openWeek(repo: GitRepo, clock: Clock): Promise<{ store: GitStore; opened: OpenedNotebook }> {
  const proofKey = new Uint8Array(32);
  const roots = ["notes", "memory"];
  const store = await openGitStore({
    root: repo.root,
    gitdir: repo.gitdir,
    branch: "main",
    roots,
    proofKey,
    clock,
    besideGitMs: 0,
    durability: "relaxed",
  });
  const byte = wholeFrom(23);
  const opened = await openNotebook({
    store,
    index: createNoteIndex({ roots }),
    newIndex: () => createNoteIndex({ roots }),
    stateDir: join(repo.gitdir, "notesd"),
    notesIndexFile: null,
    types: NOTE_TYPES,
    limits: { noteBytes: 256 * 1024, waitingWrites: 1_000 },
    filenames: "id",
    roots,
    reconcile: { quiet_ms: 20, max_wait_ms: 200, commit: "auto" },
    person: { name: PAT.name, email: "pat@example.org" },
    proofKey,
    clock,
    randomBytes: (count) => Uint8Array.from({ length: count }, () => byte(256)),
    warn: (message, fields) => console.error(message, fields),
  });
  return { store, opened };
}

/** Each agent's log of each day, and what was appended to it. */
function dailyWork(count: number): Act[] {
  const pick = wholeFrom(7);
  const acts: Act[] = [];
  for (let day = 0; day < 5; day++) {
    for (const who of AGENTS) {
      const note = `${who} ${day}`;
      const title = `${who}: day ${day + 1}`;
      acts.push({
        ...{ day, hour: 8.5, who, does: "create", note },
        params: { title, note_type: "task_state", content: `# ${title}\n`, reason: "A log for each day" },
      });
    }
  }
  while (acts.length < count) {
    const day = pick(5);
    const who = AGENTS[pick(AGENTS.length)] ?? "coder";
    const [work, reason] = WORK[pick(WORK.length)] ?? ["worked", "to get on"];
    acts.push({
      ...{ day, hour: 9 + pick(540) / 60, who, does: "append", note: `${who} ${day}` },
      params: { content: `- ${work}\n`, reason },
    });
  }
  return acts;
}

class Player {
  readonly #repo: GitRepo;
  readonly #opened: OpenedNotebook;
  readonly #now: () => number;
  readonly ids = new Map<string, string>();

  constructor(repo: GitRepo, opened: OpenedNotebook, now: () => number) {
    this.#repo = repo;
    this.#opened = opened;
    this.#now = now;
  }

  /** Call an action as one of the five. */
  async call(who: Who, method: string, params: object): Promise<Record<string, unknown>> {
    const context = contextOf(this.#opened.notebook, PRINCIPALS[who]);
    // Results of the actions called here are records.
    return (await invoke(registry, { method, params }, context)) as Record<string, unknown>;
  }

  async play({ who, does, note, params }: Act): Promise<void> {
    if (does === "create") {
      this.ids.set(note, String((await this.call(who, "notes.create", params))["note_id"]));
    } else if (does === "save file" || does === "commit file") {
      await this.#byHand(does, who, note, params);
    } else {
      await this.call(who, `notes.${does}`, { note_id: this.ids.get(note), ...params });
    }
  }

  /** A person at an editor, who lets the daemon commit or commits with Git. */
  async #byHand(does: Act["does"], who: Who, note: string, params: Act["params"]): Promise<void> {
    const path = this.#opened.notebook.metadata(this.ids.get(note) ?? "")?.path ?? "";
    const file = join(this.#repo.root, path);
    const before = readFileSync(file, "utf8");
    const after = before.replace(String(params["old_str"]), String(params["new_str"]));
    if (after === before) throw new Error(`${path} does not hold ${params["old_str"]}`);
    writeFileSync(file, after);
    if (does === "save file") {
      await this.#opened.notebook.settle([path]);
      return;
    }
    const { name } = PRINCIPALS[who];
    const date = `${Math.floor(this.#now() / 1000)} +0000`;
    execFileSync("git", ["-C", this.#repo.root, "commit", "-q", "-m", "Whom to call at night", "--", path], {
      env: {
        ...GIT_ENV,
        GIT_AUTHOR_NAME: name,
        GIT_AUTHOR_EMAIL: `${name.toLowerCase()}@example.org`,
        GIT_AUTHOR_DATE: date,
        GIT_COMMITTER_DATE: date,
      },
      stdio: "pipe",
    });
    await this.#opened.disk.headMoved();
  }
}
