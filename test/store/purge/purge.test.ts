import { expect, test } from "vitest";
import { carryOutPurge } from "../../../src/store/purge/carry-out.ts";
import { formsOf } from "../../../src/store/purge/forms.ts";
import { lookForPurge, preparePurge } from "../../../src/store/purge/purge.ts";
import { type GitRepo, gitRepo } from "../../support/git-repo.ts";
import { wholeFrom } from "../../support/random.ts";

const VALUE = ["LEAK", "Q3EGRIJL5T7MVX2B"].join("");

async function purge({ root, gitdir }: GitRepo): Promise<number> {
  const forms = formsOf([VALUE]);
  const rewriting = {
    blob: (_id: string, bytes: Buffer) => forms.replace(bytes),
    message: forms.replaceMessage,
    header: forms.replace,
    name: forms.replaceName,
  };
  const look = lookForPurge(gitdir, rewriting);
  if (look.survey.tainted.size === 0) return 0;
  const { commits, release } = await preparePurge(gitdir, look, rewriting, new Uint8Array(32));
  look.objects.close();
  await carryOutPurge(root, gitdir, 1_000);
  release();
  return commits.size;
}

/** Branches that part and meet, files that come, change, move and go; some hold the value for a while. */
function randomHistory(repo: GitRepo, seed: number): void {
  const next = wholeFrom(seed);
  const lines: string[] = [];
  const data = (text: string) => `data ${Buffer.byteLength(text)}\n${text}\n`;
  const some = (text: string) => (next(4) === 0 ? `${text} ${VALUE}` : text);
  for (let mark = 1; mark <= 40; mark++) {
    const branch = `refs/heads/b${next(3)}`;
    const author = `${some("Ann")} <ann@example.org> ${1_700_000_000 + mark} +0100`;
    lines.push(
      `commit ${branch}\nmark :${mark}\nauthor ${author}\ncommitter Bob <bob@example.org> 1700001000 +0000\n`,
    );
    lines.push(data(`${some(`commit ${mark}`)}\n\n${some("why")}\n`));
    if (mark > 1) lines.push(`from :${1 + next(mark - 1)}\n`);
    if (mark > 3 && next(3) === 0) lines.push(`merge :${1 + next(mark - 1)}\n`);
    for (let n = next(4); n >= 0; n--) {
      const path = `f${next(3)}/${next(5)}.md`;
      lines.push(
        next(5) === 0 ? `D ${path}\n` : `M 100644 inline ${path}\n${data(`${some(`text ${next(6)}`)}\n`)}`,
      );
    }
    if (next(6) === 0) lines.push(`tag t${mark}\nfrom :${mark}\ntagger ${author}\n${data(some("tagged"))}`);
  }
  repo.gitBytes(["fast-import", "--quiet", "--force"], lines.join(""));
}

/** Everything that a history says but ids, with the value replaced as a purge does. */
function told({ git }: GitRepo): string {
  const refs = git("for-each-ref", "--format=%(refname) %(taggername) %(contents)");
  const branches = git("for-each-ref", "--format=%(refname)").split("\n");
  const format = "--format=%an %ae %at %cn %ct %p %B".replace("%p", "");
  const logs = branches.map((ref) =>
    git("log", "--topo-order", "--graph", "-m", "-p", "--root", format, ref),
  );
  return [refs, ...logs]
    .join("\n")
    .replace(/^([| /\\*]*)index [0-9a-f]+\.\.[0-9a-f]+.*$/gm, "$1index")
    .replaceAll(VALUE, "(purged)");
}

test("whatever the history, only the value is another: texts, messages, authors, dates, merges and tags stay", async () => {
  let rewritten = 0;
  for (const seed of [1, 2, 3, 4, 5, 6]) {
    const repo = gitRepo();
    randomHistory(repo, seed);
    if (seed % 2 === 0) repo.git("gc", "-q");
    const before = told(repo);
    rewritten += await purge(repo);
    expect(told(repo)).toBe(before);
    expect(repo.git("fsck", "--full", "--strict", "--no-dangling")).toBe("");
    const all = repo.gitBytes(["cat-file", "--batch-all-objects", "--batch"]);
    expect(all.includes(VALUE)).toBe(false);
    expect(await purge(repo)).toBe(0);
  }
  expect(rewritten).toBeGreaterThan(100);
});

test("of what the value never touched not one object is another", async () => {
  const repo = gitRepo();
  const { git, gitBytes } = repo;
  gitBytes(
    ["fast-import", "--quiet"],
    ["one", "two"]
      .map(
        (text, n) =>
          `commit refs/heads/main\ncommitter A <a@example.org> ${n} +0000\ndata 1\nx\nM 100644 inline ${text}.md\ndata 4\n${text}\n\n`,
      )
      .join(""),
  );
  const lost = gitBytes(["hash-object", "-w", "--stdin"], "nobody's\n").toString().trim();
  const before = git("rev-list", "--all", "--objects");
  const held = gitBytes(["hash-object", "-w", "--stdin"], `${VALUE}\n`).toString().trim();
  await purge(repo);
  expect(git("rev-list", "--all", "--objects")).toBe(before);
  expect(git("cat-file", "blob", lost)).toBe("nobody's");
  expect(repo.tryGit("cat-file", "-e", held).status).not.toBe(0);
});
