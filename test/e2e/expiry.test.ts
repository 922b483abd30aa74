/** A note that expires in a running daemon: hidden at once, removed a little later, brought back by whoever may. */
import { expect, test } from "vitest";
import { git, notesd, openRpc, servedRepo } from "../support/daemon.ts";
import { until } from "../support/wait.ts";

const served = servedRepo();
const SOON_HOURS = 0.0002;

test("an agent's note expires for everybody, is told of, and comes back for who may delete it", async () => {
  const { rpc, daemon, repo } = served;
  const tokenOf = async (name: string) => (await rpc.call("agent.token", { name })).token;
  const [planner, other] = [
    await openRpc(daemon.url, await tokenOf("planner")),
    await openRpc(daemon.url, await tokenOf("other")),
  ];
  const { subscription_id } = await other.call("notes.subscribe");
  const made = await planner.call("notes.create", {
    ...{ title: "Short lived", content: "for a moment", expires_in_hours: SOON_HOURS },
  });
  const hidden = await until("it to be hidden", async () => {
    const { error } = await other.reply("notes.read", { note_id: made.note_id });
    return error?.data;
  });
  expect(hidden).toMatchObject({ code: "NOT_FOUND" });
  expect((await rpc.call("notes.list")).notes).toEqual([]);
  expect((await rpc.call("notes.search", { query: "moment" })).total).toBe(0);
  const told = await until("the event", () =>
    other.notifications.find(({ params }) => params["action"] === "expire"),
  );
  expect(told.params).toMatchObject({
    ...{ note_id: made.note_id, title: "Short lived", revision: null, agent_id: null, author_name: "notesd" },
    ...{ reason: expect.stringMatching(/^expired 20\d\d-/), trust: "agent", source: "api", subscription_id },
  });
  const deleted = await other.reply("notes.read", { note_id: made.note_id });
  expect(deleted.error?.data).toMatchObject({ deleted_in: told.params["commit"] });
  expect(git(repo, "log", "-1", "--format=%an|%s")).toBe("notesd|expire(general): Short lived");
  expect(git(repo, "status", "--porcelain")).toBe("");

  const restore = { note_id: made.note_id, at: made.commit };
  expect((await other.reply("notes.restore", restore)).error?.data).toMatchObject({ code: "FORBIDDEN" });
  await planner.call("notes.restore", restore);
  expect(await other.call("notes.read", { note_id: made.note_id })).toMatchObject({
    ...{ content: "for a moment", metadata: { expires_at: null, agent_name: "planner", trust: "agent" } },
  });
  const log = notesd(["log", "--note", made.note_id, "--repo", repo]);
  expect(log.match(/(?:restore|expire|create)(?=\(general\))/g)).toEqual(["restore", "expire", "create"]);
  for (const socket of [planner, other]) socket.close();
});
