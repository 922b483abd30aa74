/**
 * Git's own locks (`index.lock`, `HEAD.lock`, `refs/heads/<b>.lock`), taken as Git takes them and given back.
 * How a lock is known to be ours is `own-locks.ts`. Invariant: whatever fails, a lock of ours is given back: at once,
 * before the next one is taken, or at the next start.
 */
import { randomBytes } from "node:crypto";
import {
  close,
  closeSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { NotesError } from "../../domain/errors.ts";
import type { Clock } from "../../lib/clock.ts";
import { inFolder, linkInto, orAbsent, writeNewSync, writeSynced } from "../../lib/durable-file.ts";
import { asStorageError } from "../storage-error.ts";
import {
  abandonedLocks,
  identity,
  type LockName,
  lockPath,
  locksFolder,
  type Prepared,
  standingOwnLocks,
  unlinkIfThere,
} from "./own-locks.ts";

export interface HeldLocks {
  /** @throws NotesError REPO_BUSY when somebody removed or replaced one of these locks */
  check(): void;
  /** Give a held lock other bytes, e.g. a Git index that had to be prepared again. The bytes are synced. */
  replace(name: LockName, bytes: Uint8Array): void;
  /**
   * Rename a lock over the file it guards, after proving once more that it is ours. The folder is not synced.
   * @throws NotesError REPO_BUSY the lock is no longer ours; the guarded file is as it was
   */
  publish(name: LockName): void;
  /** Remove what is still held and every proof. May be called twice. Never throws: what was done under it stands. */
  release(): void;
}

interface AcquireOptions {
  /** Only for recovery: take over locks that a dead process of ours left. Needs the daemon lock. */
  readonly takeOver?: boolean;
  /** Instead of `lockWaitMs`. */
  readonly waitMs?: number;
}

export interface GitLocks {
  /**
   * Write the bytes that a lock will carry; all are synced. Nothing is locked yet.
   * @param mode permission bits; give those of the guarded file
   */
  prepare(name: LockName, bytes: Uint8Array | string, mode?: number): Promise<Prepared>;
  /** Drop prepared files that were never acquired. */
  discard(prepared: readonly Prepared[]): void;
  /**
   * Take every lock or none, waiting with back-off and jitter while others hold one.
   * @param prepared in the order index, HEAD, ref; discarded when this throws
   * @throws NotesError REPO_BUSY (`state: "locked"`, `path`, `retry_after_ms`) after `lockWaitMs`
   */
  acquire(prepared: readonly Prepared[], options?: AcquireOptions): Promise<HeldLocks>;
  /** Remove the proof that is kept for the next lock. It may be used again. */
  close(): void;
}

interface GitLockSettings {
  readonly gitdir: string;
  readonly clock: Clock;
  readonly lockWaitMs: number;
  /** Called for each lock found that isn't ours. */
  readonly onForeign?: () => void;
  /** 0 ≤ n < 1, for jitter. */
  readonly random?: () => number;
}

const FIRST_WAIT_MS = 1;
const LONGEST_WAIT_MS = 50;
/** Nothing is ever published under this lock, so one empty proof serves every group. */
const EMPTY_LOCK = "HEAD";
/** When what a publication replaced is let go: its answer is out by then. */
const LET_GO_MS = 20;

function busy(name: LockName, why: string, retryAfterMs: number): NotesError {
  return new NotesError("REPO_BUSY", `${name}.lock in the Git directory ${why}`, {
    state: "locked",
    path: `${name}.lock`,
    retry_after_ms: retryAfterMs,
  });
}

const lost = (name: LockName) => busy(name, "was taken from us; nothing was published, send it again", 100);

/** Link our prepared file in as the lock. False: somebody holds it. */
function take(gitdir: string, { name, proof }: Prepared, takeOver: boolean): boolean {
  const path = lockPath(gitdir, name);
  try {
    if (inFolder(dirname(path), () => linkInto(proof, path))) return true;
  } catch (error) {
    // Git removes empty ref folders while we look: the next attempt makes it again.
    if (orAbsent(() => lstatSync(dirname(path))) === null) return false;
    throw error;
  }
  if (!takeOver || !standingOwnLocks(gitdir).includes(name)) return false;
  const bridge = `${proof}.take`;
  try {
    linkSync(proof, bridge);
    renameSync(bridge, path);
  } finally {
    unlinkIfThere(bridge);
  }
  return true;
}

/** The file that a publication replaces, held open; null: there is none, or it can't be, which only costs time. */
function holdOpen(file: string): number | null {
  try {
    return openSync(file, "r");
  } catch {
    return null;
  }
}

/**
 * @param giveBack removes a lock and what proves it
 * @param letGo    gets what `publish` replaced: the blocks of a file are freed when nobody holds it any more, and where a
 *   disk is told of every free block (`discard`) that takes longer than all that is done under the locks
 */
function hold(
  gitdir: string,
  prepared: readonly Prepared[],
  giveBack: (one: Prepared) => void,
  letGo: (fds: number[]) => void,
): HeldLocks {
  const replaced: number[] = [];
  const held = new Map(prepared.map((one) => [one.name, { ...one, id: identity(one.proof) }]));
  const proofs = [...prepared];
  const mine = (name: LockName) => {
    const lock = held.get(name);
    if (lock === undefined) throw new Error(`${name} is not locked`);
    if (lock.id === null || identity(lockPath(gitdir, name)) !== lock.id) throw lost(name);
    return lock;
  };
  return {
    check() {
      for (const name of held.keys()) mine(name);
    },
    replace(name, bytes) {
      const old = mine(name);
      const mode = lstatSync(old.proof).mode & 0o777;
      const proof = proofName(gitdir, name);
      proofs.push({ name, proof });
      // The Git index too: one that a power cut emptied stops a person's Git, and ours.
      if (bytes.length > 0) writeNewSync(proof, bytes, { mode });
      else writeFileSync(proof, bytes, { mode, flag: "wx" });
      const bridge = `${proof}.take`;
      proofs.push({ name, proof: bridge });
      linkSync(proof, bridge);
      renameSync(bridge, lockPath(gitdir, name));
      held.set(name, { name, proof, id: identity(proof) });
    },
    publish(name) {
      mine(name);
      const old = holdOpen(join(gitdir, name));
      if (old !== null) replaced.push(old);
      renameSync(lockPath(gitdir, name), join(gitdir, name));
      held.delete(name);
    },
    release() {
      held.clear();
      for (const one of proofs.splice(0).reverse()) giveBack(one);
      letGo(replaced.splice(0));
    },
  };
}

/** A clock's timers don't keep the process alive, and a command may have nothing else to wait for. */
async function waitFor(clock: Clock, ms: number): Promise<void> {
  const alive = setInterval(() => {}, 2 ** 30);
  try {
    await new Promise<void>((resolve) => clock.after(ms, resolve));
  } finally {
    clearInterval(alive);
  }
}

/** Also beside what a dead process of the same id left. */
const session = randomBytes(6).toString("hex");
let proofs = 0;
const proofName = (gitdir: string, name: LockName) =>
  join(locksFolder(gitdir), `${encodeURIComponent(name)}~${session}-${++proofs}`);

/** Prepare several or none: when one can't be written, those that were are dropped. @throws NotesError STORAGE */
export async function prepareAll(
  locks: Pick<GitLocks, "prepare" | "discard">,
  wanted: readonly Parameters<GitLocks["prepare"]>[],
): Promise<Prepared[]> {
  const outcomes = await Promise.allSettled(wanted.map((one) => locks.prepare(...one)));
  const prepared = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
  const failed = outcomes.find((outcome) => outcome.status === "rejected");
  if (failed === undefined) return prepared;
  locks.discard(prepared);
  throw failed.reason;
}

/** Locks of one repository. `<gitdir>/notesd/locks/` is made when missing. */
export function gitLocks(settings: GitLockSettings): GitLocks {
  const { gitdir, clock, lockWaitMs } = settings;
  const random = settings.random ?? Math.random;
  mkdirSync(locksFolder(gitdir), { recursive: true });
  const abandoned = abandonedLocks(gitdir);

  let kept: Prepared | null = null;

  const giveBack = (one: Prepared) => {
    if (kept === null && one.serves === "every group" && abandoned.free(one)) kept = one;
    else abandoned.giveBack(one);
  };
  const discard = (prepared: readonly Prepared[]) => {
    for (const one of prepared) giveBack(one);
  };
  const letGo = (fds: number[]) => {
    // A reader's file: nothing can fail that anybody would miss.
    if (fds.length > 0) clock.after(LET_GO_MS, () => fds.forEach((fd) => void close(fd, () => {})));
  };

  /** The empty proof of before, when it still stands. */
  function takeKept(): Prepared | null {
    const one = kept;
    kept = null;
    return one !== null && identity(one.proof) !== null ? one : null;
  }

  /** All of them, or the name that somebody else holds and none. */
  const attempt = (prepared: readonly Prepared[], takeOver: boolean): LockName | null => {
    const taken: Prepared[] = [];
    const giveBack = () => {
      for (const one of taken.reverse()) unlinkIfThere(lockPath(gitdir, one.name));
    };
    for (const one of prepared) {
      if (!take(gitdir, one, takeOver)) {
        giveBack();
        return one.name;
      }
      taken.push(one);
    }
    return null;
  };

  return {
    async prepare(name, bytes, mode = 0o644) {
      const isEmpty = name === EMPTY_LOCK && bytes.length === 0;
      const standing = isEmpty ? takeKept() : null;
      if (standing !== null) return standing;
      const proof = proofName(gitdir, name);
      try {
        // The Git index too: one that a power cut emptied stops a person's Git, and ours; and what is unsynced is
        // written out by its rename, under the locks.
        if (bytes.length > 0) await writeSynced(proof, bytes, { mode });
        else closeSync(openSync(proof, "wx", mode));
      } catch (error) {
        abandoned.giveBack({ name, proof });
        throw asStorageError(error, `preparing ${name}`);
      }
      return isEmpty ? { name, proof, serves: "every group" } : { name, proof };
    },
    discard,
    async acquire(prepared, options = {}) {
      const atMostMs = options.waitMs ?? lockWaitMs;
      const deadlineMs = clock.now() + atMostMs;
      try {
        abandoned.sweep();
        for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS)) {
          const taken = attempt(prepared, options.takeOver === true);
          if (taken === null) return hold(gitdir, prepared, giveBack, letGo);
          settings.onForeign?.();
          if (clock.now() >= deadlineMs) {
            const why = `is held by another Git command for ${atMostMs} ms; try again when it is done, and if no Git is running, remove that file`;
            throw busy(taken, why, Math.max(atMostMs, 1_000));
          }
          const pauseMs = waitMs / 2 + random() * waitMs;
          await waitFor(clock, pauseMs);
        }
      } catch (error) {
        discard(prepared);
        throw asStorageError(error, "locking the repository");
      }
    },
    close() {
      if (kept !== null) abandoned.giveBack(kept);
      kept = null;
    },
  };
}
