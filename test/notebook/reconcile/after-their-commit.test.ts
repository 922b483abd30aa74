/**
 * What a person does right after their own Git command, before the daemon looks: several commands of native Git, then
 * one look. Old base, tip, Git index entry and disk as in docs/decisions/0012-what-a-person-commits-they-saw.md.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type GitRepo, gitRepo } from "../../support/git-repo.ts";
import { asInitLeavesIt, type NotebookOnGit, notebookOnGit } from "../../support/notebook-on-git.ts";
import { plumbCommit } from "../../support/store-on-git.ts";

const PAGE = "notes/page.md";
const OLD = "# Page\n\nold\n";
const NEW = "# Page\n\nnew\n";
const THIRD = "# Page\n\nthird\n";

let repo: GitRepo;
let on: NotebookOnGit;

beforeEach(async () => {
  repo = gitRepo();
  asInitLeavesIt(repo);
  mkdirSync(join(repo.root, "notes"));
  write(OLD);
  write("# Other\n\nother\n", "notes/other.md");
  repo.git("add", "-A");
  repo.git("commit", "-q", "-m", "begin");
  on = await notebookOnGit(repo);
  await on.driven(on.disk.scanAll("start"));
});
afterEach(async () => {
  await on.close();
  expect(on.warnings).toEqual([]);
});

const git = (...args: string[]) => repo.git("-c", "advice.detachedHead=false", ...args);
const write = (text: string, path = PAGE) => writeFileSync(join(repo.root, path), text);
const disk = (path = PAGE) =>
  existsSync(join(repo.root, path)) ? readFileSync(join(repo.root, path), "utf8") : null;
const entry = (path = PAGE) => {
  const { status, stdout } = repo.tryGit("show", `:${path}`);
  return status === 0 ? stdout : null;
};
const tip = (path = PAGE) => {
  const { status, stdout } = repo.tryGit("show", `main:${path}`);
  return status === 0 ? stdout : null;
};
const look = async () => {
  await on.driven(on.disk.headMoved());
  await on.driven(on.disk.hint(["notes", PAGE]));
  await on.driven(on.disk.headMoved());
};
const commitNew = () => {
  write(NEW);
  git("commit", "-qam", "new");
};
/** A push into the branch that leaves files and index where they are. */
const moveAlone = (text: string | null = NEW) =>
  git(
    "update-ref",
    "refs/heads/main",
    plumbCommit(repo, { [PAGE]: text }, [git("rev-parse", "main") as never], 0),
  );

describe("after the person's own commit", () => {
  test("the old text saved again is their edit, and is committed when it settles", async () => {
    commitNew();
    write(OLD);
    await look();
    expect(disk()).toBe(OLD);
    await on.settle();
    expect([disk(), entry(), tip()]).toEqual([OLD, OLD, OLD]);
  });

  test("the old text staged again stays staged, and waits for their commit", async () => {
    commitNew();
    git("checkout", "-q", "HEAD~1", "--", PAGE);
    await look();
    await on.settle();
    expect([disk(), entry(), tip()]).toEqual([OLD, OLD, NEW]);
  });

  test("the old text staged alone stays staged", async () => {
    commitNew();
    git("reset", "-q", "HEAD~1", "--", PAGE);
    await look();
    await on.settle();
    expect([disk(), entry(), tip()]).toEqual([NEW, OLD, NEW]);
  });

  test("the file removed again stays removed", async () => {
    write("v\n", "notes/rm.md");
    git("add", "-A");
    git("commit", "-qm", "a");
    git("rm", "-q", "notes/rm.md");
    await look();
    expect([disk("notes/rm.md"), entry("notes/rm.md")]).toEqual([null, null]);
    git("commit", "-qm", "b");
    await look();
    expect([disk("notes/rm.md"), entry("notes/rm.md"), tip("notes/rm.md")]).toEqual([null, null, null]);
  });

  test("the file deleted on disk alone is a deletion, committed when it settles", async () => {
    commitNew();
    git("rm", "-q", "--cached", PAGE);
    git("reset", "-q");
    rmSync(join(repo.root, PAGE));
    await look();
    await on.settle();
    expect([disk(), entry(), tip()]).toEqual([null, null, null]);
  });

  test("a file that they committed away and wrote again is a new edit", async () => {
    git("rm", "-q", PAGE);
    git("commit", "-qm", "gone");
    write(OLD);
    await look();
    expect(disk()).toBe(OLD);
    await on.settle();
    expect([disk(), tip()]).toEqual([OLD, OLD]);
  });

  test("a row of renames ends at the last name, with the note's id", async () => {
    const { noteId } = await on.create("R one", "x");
    let from = on.notebook.metadata(noteId)?.path ?? "";
    for (const to of ["notes/n1.md", "notes/n2.md", "notes/n3.md", "notes/n4.md", "notes/n5.md"]) {
      git("mv", from, to);
      git("commit", "-qm", `to ${to}`);
      from = to;
      if (to.includes("3")) await look();
    }
    await look();
    await on.settle();
    expect(git("ls-files", "notes/n*")).toBe("notes/n5.md");
    expect(["1", "2", "3", "4"].map((n) => disk(`notes/n${n}.md`))).toEqual([null, null, null, null]);
    expect(on.notebook.metadata(noteId)?.path).toBe("notes/n5.md");
    expect((await on.notebook.verify()).problems).toEqual([]);
  });

  test("an amended commit is one of theirs", async () => {
    commitNew();
    write(THIRD);
    git("commit", "-qa", "--amend", "-m", "third");
    write(OLD);
    await look();
    expect(disk()).toBe(OLD);
  });

  test("an agent's write right after it does not replace the old text that they saved again", async () => {
    commitNew();
    write(OLD);
    const page = on.notebook.list({ filter: {}, viewer: { kind: "person" }, limit: 9, cursor: null }).items;
    const noteId = page.find(({ path }) => path === PAGE)?.note_id;
    if (noteId === undefined) throw new Error("no such page");
    await on.change({ kind: "append", noteId: noteId as never, content: "agent" });
    expect(tip()).toContain("old");
    expect(disk()).toContain("old");
  });
});

describe("after other commands of theirs", () => {
  test("a merge brings files, and the old text saved again is an edit on top", async () => {
    git("branch", "side", plumbCommit(repo, { [PAGE]: NEW }, [git("rev-parse", "main") as never], 0));
    git("merge", "-q", "side");
    expect(disk()).toBe(NEW);
    write(OLD);
    await look();
    expect(disk()).toBe(OLD);
  });

  test("another branch and back: the old text saved again is an edit on top of what we wrote meanwhile", async () => {
    git("checkout", "-q", "-b", "side");
    await look();
    const page = on.notebook.list({ filter: {}, viewer: { kind: "person" }, limit: 9, cursor: null }).items;
    const noteId = page.find(({ path }) => path === PAGE)?.note_id;
    if (noteId === undefined) throw new Error("no such page");
    await on.change({ kind: "append", noteId: noteId as never, content: "agent" });
    git("checkout", "-q", "main");
    expect(disk()).toContain("agent");
    write(OLD);
    await look();
    expect(disk()).toBe(OLD);
  });
});

describe("a rename of theirs of which Git staged the new half alone", () => {
  const MOVED = "notes/moved.md";
  /** As `git mv` and a rebase that changes nothing leave it, and an edit after it. */
  const moveStashed = () => {
    git("mv", PAGE, MOVED);
    git("rebase", "-q", "--autostash", "main");
    expect(git("status", "--porcelain").split("\n")).toEqual([`A  ${MOVED}`, ` D ${PAGE}`]);
    write(`${OLD}more\n`, MOVED);
  };
  const lookAtBoth = async () => {
    await on.driven(on.disk.headMoved());
    await on.driven(on.disk.hint(["notes", PAGE, MOVED]));
  };

  test("the other half waits for their commit as well, and follows it", async () => {
    moveStashed();
    await lookAtBoth();
    await on.settle();
    expect([tip(), tip(MOVED), entry(MOVED), disk()]).toEqual([OLD, null, OLD, null]);
    expect((await on.notebook.status()).unsettled).toEqual([MOVED, PAGE]);
    git("commit", "-qm", "moved");
    await lookAtBoth();
    await on.settle();
    expect([tip(), tip(MOVED), git("status", "--porcelain")]).toEqual([null, `${OLD}more\n`, ""]);
  });

  test("it also waits where the new half lies in the Git index alone", async () => {
    moveStashed();
    rmSync(join(repo.root, MOVED));
    await lookAtBoth();
    await on.settle();
    expect([tip(), entry(MOVED)]).toEqual([OLD, OLD]);
    git("reset", "-q");
    await lookAtBoth();
    await on.settle();
    expect([tip(), git("status", "--porcelain")]).toEqual([null, ""]);
  });

  test("an agent's write to the note is refused meanwhile, for a person's edit is held", async () => {
    const { noteId } = await on.create("Theirs", "x");
    const path = on.notebook.metadata(noteId)?.path ?? "";
    git("mv", path, MOVED);
    git("rebase", "-q", "--autostash", "main");
    write("edited\n", MOVED);
    await on.driven(on.disk.hint([path, MOVED]));
    await expect(on.change({ kind: "append", noteId, content: "agent" })).rejects.toMatchObject({
      code: "CONFLICT",
      data: { reason: "held_edit", path },
    });
    expect(on.notebook.metadata(noteId)?.path).toBe(path);
  });
});

describe("where the branch was moved alone", () => {
  test("file and entry are brought forward", async () => {
    moveAlone();
    await look();
    expect([disk(), entry(), tip()]).toEqual([NEW, NEW, NEW]);
  });

  test("also after their own commit that nobody looked at", async () => {
    commitNew();
    moveAlone(THIRD);
    await look();
    expect([disk(), entry(), tip()]).toEqual([THIRD, THIRD, THIRD]);
  });

  test("their commit on top of it, of a file that they edited before, is level", async () => {
    write(THIRD);
    git("add", PAGE);
    moveAlone();
    git("commit", "-qm", "third");
    write(OLD);
    await look();
    expect([disk(), entry(), tip()]).toEqual([OLD, THIRD, THIRD]);
  });

  test("also after they took a commit back with its files", async () => {
    write("# Other\n\nmore\n", "notes/other.md");
    git("commit", "-qam", "more");
    await look();
    git("reset", "-q", "--hard", "HEAD~1");
    moveAlone();
    await look();
    expect([disk(), entry(), tip()]).toEqual([NEW, NEW, NEW]);
  });

  test("a removal that they staged before stays staged", async () => {
    git("rm", "-q", PAGE);
    moveAlone();
    await look();
    await on.settle();
    expect(entry()).toBe(null);
  });

  test("a file deleted by such a move goes", async () => {
    moveAlone(null);
    await look();
    expect([disk(), entry(), tip()]).toEqual([null, null, null]);
  });
});
