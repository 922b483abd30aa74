/** What a person does in a walk: saves by an editor's habits, and commands of native Git, whether they work or not. */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { CommitId } from "../../../src/domain/note.ts";
import { plumbCommit } from "../../support/store-on-git.ts";
import type { World } from "./world.ts";

/** @param a, b 0..999, to choose by */
type Deed = (world: World, a: number, b: number) => void;

const NAMES = [
  "notes/a.md",
  "notes/b.md",
  "notes/c.md",
  "notes/new.md",
  "notes/sub/deep.md",
  "notes/topic.md",
];

function notesOnDisk({ repo }: World): string[] {
  return repo
    .tryGit("ls-files", "-zco", "--", "notes")
    .stdout.split("\0")
    .filter((path, i, all) => path !== "" && all.indexOf(path) === i && existsSync(join(repo.root, path)));
}

const oneOf = <T>(list: readonly T[], n: number): T | undefined => list[n % Math.max(1, list.length)];

const readLines = (path: string) => readFileSync(path, "utf8").split(/(?<=\n)/);

/** Some text into some line: a line more, or one for another. */
function edit(world: World, a: number, b: number): void {
  const path = oneOf(notesOnDisk(world), a);
  if (path === undefined) return;
  const file = join(world.repo.root, path);
  const lines = readLines(file);
  const from = lines[0] === "---\n" ? lines.indexOf("---\n", 1) + 1 : 1;
  const at = Math.min(lines.length, from + (b % Math.max(1, lines.length - from + 1)));
  lines.splice(at, b % 3 === 0 ? 1 : 0, `person ${world.fresh()}\n`);
  writeFileSync(file, lines.join(""));
}

function git(world: World, ...args: string[]): boolean {
  const { status, stderr } = world.repo.tryGit(
    "-c",
    "core.editor=true",
    "-c",
    "merge.conflictStyle=merge",
    ...args,
  );
  world.story.push(`    git ${args.join(" ")} → ${status}${status === 0 ? "" : ` ${stderr.split("\n")[0]}`}`);
  return status === 0;
}

const conflicted = ({ repo }: World) => [
  ...new Set(
    repo
      .tryGit("diff", "--name-only", "--diff-filter=U", "-z")
      .stdout.split("\0")
      .filter((path) => path !== ""),
  ),
];

/** Every conflicted file is given a content, then the operation goes on. */
function resolve(world: World, a: number): void {
  for (const path of conflicted(world)) {
    const file = join(world.repo.root, path);
    const how = a % 3;
    if (!existsSync(file) || (how === 1 && !git(world, "checkout", "--ours", "--", path))) {
      git(world, "rm", "-q", "--cached", "--", path);
      if (existsSync(file)) git(world, "add", "--", path);
      continue;
    }
    if (how === 0) {
      const kept = readLines(file).filter((line) => !/^(?:<<<<<<<|=======|>>>>>>>)/.test(line));
      writeFileSync(file, kept.join(""));
    }
    git(world, "add", "--", path);
  }
}

const GO_ON: readonly (readonly string[])[] = [
  ["rebase", "--continue"],
  ["cherry-pick", "--continue"],
  ["revert", "--continue"],
  ["merge", "--continue"],
];
const ABORT: readonly (readonly string[])[] = [
  ["rebase", "--abort"],
  ["cherry-pick", "--abort"],
  ["revert", "--abort"],
  ["merge", "--abort"],
];

/** The first that works. */
const until = (world: World, commands: readonly (readonly string[])[]) =>
  commands.some((args) => git(world, ...args));

/** A commit on top of main that was made elsewhere: a page more, and one of main's changed or gone. */
function elsewhere({ repo, serial, fresh }: World, a: number): CommitId {
  const main = repo.git("rev-parse", "main") as CommitId;
  const paths = repo.git("ls-tree", "-r", "--name-only", "main", "notes").split("\n");
  const path = oneOf(paths, a);
  const text = path === undefined || path === "" ? "" : repo.git("cat-file", "blob", `main:${path}`);
  const changes: Record<string, string | null> = {
    [`notes/pulled-${serial}.md`]: `# Pulled\n\npulled ${fresh()}\n`,
  };
  if (text !== "") changes[path ?? ""] = a % 7 === 0 ? null : `${text}\npulled ${fresh()}\n`;
  return plumbCommit(repo, changes, [main], Date.UTC(2026, 10, 30));
}

/** On our branch, and committed: what they do to the file next is done to what they committed. */
const committed = (world: World, ...args: string[]) =>
  world.repo.tryGit("symbolic-ref", "-q", "HEAD").stdout === "refs/heads/main\n" &&
  git(world, "commit", "-q", "-m", "in haste", ...args);

const keep = ({ kept, texts }: World, path: string) => void kept.set(path, texts.look().diskFiles.get(path));

/** Moves the branch as a push to it would, under files that stay. */
export const REF_ALONE = "move main alone";

/** By name, with how often each is taken. */
export const PERSON: Readonly<Record<string, readonly [times: number, deed: Deed]>> = {
  edit: [14, edit],
  "edit two": [
    3,
    (world, a, b) => {
      edit(world, a, b);
      edit(world, a + 1, b + 1);
    },
  ],
  "save by rename": [
    3,
    (world, a, b) => {
      const path = oneOf(notesOnDisk(world), a);
      if (path === undefined) return;
      const file = join(world.repo.root, path);
      writeFileSync(`${file}.tmp`, `${readFileSync(file, "utf8")}renamed over ${b} ${world.fresh()}\n`);
      renameSync(`${file}.tmp`, file);
    },
  ],
  "new file": [
    4,
    (world, a) => {
      const file = join(world.repo.root, oneOf(NAMES, a) ?? "");
      mkdirSync(dirname(file), { recursive: true });
      if (!existsSync(file)) writeFileSync(file, `# New\n\nnew ${world.fresh()}\n`);
    },
  ],
  "delete file": [
    3,
    (world, a) => {
      const path = oneOf(notesOnDisk(world), a);
      if (path !== undefined) rmSync(join(world.repo.root, path));
    },
  ],
  "rename file": [
    3,
    (world, a, b) => {
      const path = oneOf(notesOnDisk(world), a);
      const to = join(world.repo.root, oneOf(NAMES, b) ?? "");
      if (path === undefined || existsSync(to)) return;
      mkdirSync(dirname(to), { recursive: true });
      renameSync(join(world.repo.root, path), to);
    },
  ],
  "copy file": [
    1,
    (world, a, b) => {
      const path = oneOf(notesOnDisk(world), a);
      const to = join(world.repo.root, oneOf(NAMES, b) ?? "");
      if (path === undefined || existsSync(to)) return;
      mkdirSync(dirname(to), { recursive: true });
      writeFileSync(to, readFileSync(join(world.repo.root, path)));
    },
  ],
  "git mv": [
    2,
    (world, a, b) => {
      const path = oneOf(notesOnDisk(world), a);
      const to = oneOf(NAMES, b) ?? "";
      if (path === undefined) return;
      mkdirSync(join(world.repo.root, dirname(to)), { recursive: true });
      git(world, "mv", "--", path, to);
    },
  ],
  "git rm": [2, (world, a) => void git(world, "rm", "-q", "--", oneOf(notesOnDisk(world), a) ?? "none")],
  "git add one": [3, (world, a) => void git(world, "add", "--", oneOf(notesOnDisk(world), a) ?? "notes")],
  "git add -A": [3, (world) => void git(world, "add", "-A")],
  "git commit": [5, (world) => void git(world, "commit", "-q", "-m", "by hand")],
  "git commit -a": [4, (world) => void git(world, "commit", "-q", "-a", "-m", "all by hand")],
  "commit and take back on disk": [
    3,
    (world, a, b) => {
      const path = oneOf(notesOnDisk(world), a);
      if (path === undefined) return;
      const file = join(world.repo.root, path);
      const old = readFileSync(file);
      edit(world, a, b);
      if (!committed(world, "-a")) return;
      writeFileSync(file, old);
      keep(world, path);
    },
  ],
  "commit and stage the old": [
    2,
    (world, a, b) => {
      const path = oneOf(notesOnDisk(world), a);
      if (path === undefined) return;
      edit(world, a, b);
      if (committed(world, "-a") && git(world, "checkout", "-q", "HEAD~1", "--", path)) keep(world, path);
    },
  ],
  "commit, remove, commit": [
    2,
    (world, a) => {
      const path = `notes/brief-${a % 4}.md`;
      mkdirSync(join(world.repo.root, "notes"), { recursive: true });
      writeFileSync(join(world.repo.root, path), `brief ${world.fresh()}\n`);
      if (!git(world, "add", "--", path) || !committed(world) || !git(world, "rm", "-q", "--", path)) return;
      keep(world, path);
      committed(world);
    },
  ],
  "a row of renames": [
    2,
    (world, a, b) => {
      let from = oneOf(notesOnDisk(world), a);
      if (from === undefined) return;
      for (let n = 0; n < 1 + (b % 3); n++) {
        const to = `notes/row-${n}.md`;
        if (!git(world, "mv", "--", from, to)) return;
        keep(world, from);
        keep(world, to);
        if (!committed(world)) return world.kept.clear();
        from = to;
      }
    },
  ],
  "git commit --amend": [2, (world) => void git(world, "commit", "-q", "--amend", "-m", "amended")],
  "git checkout file": [
    1,
    (world, a) => void git(world, "checkout", "--", oneOf(notesOnDisk(world), a) ?? "notes"),
  ],
  "git reset file": [
    1,
    (world, a) => void git(world, "reset", "-q", "--", oneOf(notesOnDisk(world), a) ?? "notes"),
  ],
  "to topic": [4, (world) => void git(world, "checkout", "-q", "topic")],
  "to main": [6, (world) => void git(world, "checkout", "-q", "main")],
  "to a new branch": [1, (world) => void git(world, "checkout", "-q", "-b", `branch-${world.serial++}`)],
  detach: [1, (world, a) => void git(world, "checkout", "-q", "--detach", a % 2 === 0 ? "HEAD" : "HEAD~1")],
  "fast-forward main": [
    2,
    (world, a) => {
      git(world, "branch", "-f", "pulled", elsewhere(world, a));
      git(world, "merge", "-q", "--ff-only", "pulled");
    },
  ],
  [REF_ALONE]: [4, (world, a) => void git(world, "update-ref", "refs/heads/main", elsewhere(world, a))],
  "git merge": [3, (world, a) => void git(world, "merge", "-q", "--no-edit", a % 2 === 0 ? "topic" : "main")],
  "git merge --squash": [1, (world) => void git(world, "merge", "-q", "--squash", "topic")],
  "git rebase": [
    3,
    (world, a) =>
      void git(world, "rebase", ...(a % 3 === 0 ? ["--autostash"] : []), a % 2 === 0 ? "topic" : "main"),
  ],
  "git cherry-pick": [2, (world, a) => void git(world, "cherry-pick", a % 2 === 0 ? "topic" : "main")],
  "git revert": [1, (world, a) => void git(world, "revert", "--no-edit", a % 2 === 0 ? "HEAD" : "HEAD~1")],
  "git bisect": [1, (world) => void git(world, "bisect", "start", "HEAD", "HEAD~2")],
  "resolve and go on": [
    6,
    (world, a) => {
      resolve(world, a);
      if (!until(world, GO_ON)) git(world, "commit", "-q", "--no-edit");
    },
  ],
  "commit with the markers": [
    1,
    (world) => {
      if (conflicted(world).length === 0) return;
      git(world, "add", "-A");
      if (!until(world, GO_ON)) git(world, "commit", "-q", "--no-edit");
    },
  ],
  abort: [4, (world) => void until(world, ABORT)],
  "git bisect reset": [1, (world) => void git(world, "bisect", "reset")],
  "git stash": [3, (world, a) => void git(world, "stash", "push", "-q", ...(a % 2 === 0 ? ["-u"] : []))],
  "git stash pop": [
    3,
    (world, a) => void git(world, "stash", "pop", "-q", ...(a % 2 === 0 ? ["--index"] : [])),
  ],
  "git reset --soft": [1, (world) => void git(world, "reset", "-q", "--soft", "HEAD~1")],
  "git reset --mixed": [1, (world) => void git(world, "reset", "-q", "--mixed", "HEAD~1")],
  "git reset --hard": [
    1,
    (world, a) => void git(world, "reset", "-q", "--hard", a % 2 === 0 ? "HEAD" : "HEAD~1"),
  ],
  "git gc": [1, (world) => void git(world, "gc", "-q")],
};

/** At the end a person ends what is under way and comes home. */
export function comeHome(world: World): void {
  for (let tries = 0; tries < 4 && until(world, ABORT); tries++);
  git(world, "bisect", "reset");
  if (git(world, "checkout", "-q", "main")) return;
  git(world, "stash", "push", "-q", "-u") || git(world, "reset", "-q", "--merge");
  git(world, "checkout", "-q", "main") || git(world, "checkout", "-q", "-f", "main");
  git(world, "bisect", "reset");
}

/** What they staged is theirs to commit. */
export function commitStaged(world: World): void {
  if (world.repo.tryGit("diff", "--cached", "--quiet").status !== 0)
    git(world, "commit", "-q", "-m", "staged at the end");
}
