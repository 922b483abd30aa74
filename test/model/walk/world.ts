/** One walk's repository, its notebook and what is known of its texts; the steps themselves are beside it. */
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type GitRepo, repoAt } from "../../support/git-repo.ts";
import { asInitLeavesIt, type NotebookOnGit, notebookOnGit } from "../../support/notebook-on-git.ts";
import { saveFile } from "../../support/save-file.ts";
import { type Texts, textsOf } from "./texts.ts";

export interface World {
  readonly repo: GitRepo;
  readonly texts: Texts;
  on: NotebookOnGit;
  /** A token that nobody wrote before. */
  fresh(): string;
  readonly noteIds: string[];
  /** What happened, for people. */
  readonly story: string[];
  /** Texts that the last agent's write was free to take from the branch's tip. */
  readonly replaced: Set<string>;
  /** What a person left on the disk right after a commit of theirs, by path: no look may change it. */
  readonly kept: Map<string, string | undefined>;
  serial: number;
  /** Its files go. */
  remove(): void;
}

let template: string | null = null;
process.once("exit", () => {
  if (template !== null) rmSync(template, { recursive: true, force: true });
});

const page = (name: string, lines: readonly string[]) => `# ${name}\n\n${lines.join("\n")}\n`;

/** Main and topic have both changed the same page and each another one since they parted. */
function makeTemplate(): string {
  const root = mkdtempSync(join(tmpdir(), "notesd-walk-template-"));
  const repo = repoAt(root);
  repo.git("init", "-q", "-b", "main", "--template=", ".");
  asInitLeavesIt(repo);
  const lines = (name: string) => Array.from({ length: 6 }, (_, i) => `${name} line ${i}`);
  const commit = (text: string) => {
    repo.git("add", "-A");
    repo.git("commit", "-q", "-m", text);
  };
  for (const name of ["a", "b", "c"]) saveFile(root, `notes/${name}.md`, page(name, lines(name)));
  saveFile(root, "code.txt", "code\n");
  commit("first");
  repo.git("checkout", "-q", "-b", "topic");
  saveFile(root, "notes/a.md", page("a", lines("topic <t0>")));
  commit("topic changes a");
  saveFile(root, "notes/topic.md", page("topic", ["only here <t1>"]));
  commit("topic adds a page");
  repo.git("checkout", "-q", "main");
  saveFile(root, "notes/a.md", page("a", lines("main <t2>")));
  commit("main changes a");
  return root;
}

/** A new world at the template's start. Remove it after the walk. */
export async function openWorld(): Promise<World> {
  template ??= makeTemplate();
  const root = mkdtempSync(join(tmpdir(), "notesd-walk-"));
  cpSync(template, root, { recursive: true, preserveTimestamps: true });
  const repo = repoAt(root);
  const world: World = {
    repo,
    texts: textsOf(repo),
    on: await notebookOnGit(repo, undefined, "relaxed"),
    fresh: () => `<t${world.serial++}>`,
    noteIds: [],
    story: [],
    replaced: new Set(),
    kept: new Map(),
    serial: 10,
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
  await world.on.driven(world.on.disk.scanAll("start"));
  return world;
}
