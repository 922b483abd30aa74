/** A person's stopped rebase and their way out of it, as a client of a real daemon sees them. */
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { cleanEnv, git, servedRepo } from "../support/daemon.ts";
import { until } from "../support/wait.ts";

const served = servedRepo();

function commit(text: string): void {
  mkdirSync(join(served.repo, "notes"), { recursive: true });
  writeFileSync(join(served.repo, "notes/clash.md"), text);
  git(served.repo, "add", "-A");
  git(served.repo, "commit", "-q", "-m", text);
}

test("a rebase that stops is told to subscribers, in daemon.status and in the refusal; its end is too, and writes go on", async () => {
  commit("one\n");
  git(served.repo, "checkout", "-q", "-b", "side");
  commit("two\n");
  git(served.repo, "checkout", "-q", "main");
  commit("three\n");
  await served.rpc.call("notes.subscribe");
  const told = () =>
    served.rpc.notifications.flatMap(({ method, params }) => (method === "daemon.state" ? [params] : []));

  const options = { cwd: served.repo, env: cleanEnv(), stdio: "ignore" } as const;
  expect(() => execFileSync("git", ["rebase", "--exec", "false", "side"], options)).toThrow();
  // The notes on both sides were merged and stop no rebase: only the command after their commit did.
  expect(git(served.repo, "ls-files", "--unmerged")).toBe("");
  expect(git(served.repo, "log", "--format=%s", "HEAD~2..")).toBe("three\ntwo");
  await until("the rebase to be told", () => told().at(-1)?.["state"] === "rebase");
  expect(told().at(-1)).toEqual({ state: "rebase", path: "rebase-merge", since: expect.any(String) });
  expect(await served.rpc.call("daemon.status")).toMatchObject({
    state: "rebase",
    state_detail: { path: "rebase-merge" },
  });
  const refused = await served.rpc.reply("notes.create", { title: "Refused", content: "refused" });
  expect(refused.error).toMatchObject({
    code: 503,
    data: { code: "REPO_BUSY", state: "rebase", retry_after_ms: expect.any(Number) },
  });

  git(served.repo, "rebase", "--abort");
  await until("its end to be told", () => told().at(-1)?.["state"] === "ok");
  const made = await served.rpc.call("notes.create", { title: "Goes on", content: "goes on" });
  expect(git(served.repo, "rev-parse", "main")).toBe(made.commit);
  expect(git(served.repo, "status", "--porcelain")).toBe("");
});
