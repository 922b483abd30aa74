/** A machine that has Node and no Git: a notebook's whole life there, then looked at by real Git. */
import { mkdirSync, readFileSync, renameSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { git, notesd, openRpc, type Rpc, removeFolder, startDaemon, tempFolder } from "../support/daemon.ts";
import { packFiles } from "../support/packs.ts";
import { until } from "../support/wait.ts";

let top: string;
let repo: string;
let env: NodeJS.ProcessEnv;
beforeAll(() => {
  top = tempFolder();
  repo = join(top, "notes");
  mkdirSync(join(top, "bin"));
  symlinkSync(process.execPath, join(top, "bin/node"));
  env = { PATH: join(top, "bin"), HOME: top };
});
afterAll(() => removeFolder(top));

async function served<T>(work: (rpc: Rpc) => Promise<T>, end: "stop" | "kill" = "stop"): Promise<T> {
  const daemon = await startDaemon(repo, [], env);
  const rpc = await openRpc(daemon.url, daemon.token);
  try {
    return await work(rpc);
  } finally {
    rpc.close();
    if (end === "kill") await daemon.kill();
    else expect(await daemon.stop()).toBe(0);
  }
}

const packs = () => packFiles({ gitdir: join(repo, ".git") }, ".pack").length;

test("init, every kind of write and read, hand edits, a restart, a kill and upkeep work with no Git on PATH", async () => {
  notesd(["init", repo], { env });
  const kept = await served(async (rpc) => {
    const note = await rpc.call("notes.create", { title: "Without Git", content: "first words\n" });
    await rpc.call("notes.update", { note_id: note.note_id, content: "second words, heliotrope\n" });
    expect((await rpc.call("notes.read", { note_id: note.note_id })).content).toContain("heliotrope");
    expect((await rpc.call("notes.search", { query: "heliotrope" })).results).toMatchObject([
      { note_id: note.note_id },
    ]);
    const { entries } = await rpc.call("notes.history", { note_id: note.note_id });
    expect(entries).toMatchObject([{ action: "update" }, { action: "create" }]);
    const gone = await rpc.call("notes.create", { title: "Not for long", content: "x\n" });
    await rpc.call("notes.delete", { note_id: gone.note_id });
    expect((await rpc.reply("notes.read", { note_id: gone.note_id })).error?.data["code"]).toBe("NOT_FOUND");

    // By hand: a new file, an edit, a rename, a deletion.
    writeFileSync(join(repo, "notes/mine.md"), "# Mine\n\nby hand\n");
    writeFileSync(join(repo, "notes/old.md"), "# Old\n\nwill go\n");
    writeFileSync(
      join(repo, note.path),
      readFileSync(join(repo, note.path), "utf8").replace("second", "third"),
    );
    await rpc.call("notes.commit", { reason: "by hand" });
    renameSync(join(repo, "notes/mine.md"), join(repo, "notes/moved.md"));
    unlinkSync(join(repo, "notes/old.md"));
    await rpc.call("notes.commit", {});
    expect((await rpc.call("notes.read", { note_id: note.note_id })).content).toContain("third words");
    return note;
  });

  await served(async (rpc) => {
    expect((await rpc.call("notes.read", { note_id: kept.note_id })).content).toContain("third words");
    for (let n = 0; n < 260; n++)
      await rpc.call("notes.create", { title: `Note ${n}`, content: `text ${n}\n` });
    expect(packs()).toBeLessThanOrEqual(250);
    await until("few packs to be left", () => packs() <= 50, 60_000);
    expect((await rpc.call("daemon.verify")).problems).toEqual([]);
  }, "kill");

  await served(async (rpc) => {
    expect((await rpc.call("notes.list", {})).total).toBe(262);
    expect((await rpc.call("daemon.verify")).problems).toEqual([]);
  });

  expect(git(repo, "fsck", "--strict", "--no-dangling")).toBe("");
  expect(git(repo, "status", "--porcelain")).toBe("");
  expect(git(repo, "ls-files", "notes/moved.md", "notes/mine.md", "notes/old.md")).toBe("notes/moved.md");
  for (const idx of packFiles({ gitdir: join(repo, ".git") }, ".idx"))
    git(repo, "verify-pack", join(".git/objects/pack", idx));
  expect(git(repo, "log", "--format=%s", "--", "notes/moved.md")).not.toBe("");
});
