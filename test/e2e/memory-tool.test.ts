/**
 * The Anthropic memory tool as its documentation tells it: a scripted model works under /memories of a real daemon over
 * a WebSocket, and every reply is compared with the documented text. The same notebook is then read by other doors.
 */
import { expect, test } from "vitest";
import { git, openRpc, type Rpc, servedRepo } from "../support/daemon.ts";

const served = servedRepo();

/** A socket as a new agent. */
async function agent(name: string): Promise<Rpc> {
  const { token } = await served.rpc.call("agent.token", { name });
  return openRpc(served.daemon.url, token);
}

type Turn = readonly [input: Record<string, unknown>, reply: string];

/** Play a conversation: each input of the tool with the reply that the documentation gives for it. */
async function play(rpc: Rpc, turns: readonly Turn[]): Promise<void> {
  for (const [input, reply] of turns)
    expect([input, await rpc.call("memory.run", { ...input })]).toEqual([input, reply]);
}

const listing = (path: string, ...rows: string[]) =>
  [
    `Here're the files and directories up to 2 levels deep in ${path}, excluding hidden items and node_modules:`,
    ...rows,
  ].join("\n");
const content = (path: string, ...rows: string[]) =>
  [`Here's the content of ${path} with line numbers:`, ...rows].join("\n");

const NOTES = "Meeting notes:\n- Discussed project timeline\n- Next steps defined\n";

test("the documented examples of the six commands, and their errors, as one conversation", async () => {
  const model = await agent("documented");
  await play(model, [
    [{ command: "view", path: "/memories" }, listing("/memories", "0B\t/memories")],
    [
      { command: "view", path: "/memories/notes.txt" },
      "The path /memories/notes.txt does not exist. Please provide a valid path.",
    ],
    [
      { command: "create", path: "/memories/notes.txt", file_text: NOTES },
      "File created successfully at: /memories/notes.txt",
    ],
    [
      { command: "create", path: "/memories/notes.txt", file_text: "again" },
      "Error: File /memories/notes.txt already exists",
    ],
    [
      { command: "view", path: "/memories/notes.txt" },
      content(
        "/memories/notes.txt",
        "     1\tMeeting notes:",
        "     2\t- Discussed project timeline",
        "     3\t- Next steps defined",
      ),
    ],
    [
      { command: "view", path: "/memories/notes.txt", view_range: [2, 3] },
      content("/memories/notes.txt", "     2\t- Discussed project timeline", "     3\t- Next steps defined"),
    ],
    [
      { command: "view", path: "/memories/notes.txt", view_range: [1, 10] },
      content(
        "/memories/notes.txt",
        "     1\tMeeting notes:",
        "     2\t- Discussed project timeline",
        "     3\t- Next steps defined",
      ),
    ],
    [
      {
        command: "create",
        path: "/memories/preferences.txt",
        file_text: "Favorite color: blue\nFavorite food: soup",
      },
      "File created successfully at: /memories/preferences.txt",
    ],
    [
      {
        command: "str_replace",
        path: "/memories/preferences.txt",
        old_str: "Favorite color: blue",
        new_str: "Favorite color: green",
      },
      "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n" +
        "     1\tFavorite color: green\n     2\tFavorite food: soup",
    ],
    [
      { command: "str_replace", path: "/memories/preferences.txt", old_str: "color: blue", new_str: "x" },
      "No replacement was performed, old_str `color: blue` did not appear verbatim in /memories/preferences.txt.",
    ],
    [
      { command: "str_replace", path: "/memories/preferences.txt", old_str: "Favorite", new_str: "Best" },
      "No replacement was performed. Multiple occurrences of old_str `Favorite` in lines: 1, 2. Please ensure it is unique",
    ],
    [
      { command: "str_replace", path: "/memories/none.txt", old_str: "a", new_str: "b" },
      "Error: The path /memories/none.txt does not exist. Please provide a valid path.",
    ],
    [
      { command: "create", path: "/memories/todo.txt", file_text: "To do:\n- Write tests\n- Ship\n" },
      "File created successfully at: /memories/todo.txt",
    ],
    [
      {
        command: "insert",
        path: "/memories/todo.txt",
        insert_line: 2,
        insert_text: "- Review memory tool documentation\n",
      },
      "The file /memories/todo.txt has been edited.",
    ],
    [
      { command: "view", path: "/memories/todo.txt" },
      content(
        "/memories/todo.txt",
        "     1\tTo do:",
        "     2\t- Write tests",
        "     3\t- Review memory tool documentation",
        "     4\t- Ship",
      ),
    ],
    [
      { command: "insert", path: "/memories/todo.txt", insert_line: 9, insert_text: "x" },
      "Error: Invalid `insert_line` parameter: 9. It should be within the range of lines of the file: [0, 4]",
    ],
    [
      { command: "insert", path: "/memories/none.txt", insert_line: 0, insert_text: "x" },
      "Error: The path /memories/none.txt does not exist",
    ],
    [
      { command: "rename", old_path: "/memories/todo.txt", new_path: "/memories/done/todo.txt" },
      "Successfully renamed /memories/todo.txt to /memories/done/todo.txt",
    ],
    [
      { command: "rename", old_path: "/memories/draft.txt", new_path: "/memories/final.txt" },
      "Error: The path /memories/draft.txt does not exist",
    ],
    [
      { command: "rename", old_path: "/memories/notes.txt", new_path: "/memories/preferences.txt" },
      "Error: The destination /memories/preferences.txt already exists",
    ],
    [
      { command: "view", path: "/memories", view_range: [1, 10] },
      listing(
        "/memories",
        "169B\t/memories",
        "63B\t/memories/done/",
        "63B\t/memories/done/todo.txt",
        "65B\t/memories/notes.txt",
        "41B\t/memories/preferences.txt",
      ),
    ],
    [{ command: "delete", path: "/memories/notes.txt" }, "Successfully deleted /memories/notes.txt"],
    [
      { command: "delete", path: "/memories/notes.txt" },
      "Error: The path /memories/notes.txt does not exist",
    ],
    [{ command: "delete", path: "/memories/done" }, "Successfully deleted /memories/done"],
    [
      { command: "view", path: "/memories/done/todo.txt" },
      "The path /memories/done/todo.txt does not exist. Please provide a valid path.",
    ],
    [{ command: "delete", path: "/memories" }, "Error: Cannot delete the /memories directory itself"],
  ]);
  model.close();
});

test("a model that is told of a wrong path finds its way, and nothing outside is touched", async () => {
  const model = await agent("lost");
  const head = git(served.repo, "rev-parse", "HEAD");
  await play(model, [
    [
      { command: "view", path: "/memories/../../etc/passwd" },
      "Error: Path /memories/../../etc/passwd would escape /memories directory",
    ],
    [
      { command: "create", path: "/memories/%2e%2e%2f.git/hooks/post-commit", file_text: "x" },
      "Error: Path /memories/%2e%2e%2f.git/hooks/post-commit would escape /memories directory",
    ],
    [
      { command: "create", path: "/etc/passwd", file_text: "x" },
      "Error: Path must start with /memories, got: /etc/passwd",
    ],
    [
      { command: "create", path: "/memories/.git/config", file_text: "x" },
      "Error: Invalid path /memories/.git/config: it holds a name that Git keeps for itself",
    ],
  ]);
  expect(git(served.repo, "rev-parse", "HEAD")).toBe(head);
  await play(model, [
    [
      { command: "create", path: "/memories/plan.md", file_text: "step 1" },
      "File created successfully at: /memories/plan.md",
    ],
    [
      { command: "create", path: "/memories/plan.md/part.md", file_text: "x" },
      "Error: /memories/plan.md/part.md can't be made: /memories/plan.md is a file and not a directory",
    ],
  ]);
  model.close();
});

test("every change is a commit with its author and reason, and a renamed file is there once at each", async () => {
  const model = await agent("committer");
  const run = (input: Record<string, unknown>) => model.call("memory.run", input);
  await run({ command: "create", path: "/memories/a.md", file_text: "one\n", reason: "to keep it" });
  await run({ command: "str_replace", path: "/memories/a.md", old_str: "one", new_str: "two" });
  await run({ command: "insert", path: "/memories/a.md", insert_line: 1, insert_text: "three" });
  await run({ command: "rename", old_path: "/memories/a.md", new_path: "/memories/b.md" });
  await run({ command: "delete", path: "/memories/b.md", reason: "done with" });
  const log = git(served.repo, "log", "-5", "--format=%an|%s|%(trailers:key=Agent,valueonly,separator=%x2C)");
  expect(log.split("\n")).toEqual([
    "committer|delete(agent): b.md|committer",
    "committer|save(agent): b.md|committer",
    "committer|update(agent): a.md|committer",
    "committer|edit(agent): a.md|committer",
    "committer|save(agent): a.md|committer",
  ]);
  expect(git(served.repo, "log", "-1", "--format=%b")).toContain("done with");
  expect(git(served.repo, "log", "-1", "--skip=4", "--format=%b")).toContain("to keep it");
  const files = (commit: string) =>
    git(served.repo, "ls-tree", "-r", "--name-only", commit, "memory/agents/committer");
  expect(files("HEAD~2")).toMatch(/\/a\.md\.md$/);
  expect(files("HEAD~1")).toMatch(/\/b\.md\.md$/);
  expect(files("HEAD~1").split("\n")).toHaveLength(1);
  expect(git(served.repo, "status", "--porcelain")).toBe("");
  expect(git(served.repo, "fsck", "--strict", "--no-dangling")).toBe("");
  model.close();
});

test("notes.save and notes.recall hold the same memory as the files", async () => {
  const model = await agent("saver");
  await model.call("notes.save", { key: "style/tone", value: "brief", scope: "agent", pinned: true });
  await play(model, [
    [
      { command: "view", path: "/memories" },
      listing("/memories", "5B\t/memories", "5B\t/memories/style/", "5B\t/memories/style/tone"),
    ],
    [
      { command: "insert", path: "/memories/style/tone", insert_line: 1, insert_text: "friendly" },
      "The file /memories/style/tone has been edited.",
    ],
    [
      { command: "rename", old_path: "/memories/style", new_path: "/memories/voice" },
      "Successfully renamed /memories/style to /memories/voice",
    ],
  ]);
  expect(await model.call("notes.recall", {})).toMatchObject({
    notes: [
      { key: "voice/tone", value: "brief\nfriendly", scope: "agent", pinned: true, agent_name: "saver" },
    ],
  });
  model.close();
});

test("an agent's /memories are its own, and a person names whose", async () => {
  const [one, other] = [await agent("one"), await agent("other")];
  await one.call("memory.run", { command: "create", path: "/memories/mine.md", file_text: "x" });
  await play(other, [[{ command: "view", path: "/memories" }, listing("/memories", "0B\t/memories")]]);
  const asPerson = await served.rpc.reply("memory.run", { command: "view", path: "/memories" });
  expect(asPerson.error).toMatchObject({
    code: -32602,
    message: expect.stringContaining("target_agent_id"),
    data: { issues: [{ path: "target_agent_id" }] },
  });
  expect(
    await served.rpc.call("memory.run", { command: "view", path: "/memories", target_agent_id: "one" }),
  ).toBe(listing("/memories", "1B\t/memories", "1B\t/memories/mine.md"));
  const foreign = { command: "delete", path: "/memories/mine.md", target_agent_id: "one" };
  expect((await other.reply("memory.run", foreign)).error).toMatchObject({ code: 403 });
  expect(await served.rpc.call("memory.run", foreign)).toBe("Successfully deleted /memories/mine.md");
  one.close();
  other.close();
});

test("a read-only token views and changes nothing", async () => {
  const writer = await agent("shown");
  await writer.call("memory.run", { command: "create", path: "/memories/a", file_text: "x" });
  const { token } = await served.rpc.call("agent.token", { name: "shown", read_only: true });
  const reader = await openRpc(served.daemon.url, token);
  expect(await reader.call("memory.run", { command: "view", path: "/memories/a" })).toContain("     1\tx");
  for (const input of [
    { command: "create", path: "/memories/b", file_text: "x" },
    { command: "str_replace", path: "/memories/a", old_str: "x", new_str: "y" },
    { command: "insert", path: "/memories/a", insert_line: 0, insert_text: "y" },
    { command: "delete", path: "/memories/a" },
    { command: "rename", old_path: "/memories/a", new_path: "/memories/b" },
  ]) {
    expect((await reader.reply("memory.run", input)).error).toMatchObject({ code: 403 });
  }
  writer.close();
  reader.close();
});

test("two sessions of one agent that edit one file at once lose nothing", async () => {
  const [left, right] = [await agent("twice"), await agent("twice")];
  await left.call("memory.run", { command: "create", path: "/memories/log", file_text: "begin\n" });
  const insert = (rpc: Rpc, text: string) =>
    rpc.call("memory.run", { command: "insert", path: "/memories/log", insert_line: 1, insert_text: text });
  const names = Array.from({ length: 10 }, (_, i) => String(i));
  await Promise.all(names.flatMap((name) => [insert(left, `left ${name}`), insert(right, `right ${name}`)]));
  const shown: string = await left.call("memory.run", { command: "view", path: "/memories/log" });
  const lines = shown
    .split("\n")
    .slice(2)
    .map((line) => line.slice(7));
  expect([...lines].sort()).toEqual(names.flatMap((name) => [`left ${name}`, `right ${name}`]).sort());
  // Each session's own come in the order it sent them, the newest first.
  expect(lines.filter((line) => line.startsWith("left"))).toEqual(
    names.map((name) => `left ${name}`).reverse(),
  );
  left.close();
  right.close();
});

test("calls sent together on one socket each see what the one before wrote", async () => {
  const model = await agent("hasty");
  const inputs = [
    { command: "create", path: "/memories/a", file_text: "1" },
    { command: "str_replace", path: "/memories/a", old_str: "1", new_str: "2" },
    { command: "str_replace", path: "/memories/a", old_str: "2", new_str: "3" },
    { command: "rename", old_path: "/memories/a", new_path: "/memories/b/c" },
    { command: "view", path: "/memories/b/c" },
  ];
  const replies = await Promise.all(inputs.map((input) => model.call("memory.run", input)));
  expect(replies.at(-1)).toBe(content("/memories/b/c", "     1\t3"));
  model.close();
});
