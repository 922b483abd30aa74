import { expect, test } from "vitest";
import { parseCommit } from "../../../src/domain/commit-proof.ts";
import type { CommitEvents } from "../../../src/domain/event.ts";
import type { BlobId, CommitId } from "../../../src/domain/note.ts";
import { createNoteIndex } from "../../../src/index/create.ts";
import { createGitLog } from "../../../src/store/history/git-log.ts";
import { gitObjects } from "../../../src/store/objects/objects.ts";
import { noteFilter } from "../../../src/store/trees/note-filter.ts";
import { type GitRepo, gitRepo } from "../../support/git-repo.ts";
import { wholeFrom } from "../../support/random.ts";

const HISTORIES_A_TEST = 20;
const FIRST_SEEDS = Array.from({ length: 10 }, (_, n) => 1 + n * HISTORIES_A_TEST);
const PATHS = [
  "notes/a.md",
  "notes/a/b.md",
  "notes/a.b/c.md",
  "notes/2026/01/02/x.md",
  "notes/2026/01/02.2/x.md",
  "notes/2026/01/03/y.md",
  "notes/ein Blatt.md",
  "notes/é.md",
  "memory/workspace/k.md",
  "notes/.hidden/z.md",
  "notes/plain.txt",
  "src/main.c",
  "README.md",
];
const MODES = ["100644", "100644", "100644", "100755", "120000"];
const FOLDERS = ["notes/a", "notes/2026", "notes/2026/01/02", "notes/a.md"];
const notes = noteFilter(["notes", "memory"]);

/** Make a history with `git fast-import`: branches, merges, renames, folders for files, clocks at odds. */
function makeHistory(repo: GitRepo, seed: number, commits: number): { tips: string[] } {
  const random = wholeFrom(seed);
  const pick = <T>(list: readonly T[]): T => list[random(list.length)] as T;
  const text = () =>
    random(12) === 0
      ? ""
      : `---\nid: id_${random(8)}\ntitle: t${random(5)}\n---\n\n${"a line of text\n".repeat(random(30))}${random(9)}\n`;
  const out: string[] = [];
  const data = (content: string) => `data ${Buffer.byteLength(content)}\n${content}\n`;
  for (let n = 1; n <= commits; n++) {
    const parents = n === 1 || random(40) === 0 ? [] : [1 + (n - 2 - random(Math.min(n - 1, 5)))];
    while (parents.length > 0 && parents.length < 4 && random(4) === 0) {
      const other = 1 + (n - 2 - random(Math.min(n - 1, 9)));
      if (!parents.includes(other)) parents.push(other);
    }
    const atS = 1_796_000_000 + random(60);
    const who = `Ä Person <p@example.org> ${atS} ${pick(["+0000", "-0330", "+1345"])}`;
    out.push(
      `commit refs/heads/b${n}\nmark :${n}\nauthor ${who}\ncommitter ${who}\n${data(`subject ${n}\n\nwhy\n`)}`,
    );
    out.push(...parents.map((parent, i) => `${i === 0 ? "from" : "merge"} :${parent}\n`));
    for (let change = random(parents.length > 1 ? 6 : 4); change > 0; change--) {
      const [path, other] = [pick(PATHS), pick(PATHS)];
      const kind = random(10);
      if (kind < 6) out.push(`M ${pick(MODES)} inline ${path}\n${data(text())}`);
      else if (kind < 8) out.push(`D ${path}\n`);
      else if (kind < 9) out.push(`D ${pick(FOLDERS)}\n`);
      else
        out.push(
          `M 100644 inline ${path}\n${data("same\n")}D ${other}\nM 100644 inline ${other}\n${data("same\n")}`,
        );
    }
    out.push("\n");
  }
  repo.gitBytes(["fast-import", "--quiet", "--force", `--depth=${random(50)}`], out.join(""));
  return {
    tips: Array.from({ length: Math.min(6, commits) }, (_, i) => repo.git("rev-parse", `b${commits - i}`)),
  };
}

/** Leave the objects as people's repositories have them. */
function pack(repo: GitRepo, way: number): void {
  if (way === 0) repo.git("repack", "-adfq", "--depth=50", "--window=50");
  if (way === 1) repo.git("gc", "-q");
  if (way === 2) repo.git("-c", "pack.compression=0", "repack", "-adFq");
}

interface Told {
  readonly parents: string;
  readonly author: string;
  readonly changes: readonly (readonly [string, string | null, string | null])[];
}

/** What native Git says: each commit against its first parent, regular note files alone. */
function nativeLog(repo: GitRepo, tip: string): Map<string, Told> {
  const log = repo.git(
    ...["-c", "core.quotePath=off", "log", "--format=commit %H%n%P%n%an <%ae> %at", "--raw", "--no-abbrev"],
    ...["--no-renames", "--diff-merges=first-parent", "--root", tip],
  );
  const told = new Map<string, Told>();
  for (const block of log.split(/^commit /m).slice(1)) {
    const [id = "", parents = "", author = "", ...lines] = block.split("\n");
    const changes = lines.flatMap((line): [string, string | null, string | null][] => {
      const found = /^:(\d+) (\d+) (\w+) (\w+) \w\t(.*)$/.exec(line);
      if (found === null) return [];
      const [, oldMode = "", newMode = "", oldId = "", newId = "", path = ""] = found;
      const before = oldMode.startsWith("100") ? oldId : null;
      const after = newMode.startsWith("100") ? newId : null;
      return before !== after && notes.file(path as never) ? [[path, before, after]] : [];
    });
    told.set(id, { parents, author, changes });
  }
  return told;
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

const toldBy = ({ commit, events }: CommitEvents): Told => ({
  parents: commit.parents.join(" "),
  author: `${commit.author.name} <${commit.author.email}> ${Date.parse(commit.at) / 1000}`,
  changes: events.map((event) => [event.path, event.before, event.kind === "written" ? event.after : null]),
});

test.each(FIRST_SEEDS)(
  "random histories are told as git log --raw tells them (20 from seed %i)",
  async (first) => {
    let commits = 0;
    let merges = 0;
    for (let seed = first; seed < first + HISTORIES_A_TEST; seed++) {
      const repo = gitRepo();
      const { tips } = makeHistory(repo, seed, 12 + (seed % 37));
      pack(repo, seed % 4);
      const objects = gitObjects(repo.gitdir);
      const log = createGitLog({
        readCommit: (id) => objects.read("commit", id),
        readTree: (id) => objects.read("tree", id),
        parse: (id, raw) => parseCommit(id, raw, null),
        notes,
      });
      const read = async (id: BlobId) => objects.read("blob", id);
      const index = createNoteIndex();
      for (const tip of tips as CommitId[]) {
        const native = nativeLog(repo, tip);
        const events = await all(log.history(null, tip));
        expect(new Map(events.map((one) => [one.commit.id as string, toldBy(one)]))).toEqual(native);
        const seen = new Set<string>();
        for (const { commit } of events) {
          expect([seed, commit.parents.every((parent) => seen.has(parent))]).toEqual([seed, true]);
          seen.add(commit.id);
        }
        const known = new Set(index.head === null ? [] : nativeLog(repo, index.head).keys());
        const gap = await all(log.history(index.head, tip));
        expect(gap.map(({ commit }) => commit.id).sort()).toEqual(
          [...native.keys()].filter((id) => !known.has(id)).sort(),
        );
        await index.apply(gap, read, tip);
        const rebuilt = createNoteIndex();
        await rebuilt.rebuild(log.history(null, tip), read);
        expect([seed, index.digest(), index.differences(rebuilt)]).toEqual([seed, rebuilt.digest(), []]);
        commits += events.length;
        merges += events.filter(({ commit }) => commit.parents.length > 1).length;
      }
      objects.close();
    }
    expect(commits).toBeGreaterThan(500);
    expect(merges).toBeGreaterThan(50);
  },
);
