/**
 * Who hears of what, from where. The log of the repository is the buffer: the notebook tells of each move of the
 * branch, subscribers and `notes.changes` read from the log. Nothing is kept for a listener but its position.
 * Invariant: from any cursor each change comes once, in order, and equal byte for byte whenever it is read.
 */
import { NotesError } from "../../domain/errors.ts";
import type { CommitEvents } from "../../domain/event.ts";
import type { NoteFilter } from "../../domain/filters.ts";
import type { CommitId } from "../../domain/note.ts";
import type { NoteChange, NoteIndex } from "../../index/note-index.ts";
import type { Warn } from "../../lib/bus.ts";
import type { NoteStore } from "../../store/note-store.ts";
import type { ChangesPage, Listener, Subscription } from "../notebook.ts";
import type { Told } from "./batch.ts";
import { parseCursor } from "./cursor.ts";
import type { Heads, Via } from "./heads.ts";
import { type LogMemory, LogReader, type Position } from "./log-reader.ts";
import { observeTip } from "./observe-tip.ts";
import { page } from "./replay.ts";
import { holdStrayHeads } from "./stray-heads.ts";
import { LogSubscription } from "./subscription.ts";

/** A move of the branch that the index has folded already. */
export type BranchMove =
  /** A chain of our own single-parent commits on the known head, oldest first. */
  | { readonly kind: "own"; readonly commits: readonly CommitEvents[] }
  | { readonly kind: "other"; readonly to: CommitId; readonly via: Via };

interface FeedDeps {
  readonly store: Pick<NoteStore, "diff" | "history" | "commitInfo" | "readBlob" | "isAncestor">;
  readonly index: Pick<NoteIndex, "fileAt" | "noteAt" | "holds" | "head" | "apply">;
  readonly heads: Heads;
  readonly warn: Warn;
  readonly memory?: LogMemory;
}

export class Feed {
  readonly #deps: FeedDeps;
  readonly #log: LogReader;
  readonly #subscriptions = new Set<LogSubscription>();
  #moves: Promise<void> = Promise.resolve();

  private constructor(deps: FeedDeps, log: LogReader) {
    this.#deps = deps;
    this.#log = log;
  }

  /**
   * Open the feed at the head of the index, after the index has folded the branch's tip and before anyone
   * writes. Recorded heads that the branch left (a reset) are folded too, without moving the index.
   */
  static async open(deps: FeedDeps): Promise<Feed> {
    const log = new LogReader(deps);
    await holdStrayHeads(deps);
    await observeTip(deps.heads, deps.store, deps.index.head, (commit) => log.has(commit));
    return new Feed(deps, log);
  }

  /** The cursor of the head: everything so far is before it. */
  get cursor(): string {
    return this.#log.cursor(this.#log.end());
  }

  /**
   * Tell of a move, in the order of the branch, after the index folded it. Never throws for a listener's sake.
   *
   * @param changes what `index.apply` returned for an own move; empty for others
   * @returns when `changes` and subscribers can read it; a move by others is then durable in the record
   */
  live(move: BranchMove, changes: readonly NoteChange[]): Promise<void> {
    const done = this.#moves.then(() => this.#advance(move, changes));
    this.#moves = done.catch(() => {});
    return done;
  }

  /**
   * A page of what a subscription from `since` would have sent.
   * @param since a cursor; a commit id is one, `BEGINNING` too
   * @throws NotesError UNKNOWN_COMMIT with `data.resync_from`
   */
  async changes(since: string, limit: number, filter: NoteFilter): Promise<ChangesPage> {
    return page(this.#log, await this.#position(since), limit, filter);
  }

  /**
   * Start sending events after `since`, from the next turn of the loop on.
   * @param since as for `changes`; null for the head
   * @throws NotesError UNKNOWN_COMMIT with `data.resync_from`
   */
  async subscribe(listener: Listener, filter: NoteFilter, since: string | null): Promise<Subscription> {
    const start = since === null ? this.#log.end() : await this.#position(since);
    const ended = () => void this.#subscriptions.delete(subscription);
    const subscription: LogSubscription = new LogSubscription(
      this.#log,
      start,
      listener,
      filter,
      this.#deps.warn,
      ended,
    );
    this.#subscriptions.add(subscription);
    return subscription;
  }

  /**
   * Whether a proved commit was made by this daemon, and not by another that has the same key. Of what is older than
   * the record the proof alone tells, unless the record began with this repository: then it came with the clone.
   */
  async madeHere(commit: CommitId): Promise<boolean> {
    const move = await this.#log.broughtBy(commit);
    return move === null ? this.#deps.heads.start.n > 0 : move.kind === "own";
  }

  /** End every subscription and make the record of heads durable. */
  async close(): Promise<void> {
    for (const subscription of [...this.#subscriptions]) subscription.unsubscribe();
    await this.#moves;
    await this.#deps.heads.close();
  }

  async #advance(move: BranchMove, changes: readonly NoteChange[]): Promise<void> {
    const { heads } = this.#deps;
    const to = move.kind === "own" ? move.commits.at(-1)?.commit.id : move.to;
    if (to === undefined || to === heads.head) return;
    if (move.kind === "own" && isChainFrom(heads.head, move.commits)) this.#own(move.commits, to, changes);
    else {
      const seen = { back: await this.#log.isBack(to), again: await this.#log.has(to) };
      await heads.other(to, move.kind === "own" ? "live" : move.via, seen);
    }
    for (const subscription of this.#subscriptions) subscription.grown();
  }

  #own(commits: readonly CommitEvents[], to: CommitId, changes: readonly NoteChange[]): void {
    const { heads } = this.#deps;
    const after = heads.head;
    const { n } = heads.own(to, { again: this.#log.remembers(to) });
    const heard = this.#subscriptions.size > 0;
    this.#log.learn(n, after, commits, heard ? commits.map((events) => toldOf(events, changes)) : null);
  }

  async #position(since: string): Promise<Position> {
    const cursor = parseCursor(since);
    if (!cursor) throw new NotesError("INVALID_PARAMS", `${JSON.stringify(since)} is no cursor.`);
    return this.#log.locate(cursor);
  }
}

/** Single-parent commits, one on the other, from the head on. Anything else is no move of kind `own`. */
function isChainFrom(head: CommitId | null, commits: readonly CommitEvents[]): boolean {
  return commits.every(({ commit }, i) => {
    const expected = i === 0 ? head : commits[i - 1]?.commit.id;
    return commit.parents.length <= 1 && (commit.parents[0] ?? null) === (expected ?? null);
  });
}

/** What the index said of one commit's notes, where both sides are what a batch wants to know. */
function toldOf({ commit }: CommitEvents, changes: readonly NoteChange[]): Told {
  const own = changes.filter((change) => change.commit === commit.id);
  return (path, noteId) => {
    const all = own.filter((change) => change.path === path && change.noteId === noteId);
    return all.length === 1 ? (all[0] ?? null) : null;
  };
}
