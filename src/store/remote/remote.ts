/**
 * A repository elsewhere, as sync sees it: what it has of the refs that travel, with the objects brought here durably,
 * and refs moved there, never by force. How it is reached is `http-remote.ts` and `native-remote.ts`.
 * Invariant: no message that leaves here holds what a URL or a helper knows of passwords.
 */
import type { CommitId } from "../../domain/note.ts";

/** A ref that travels: the branch, or a mark of reviews. */
export interface RefUpdate {
  readonly ref: string;
  /** What the remote was seen to hold; null: no such ref. */
  readonly from: CommitId | null;
  readonly to: CommitId;
}

export interface RefResult {
  readonly ref: string;
  /** `behind`: somebody moved it meanwhile. `refused`: a hook or a rule there says no, and would again. */
  readonly kind: "pushed" | "behind" | "refused";
  /** The other side's words. */
  readonly why: string;
}

export interface RemoteRefs {
  /** Null: the remote has no such branch yet, or nothing at all. */
  readonly branch: CommitId | null;
  /** Marks of reviews, by full name: commits, whole. */
  readonly reviews: ReadonlyMap<string, CommitId>;
  /** Full names of refs among the marks that are none, or whose history isn't whole: nothing is taken or given there. */
  readonly refusedMarks: readonly string[];
}

export interface Remote {
  /** For people: the name, or the URL without credentials. */
  readonly shown: string;
  /**
   * @returns when every object of these refs is here, durably, and nothing prunes it before `release`
   * @throws RemoteFailure
   */
  fetch(): Promise<{ readonly refs: RemoteRefs; release(): void }>;
  /** @throws RemoteFailure no answer; then nobody knows whether it was done */
  push(updates: readonly RefUpdate[]): Promise<readonly RefResult[]>;
}

/** What sync reads of a remote and moves there. */
export interface RemoteWish {
  readonly branch: string;
  readonly shown: string;
  /** Ends whatever is asked; then nobody knows whether it was done. */
  readonly signal?: AbortSignal;
}

export const REVIEWS = "refs/notesd/review/";
const MARK = /^refs\/notesd\/review\/[a-z2-7]{16}$/;

/** Whether a ref's full name is that of a mark: anybody who may push there can make others. */
export const isMark = (ref: string): boolean => MARK.test(ref);

/** Why a remote could not be asked. `away` passes by itself; the others need a person. */
export class RemoteFailure extends Error {
  override readonly name = "RemoteFailure";
  readonly kind: "away" | "denied" | "broken";

  constructor(kind: RemoteFailure["kind"], message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.kind = kind;
  }
}
