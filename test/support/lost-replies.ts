/**
 * Rounds in which the reply is lost after the commit and the daemon is killed there: it is a real process, the socket
 * is cut, and the product's client is on its other end. What it answers at last is for the test to judge.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Client, connect } from "../../src/client/client.ts";
import { reasonOf } from "./chains/steps.ts";
import { git, type RunningDaemon, startDaemon } from "./daemon.ts";
import { lossyProxy } from "./lossy-proxy.ts";

export interface Round {
  readonly method: string;
  /** Of the commit that was there when the daemon was killed. */
  readonly commit: string;
  /** Whether the daemon had said nothing yet when it was killed. */
  readonly beforeReply: boolean;
  /** What the client was answered in the end. */
  readonly answer: unknown;
}

export const roundName = (number: number): string => `round-${number}`;

/** Carry out rounds on a repository; their commits say `roundName`. The last daemon is left running. */
export async function loseReplies(
  repo: string,
  rounds: number,
): Promise<{ readonly rounds: readonly Round[]; readonly daemon: RunningDaemon }> {
  const proxy = await lossyProxy();
  const config = { branch: "main", hosts: [`127.0.0.1:${proxy.port}`] };
  writeFileSync(join(repo, ".git/notesd/config.json"), JSON.stringify(config));
  let daemon = await startDaemon(repo);
  const lead = () => proxy.to(Number(new URL(daemon.http).port));
  lead();
  const url = `http://127.0.0.1:${proxy.port}`;
  const client = await connect({ url, token: daemon.token, env: {} });
  const done: Round[] = [];
  const wishes = wishesOf(client);
  for (let number = 0; number < rounds; number++) {
    const { method, params } = await wishes(number);
    const before = tipOf(repo);
    const replied = proxy.lose();
    const answer = client.callAny(method, { ...params, reason: reasonOf(roundName(number)) });
    // By turns as soon as the branch has moved, and when the first bytes of the reply have come and gone.
    await (number % 2 === 0 ? moved(repo, before) : replied);
    const beforeReply = proxy.lostBytes === 0;
    const killed = daemon.kill();
    proxy.drop();
    await killed;
    const commit = git(repo, "rev-parse", "HEAD");
    daemon = await startDaemon(repo);
    lead();
    done.push({ method, commit, beforeReply, answer: await answer });
  }
  client.close();
  await proxy.close();
  return { rounds: done, daemon };
}

const tipOf = (repo: string): string => readFileSync(join(repo, ".git/refs/heads/main"), "utf8").trim();

/** Resolves in the turn of the loop in which the branch is seen to have moved. */
async function moved(repo: string, from: string): Promise<void> {
  while (tipOf(repo) === from) await new Promise((resolve) => setImmediate(resolve));
}

/** Every kind of write in turn; the first five after the create are of the note that it made. */
function wishesOf(client: Client) {
  let [note_id, there] = ["", ""];
  return async (number: number): Promise<{ method: string; params: Record<string, unknown> }> => {
    const name = roundName(number);
    switch (number % 9) {
      case 0:
        return { method: "notes.create", params: { title: name, content: `made in ${name}\n` } };
      case 1: {
        const { notes } = await client.notes.list({ limit: 1 });
        note_id = notes[0]?.note_id ?? "";
        return { method: "notes.append", params: { note_id, content: `added in ${name}\n` } };
      }
      case 2: {
        const { metadata } = await client.notes.read({ note_id });
        const params = { note_id, if_revision: metadata.revision, status: "resolved", title: name };
        return { method: "notes.update", params };
      }
      case 3:
        return {
          method: "notes.edit",
          params: { note_id, old_str: "made in", new_str: `edited in ${name}` },
        };
      case 4:
        there = (await client.notes.history({ note_id, limit: 1 })).entries[0]?.commit ?? "";
        return { method: "notes.delete", params: { note_id } };
      case 5:
        return { method: "notes.restore", params: { note_id, at: there } };
      case 6:
        return { method: "notes.save", params: { key: "where", value: `in ${name}\n`, scope: "workspace" } };
      case 7:
        return { method: "feedback.save", params: { key: "how", rule: `as in ${name}`, scope: "workspace" } };
      default:
        return { method: "notes.run", params: { action: "create", title: name, content: "run\n" } };
    }
  };
}
