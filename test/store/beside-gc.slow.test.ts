/**
 * Native Git's own upkeep, over and over, beside ours and beside a writer at full speed: nothing that was acknowledged is
 * taken away, and no command of a person fails but for a lock. `NOTESD_WRITES=100000` for the long run.
 */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { openGitStore } from "../../src/store/git-store.ts";
import type { Draft } from "../../src/store/note-store.ts";
import { committed, draft } from "../support/drafts.ts";
import { GIT_ENV } from "../support/git-env.ts";
import { type GitRepo, gitRepo } from "../support/git-repo.ts";
import { expectSound, packFiles } from "../support/packs.ts";
import { randomFrom } from "../support/random.ts";
import { until } from "../support/wait.ts";

const WRITES = Number(process.env["NOTESD_WRITES"] ?? 20_000);
const GROUP = 256;
const SINGLES = 8;
const ROUNDS = 2;

const PERSON: readonly (readonly string[])[] = [
  ["fsck", "--strict", "--no-dangling"],
  ["verify-pack"],
  ["gc", "-q"],
  ["repack", "-adq"],
  ["gc", "-q", "--prune=now"],
  ["prune-packed", "-q"],
  ["pack-refs", "--all"],
  ["repack", "-adfq"],
  ["prune", "--expire=now"],
];
const RACE = /\.lock|cannot lock ref|unable to lock|failed to lock/i;

interface Person {
  readonly commands: number;
  readonly rounds: number;
  readonly refused: number;
  readonly failures: readonly string[];
  stop(): Promise<void>;
}

/** A person who does nothing but look after the repository, one command after the other. */
function personAtUpkeep(repo: GitRepo): Person {
  let going = true;
  const person = { commands: 0, rounds: 0, refused: 0, failures: [] as string[] };
  const done = (async () => {
    for (; going; person.rounds++) {
      for (const command of PERSON) {
        if (!going) return;
        const packs = packFiles(repo, ".idx").map((file) => join(repo.gitdir, "objects/pack", file));
        const args = command[0] === "verify-pack" ? [...command, ...packs] : command;
        const said = await run(repo, args);
        person.commands++;
        if (said === null) continue;
        if (RACE.test(said)) person.refused++;
        else if (!isNews(repo, command, said))
          person.failures.push(`git ${command.join(" ")}: ${said.slice(0, 2_000)}`);
      }
    }
  })();
  return Object.assign(person, {
    async stop() {
      going = false;
      await done;
    },
  });
}

/**
 * What a command says of a repository that moves while it looks, as it does beside any other Git: a pack may be replaced
 * between its listing and its turn, and fsck takes its objects, and commits that were made meanwhile, for missing. They
 * must all be there afterwards.
 */
function isNews(repo: GitRepo, [command]: readonly string[], said: string): boolean {
  if (command === "verify-pack") return /does not exist|No such file|Cannot open existing pack/i.test(said);
  if (command !== "fsck") return false;
  const lines = said
    .replace(/^\d+: /, "")
    .trim()
    .split("\n");
  const isGone = (line: string) => {
    const pack = /packfile .*(pack-[0-9a-f]{40})\.pack (?:index not opened|cannot be accessed)$/.exec(
      line,
    )?.[1];
    return pack !== undefined && !packFiles(repo, ".pack").includes(`${pack}.pack`);
  };
  const rest = lines.filter((line) => !isGone(line));
  const ids = rest.flatMap((line) => line.match(/\b[0-9a-f]{40}\b/g) ?? []);
  if (rest.some((line) => !/missing|broken link|to\s+\w+ |invalid (?:reflog entry|sha1 pointer)/.test(line)))
    return false;
  const found = repo.gitBytes(["cat-file", "--batch-check"], `${ids.join("\n")}\n`).toString();
  return ids.length === 0 || !/ missing$/m.test(found);
}

/** @returns null when it worked and complained of nothing */
function run({ root }: GitRepo, args: readonly string[]): Promise<string | null> {
  return new Promise((resolve, reject) => {
    const child = spawn("git", args, { cwd: root, env: GIT_ENV, stdio: ["ignore", "pipe", "pipe"] });
    let text = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (part) => (text += part));
    child.once("error", reject);
    child.once("close", (code) =>
      resolve(code === 0 && !/error|fatal|missing|corrupt/i.test(text) ? null : `${code}: ${text}`),
    );
  });
}

/** Notes of a few folders, half of the writes to notes that are there. */
function writer(texts: Map<string, string>) {
  const random = randomFrom(20_261_130);
  let made = 0;
  const one = (taken: Set<string>): Draft => {
    const known = [...Array(3)].map(
      () => `notes/${Math.floor(random() * 40)}/n${Math.floor(random() * made)}.md`,
    );
    const path =
      known.find((name) => texts.has(name) && !taken.has(name)) ?? `notes/${made % 40}/n${made++}.md`;
    const before = texts.get(path) ?? null;
    const text = `${before?.slice(-400) ?? ""}Line ${Math.floor(random() * 1e9)} of a note that changes.\n`;
    taken.add(path);
    texts.set(path, text);
    return draft(path, text, before);
  };
  return (count: number): Draft[] => {
    const taken = new Set<string>();
    return Array.from({ length: count }, () => one(taken));
  };
}

test(`${WRITES} writes through fsck, gc, repack, prune and pack-refs over and over: all is there, and all is sound`, async () => {
  // The built one does its upkeep in a thread, as it does for people.
  const built = new URL("../../dist/store/git-store.js", import.meta.url).href;
  // The build's exports are those of the source.
  const { openGitStore: openBuilt } = (await import(built)) as { openGitStore: typeof openGitStore };
  const repo = gitRepo();
  for (const [key, value] of [
    ["core.trustctime", "false"],
    ["core.fsync", "none"],
  ] as const)
    repo.git("config", key, value);
  const open = () =>
    openBuilt({
      root: repo.root,
      gitdir: repo.gitdir,
      branch: "main",
      roots: ["notes"],
      proofKey: new Uint8Array(32),
      lockWaitMs: 60_000,
      besideGitMs: 0,
      warn: (what, data) => told.push(`${what}: ${JSON.stringify(data)}`),
    });
  const told: string[] = [];
  const store = await open();
  const texts = new Map<string, string>();
  const write = writer(texts);
  const acknowledged = new Set<string>();
  let mostPacks = 0;
  const commit = async (count: number) => {
    for (const outcome of (await store.commit(write(count))).outcomes)
      acknowledged.add(committed(outcome).events.commit.id);
    mostPacks = Math.max(mostPacks, packFiles(repo, ".pack").length);
  };
  await commit(GROUP);
  const person = personAtUpkeep(repo);
  while (acknowledged.size < WRITES || person.rounds < ROUNDS) {
    await commit(GROUP);
    for (let n = 0; n < SINGLES; n++) await commit(1);
  }
  await person.stop();
  expect(person.failures).toEqual([]);

  await commit(1);
  await until("few packs to be left", () => packFiles(repo, ".pack").length <= 50, 60_000);
  const tip = await store.tip();
  if (tip === null) throw new Error("no tip");
  const listed = await store.list(tip);
  expect(listed.map(({ path }) => path).sort()).toEqual([...texts.keys()].sort());
  for (const { path, blob } of listed)
    expect(Buffer.from(await store.readBlob(blob)).toString()).toBe(texts.get(path));
  await store.close();

  const commits = new Set(repo.git("rev-list", "HEAD").split("\n"));
  expect([...acknowledged].filter((id) => !commits.has(id))).toEqual([]);
  expect(repo.git("status", "--porcelain")).toBe("");
  expectSound(repo);
  expect(packFiles(repo).filter((file) => !/^pack-\w+\.(pack|idx|rev|bitmap)$/.test(file))).toEqual([]);
  const again = await open();
  expect(await again.tip()).toBe(tip);
  await again.close();
  expect(mostPacks).toBeLessThanOrEqual(500);
  console.info(
    `${acknowledged.size} writes, ${person.commands} commands of Git in ${person.rounds} rounds, ${person.refused} refused by a lock, at most ${mostPacks} packs, ${told.length} warnings`,
    told.slice(0, 5),
  );
});
