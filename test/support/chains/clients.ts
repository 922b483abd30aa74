/**
 * Many clients on few notes while their daemon is killed: what each asked and was told is recorded, for
 * `violations.ts` to judge. Half of them are the product's own client, which sends again by itself; the others open
 * sockets themselves and, when an answer is lost, send again with their key or, as if they had died, never.
 */
import { connect, NotesError, UnansweredError } from "../../../src/client/client.ts";
import { openRpc, type Rpc, type RunningDaemon, startDaemon } from "../daemon.ts";
import { randomFrom } from "../random.ts";
import { reasonOf } from "./steps.ts";
import type { Operation, Outcome } from "./violations.ts";
import { type Known, nextWish, type Wish } from "./wishes.ts";

export interface ChainsRun {
  readonly operations: readonly Operation[];
  readonly kills: number;
  /** Raw requests that were sent again after their answer was lost, and of these those that had been carried out. */
  readonly resent: number;
  readonly replayed: number;
}

export interface ChainsWish {
  readonly repo: string;
  readonly clients: number;
  readonly notes: number;
  readonly operations: number;
  /** Answers after which the daemon is killed, with whatever is under way then. */
  readonly killEvery: number;
  readonly seed: number;
}

type Send = (wish: Wish, key: string) => Promise<Outcome>;

/** Answers, and refusals of the daemon's, as outcomes. */
function answerOf({ method }: Wish, result: Readonly<Record<string, unknown>>): Outcome {
  // A daemon under test: its own shapes.
  const { revision, commit, metadata } = result as {
    revision?: string | null;
    commit?: string;
    metadata?: { revision: string };
  };
  if (method === "notes.read") return { kind: "ok", revision: metadata?.revision ?? null, commit: null };
  return { kind: "ok", revision: revision ?? null, commit: commit ?? "" };
}

function refusalOf(code: string, data: Readonly<Record<string, unknown>>): Outcome {
  const text = (name: string) => (typeof data[name] === "string" ? String(data[name]) : null);
  return { kind: "refused", code, revision: text("revision"), commit: text("deleted_in") };
}

/** Carry out a run. The daemon is stopped at its end. */
export async function runChains(wish: ChainsWish): Promise<ChainsRun> {
  const random = randomFrom(wish.seed);
  const operations: Operation[] = [];
  let [time, begun, answers, kills, resent, replayed] = [0, 0, 0, 0, 0, 0];
  let daemon = await startDaemon(wish.repo);
  let running: Promise<RunningDaemon> = Promise.resolve(daemon);

  const restart = async () => {
    kills++;
    await daemon.kill();
    daemon = await startDaemon(wish.repo);
    return daemon;
  };
  function answered(): void {
    answers++;
    if (answers % wish.killEvery === 0 && begun < wish.operations) running = running.then(restart);
  }

  /** A client that opens its own sockets. */
  function raw(token: string, rolls: () => number): { send: Send; close(): void } {
    let rpc: Rpc | null = null;
    const once = async (asked: Wish, key: string) => {
      rpc ??= await openRpc((await running).url, token);
      return rpc.reply(asked.method, { ...asked.params, ...(key === "" ? {} : { idempotency_key: key }) });
    };
    const send: Send = async (asked, key) => {
      for (let times = 0; ; times++) {
        try {
          const { result, error } = await once(asked, key);
          if (error) return refusalOf(String(error.data["code"]), error.data);
          if (result.replayed === true) replayed++;
          return answerOf(asked, result);
        } catch {
          // The socket is gone, and the answer with it: exactly what is tested here.
          rpc = null;
          if (key !== "" && times === 0 && rolls() < 0.25) return { kind: "unknown" };
          resent++;
        }
      }
    };
    return { send, close: () => rpc?.close() };
  }

  /** The product's client. */
  async function typed(agent: string): Promise<{ send: Send; close(): void }> {
    await running;
    const client = await connect({ repo: wish.repo, agent, env: {}, awayMs: 60_000 });
    const send: Send = async (asked) => {
      try {
        return answerOf(asked, (await client.callAny(asked.method, asked.params)) as Record<string, unknown>);
      } catch (error) {
        if (error instanceof NotesError) return refusalOf(error.code, error.data);
        if (error instanceof UnansweredError) return { kind: "unknown" };
        throw error;
      }
    };
    return { send, close: () => client.close() };
  }

  const owner = await openRpc(daemon.url, daemon.token);
  const born = new Map<string, Known>();
  for (let i = 0; i < wish.notes; i++) {
    const made = await owner.call("notes.create", {
      title: `Note ${i}`,
      content: "mark\n\nfirst\n\nmiddle\n\nlast\n",
    });
    born.set(made.note_id, { revision: made.revision, commit: made.commit });
  }
  const notes = [...born.keys()];
  const tokens: string[] = [];
  for (let i = 0; i < wish.clients; i++)
    tokens.push((await owner.call("agent.token", { name: `agent-${i}` })).token);
  owner.close();

  async function work(number: number, { send, close }: { send: Send; close(): void }, deletes: boolean) {
    const rolls = randomFrom(wish.seed + number);
    const known = new Map(born);
    while (begun < wish.operations) {
      const id = `c${number}-${begun++}`;
      const note = notes[Math.floor(rolls() * notes.length)] ?? "";
      const before = known.get(note) ?? { revision: null, commit: "" };
      const asked = nextWish(note, before, id, rolls, deletes);
      const isRead = asked.method === "notes.read";
      const { if_revision, on_conflict } = asked.params as { if_revision?: string; on_conflict?: string };
      const invoked = ++time;
      const params = isRead ? asked.params : { ...asked.params, reason: reasonOf(id) };
      const outcome = await send({ ...asked, params }, isRead ? "" : `key of ${id}`);
      operations.push({
        ...{ id, note, kind: isRead ? "read" : "write", ifRevision: if_revision ?? null },
        ...{ merges: on_conflict === "merge", invoked, outcome },
        answered: outcome.kind === "unknown" ? Number.POSITIVE_INFINITY : ++time,
      });
      if (outcome.kind !== "unknown") {
        answered();
        known.set(note, learnt(before, asked, outcome));
      }
    }
    close();
  }

  await Promise.all(
    tokens.map(async (token, number) => {
      // Every fourth is the person, who may delete.
      const isOwner = number % 4 === 3;
      if (number % 2 === 1) return work(number, raw(isOwner ? daemon.token : token, random), isOwner);
      return work(number, await typed(`agent-${number}`), false);
    }),
  );
  await (await running).stop();
  return { operations, kills, resent, replayed };
}

/** What a client knows of the note after an answer. */
function learnt(before: Known, { method }: Wish, outcome: Exclude<Outcome, { kind: "unknown" }>): Known {
  const { revision } = outcome;
  if (outcome.kind === "refused") {
    const isGone = outcome.code === "NOT_FOUND";
    return isGone ? { ...before, revision: null } : { ...before, revision: revision ?? before.revision };
  }
  // A commit at which the note was there stays one: what a later restore goes back to.
  if (method === "notes.delete") return { ...before, revision: null };
  return { revision, commit: outcome.commit ?? before.commit };
}
