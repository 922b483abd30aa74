/**
 * Everyone at once, at random: agents write, a person saves, renames, deletes, commits, switches branches,
 * and the daemon is stopped and killed. At the end the index equals one rebuilt from Git, and every text that
 * anybody saved is reachable in history, in a kept conflict, or on disk.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, expect, test } from "vitest";
import {
  cleanEnv,
  git,
  initRepo,
  openRpc,
  type Rpc,
  type RunningDaemon,
  removeFolder,
  startDaemon,
} from "../support/daemon.ts";
import { wholeFrom } from "../support/random.ts";
import { until } from "../support/wait.ts";

const SEED = Number(process.env["NOTESD_MODEL_SEED"] ?? 7);
const STEPS = Number(process.env["NOTESD_MODEL_STEPS"] ?? 250);

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) removeFolder(folder);
});

class Model {
  readonly repo: string;
  readonly #config: string;
  readonly #random: (below: number) => number;
  #daemon: RunningDaemon | null = null;
  #rpc: Rpc | null = null;
  #next = 0;
  /** Texts that must be found at the end. */
  readonly texts = new Set<string>();
  /** A person's saves that the person may still overwrite before anybody else saw them: path → texts. */
  readonly #fresh = new Map<string, string[]>();
  readonly #ids: string[] = [];
  readonly done = new Map<string, number>();

  constructor(seed: number) {
    this.repo = initRepo();
    folders.push(join(this.repo, ".."));
    this.#config = join(this.repo, "../settings.json");
    writeFileSync(this.#config, JSON.stringify({ reconcile: { quiet_ms: 60, max_wait_ms: 1000 } }));
    this.#random = wholeFrom(seed);
  }

  async start(): Promise<void> {
    this.#daemon = await startDaemon(this.repo, ["--config", this.#config]);
    this.#rpc = await openRpc(this.#daemon.url, this.#daemon.token);
  }

  get rpc(): Rpc {
    if (!this.#rpc) throw new Error("start first");
    return this.#rpc;
  }

  #text(who: string): string {
    const text = `${who} text ${this.#next++} of seed ${SEED}`;
    this.texts.add(text);
    return text;
  }

  #files(): string[] {
    const root = join(this.repo, "notes");
    if (!existsSync(root)) return [];
    const all = readdirSync(root, { recursive: true, encoding: "utf8", withFileTypes: true });
    return all
      .filter((entry) => entry.isFile() && entry.name.endsWith(".md"))
      .map((entry) => join(entry.parentPath, entry.name))
      .sort();
  }

  /** A person overwrites or removes what only they had: that text was theirs to lose. */
  #overwritten(path: string): void {
    for (const text of this.#fresh.get(path) ?? []) if (!this.#known(text)) this.texts.delete(text);
    this.#fresh.delete(path);
  }

  #known(text: string): boolean {
    return git(this.repo, "log", "--all", "--format=%H", "-n1", `-S${text}`) !== "";
  }

  async #agentCall(method: string, params: Record<string, unknown>, text: string | null): Promise<void> {
    const reply = await this.rpc.reply(method, params);
    if (reply.result?.note_id && method === "notes.create") this.#ids.push(reply.result.note_id);
    if (!reply.error) return;
    // What was refused was not saved. Only these refusals can happen here.
    const { code, message } = reply.error;
    expect([404, 409, 422, 503], `${method}: ${message}\n${this.#daemon?.log()}`).toContain(code);
    if (text !== null) this.texts.delete(text);
  }

  readonly #steps: Record<string, () => Promise<void> | void> = {
    create: () => {
      const text = this.#text("agent");
      return this.#agentCall("notes.create", { title: `Note ${this.#next}`, content: text }, text);
    },
    append: () => this.#onNote((note_id, text) => ["notes.append", { note_id, content: text }]),
    update: () =>
      this.#onNote((note_id, text) => [
        "notes.update",
        { note_id, content: `${text}\n`, title: `Title ${this.#next}` },
      ]),
    delete: () => {
      const note_id = this.#ids[this.#random(this.#ids.length)];
      return note_id === undefined ? undefined : this.#agentCall("notes.delete", { note_id }, null);
    },
    save: () => {
      const files = this.#files();
      const path = files[this.#random(files.length)];
      if (path === undefined) return;
      const text = this.#text("person");
      const before = readFileSync(path, "utf8");
      const kept = (this.#fresh.get(path) ?? []).filter((one) => before.includes(one));
      writeFileSync(path, `${before}${text}\n`);
      this.#fresh.set(path, [...kept, text]);
    },
    newFile: () => {
      const path = join(this.repo, `notes/by-hand/${this.#next}.md`);
      mkdirSync(dirname(path), { recursive: true });
      const text = this.#text("person");
      writeFileSync(path, `# By hand ${this.#next}\n\n${text}\n`);
      this.#fresh.set(path, [text]);
    },
    remove: () => {
      const files = this.#files();
      const path = files[this.#random(files.length)];
      if (path === undefined) return;
      this.#overwritten(path);
      rmSync(path, { force: true });
    },
    rename: () => {
      const files = this.#files();
      const path = files[this.#random(files.length)];
      if (path === undefined) return;
      const to = join(dirname(path), `moved-${this.#next++}.md`);
      const texts = this.#fresh.get(path) ?? [];
      renameSync(path, to);
      this.#fresh.delete(path);
      this.#fresh.set(to, texts);
    },
    commit: () => void this.#git(["commit", "-q", "-a", "-m", `person ${this.#next}`]),
    branch: () => {
      const topic = `topic-${this.#next++}`;
      if (!this.#git(["checkout", "-q", "-b", topic])) return;
      writeFileSync(join(this.repo, `${topic}.txt`), "side\n");
      this.#git(["add", `${topic}.txt`]);
      this.#git(["commit", "-q", "-m", topic]);
      this.#mustReturn();
      this.#git(["merge", "-q", "--no-edit", topic]) || this.#git(["merge", "--abort"]);
    },
    restart: async () => {
      this.rpc.close();
      expect(await this.#daemon?.stop()).toBe(0);
      await this.start();
    },
    kill: async () => {
      this.rpc.close();
      await this.#daemon?.kill();
      await this.start();
    },
  };

  async #onNote(request: (id: string, text: string) => [string, Record<string, unknown>]): Promise<void> {
    const id = this.#ids[this.#random(this.#ids.length)];
    if (id === undefined) return;
    const text = this.#text("agent");
    await this.#agentCall(...request(id, text), text);
  }

  /** A person's Git: true when it worked. A refusal (locks, dirty files) is a person's daily bread. */
  #git(args: string[]): boolean {
    try {
      execFileSync("git", args, { cwd: this.repo, env: cleanEnv(), stdio: "ignore" });
      return true;
    } catch {
      return false;
    }
  }

  #mustReturn(): void {
    for (let i = 0; i < 200; i++) if (this.#git(["checkout", "-q", "main"])) return;
    throw new Error(`no way back to main: ${git(this.repo, "status", "--short")}`);
  }

  async run(steps: number): Promise<void> {
    const weights = {
      create: 8,
      append: 8,
      update: 6,
      delete: 2,
      save: 8,
      newFile: 4,
      remove: 2,
      rename: 3,
      commit: 3,
      branch: 2,
      restart: 1,
      kill: 1,
    };
    const names = Object.entries(weights).flatMap(([name, times]) =>
      Array.from({ length: times }, () => name),
    );
    for (let i = 0; i < steps; i++) {
      const name = names[this.#random(names.length)] ?? "create";
      this.done.set(name, (this.done.get(name) ?? 0) + 1);
      await this.#steps[name]?.();
    }
  }

  /** Every byte that is reachable or on disk. */
  everything(): string {
    const objects = git(this.repo, "rev-list", "--all", "--objects", "--no-object-names");
    const blobs = execFileSync("git", ["cat-file", "--batch"], {
      cwd: this.repo,
      input: `${objects}\n`,
      maxBuffer: 1 << 29,
    });
    return (
      blobs.toString("utf8") +
      this.#files()
        .map((file) => readFileSync(file, "utf8"))
        .join("\n")
    );
  }

  async finish(): Promise<void> {
    this.rpc.close();
    await this.#daemon?.stop();
  }
}

test(`nothing is lost and the index equals a rebuilt one (seed ${SEED}, ${STEPS} steps)`, async () => {
  const model = new Model(SEED);
  await model.start();
  await model.run(STEPS);
  await until(
    "every hand edit to be settled",
    async () => {
      const status = await model.rpc.call("daemon.status");
      return status.unsettled.length === 0 && git(model.repo, "status", "--porcelain", "--", "notes") === "";
    },
    60_000,
  );

  const verify = await model.rpc.call("daemon.verify");
  expect(verify.problems.filter((p: { kind: string }) => p.kind !== "duplicate_id")).toEqual([]);
  expect(verify.rebuilt).toBe(verify.digest);
  const everything = model.everything();
  expect([...model.texts].filter((text) => !everything.includes(text))).toEqual([]);
  await model.finish();
  expect(git(model.repo, "fsck", "--strict", "--no-dangling")).toBe("");
  console.log(
    `seed ${SEED}: ${JSON.stringify(Object.fromEntries(model.done))}, ${model.texts.size} texts found`,
  );
});
