/**
 * What the command line needs of the process around it: starting and stopping daemons, files of a
 * repository, the terminal. `main/bin.ts` brings it, so that no command loads Git.
 */
import type { DaemonFile } from "../../client/discover.ts";
import type { GitPlace } from "../../lib/git-dir.ts";
import type { AllowedSecrets } from "../../notebook/secrets/allowed.ts";
import type { PurgeReport, PurgeWish } from "./purge-report.ts";

/** The terminal, or what stands in for it. */
export interface Io {
  /** Results, and nothing else. */
  out(text: string): void;
  /** Progress, warnings, errors. */
  err(text: string): void;
  /** Everything on standard input, as UTF-8. */
  readInput(): Promise<string>;
  /** A yes or no from a person; null when there is no terminal to ask at. */
  readonly ask: ((question: string) => Promise<boolean>) | null;
  /** One line from a person that the terminal doesn't show; null or absent when there is no terminal to ask at. */
  readonly askSecret?: ((question: string) => Promise<string>) | null;
  /** Whether results may be coloured. */
  readonly colour: boolean;
  /** Width of the terminal, in columns; Infinity where nothing needs to be cut: a pipe, a file. */
  readonly columns: number;
}

/** Settings given on the command line; absent ones are for the layers below. */
export interface Flags {
  readonly repo?: string;
  readonly config?: string;
  readonly host?: string;
  readonly port?: number;
  readonly roots?: readonly string[];
}

interface InitFlags {
  readonly dir: string | null;
  readonly here: boolean;
  readonly roots: readonly string[] | null;
  readonly branch: string | null;
  readonly remote: string | null;
}

export interface InitReport {
  readonly repo: string;
  readonly branch: string;
  readonly roots: readonly string[];
  /** True when there was no repository before. */
  readonly made: boolean;
  /** True when it was marked before: nothing but refreshing was done. */
  readonly again: boolean;
  readonly markdown_outside_roots: number;
}

export interface DeinitReport {
  readonly repo: string;
  /** Keys of Git's config that were ours and are gone. */
  readonly unset: readonly string[];
  /** The folder of ours that stays, absolute: what a later `init` needs to believe earlier commits. */
  readonly state_folder: string;
  /** `notes_index.json` is there, so it stays, and the line of .git/info/exclude that hides it. */
  readonly index_file_stays: boolean;
}

interface ListedDaemon {
  readonly repo: string;
  readonly url: string;
  readonly pid: number;
  readonly started_at: string;
}

export interface AgentToken {
  readonly agent: string;
  readonly agent_id: number;
  /** Shown this once. */
  readonly token: string;
}

export interface AgentWish {
  readonly name: string;
  readonly mcp: boolean;
  readonly readOnly: boolean;
}

/** A token as it may be shown. */
export interface TokenShown {
  /** 8 hex digits that say nothing of the token. */
  readonly id: string;
  readonly created_at: string;
  /** To the minute or so; null: never, or not since that is noted. */
  readonly last_used_at: string | null;
}

export interface AgentTokenShown extends TokenShown {
  readonly read_only: boolean;
  readonly mcp: boolean;
}

export interface AgentShown {
  readonly agent: string;
  readonly agent_id: number;
  /** How many. */
  readonly tokens: number;
  /** Whether it has tokens and all of them only read. */
  readonly read_only: boolean;
  readonly revoked: boolean;
  /** Of its first token; null: it has none. */
  readonly created_at: string | null;
  readonly token_list: readonly AgentTokenShown[];
}

export interface PersonShown {
  readonly name: string;
  readonly email: string;
  /** The one whose token is the file's. */
  readonly owner: boolean;
  readonly tokens: number;
  readonly token_list: readonly TokenShown[];
}

export interface PersonToken {
  readonly name: string;
  readonly email: string;
  /** Shown this once. */
  readonly token: string;
}

/**
 * Who may call one repository, kept in its files. What is revoked is refused at once, whoever else has the files open.
 * Each change may end in NotesError REPO_BUSY: others were at it.
 */
export interface Identities {
  /**
   * Make or find an agent and a further token of it. A revoked one comes back.
   * @throws NotesError INVALID_PARAMS, CONFLICT (clash of ids)
   */
  addAgent(wish: AgentWish): Promise<AgentToken>;
  agents(): readonly AgentShown[];
  /**
   * Drop every token of an agent, by name or id, which then comes back by `addAgent` alone; or one token, by its id.
   * @throws NotesError NOT_FOUND
   */
  revokeAgent(ref: string, tokenId?: string): Promise<{ agent: string; agent_id: number }>;
  /**
   * One new token for all that an agent has. It only reads, or is an MCP client's, where all of them did.
   * @throws NotesError NOT_FOUND
   */
  rotateAgent(ref: string): Promise<AgentToken>;
  /** @throws NotesError INVALID_PARAMS a name or address that would break a commit's header */
  addPerson(person: { name: string; email: string }): Promise<PersonToken>;
  persons(): readonly PersonShown[];
  /**
   * Drop every token of a person, by address or name, or one token, by its id. The owner's file token is rotated and
   * not revoked. @throws NotesError NOT_FOUND, CONFLICT two persons have the name
   */
  revokePerson(ref: string, tokenId?: string): Promise<{ name: string; email: string }>;
  /**
   * One new token for all that a person has. The owner's lies in the file `token` afterwards.
   * @throws NotesError NOT_FOUND, CONFLICT
   */
  rotatePerson(ref: string): Promise<PersonToken & { readonly owner: boolean }>;
}

/** One thing that `doctor` looked at. `note`: worth knowing, nothing to repair. */
export interface Finding {
  readonly name: string;
  readonly state: "ok" | "note" | "bad";
  readonly text: string;
}

export interface CliHost {
  readonly version: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly io: Io;
  init(flags: InitFlags): Promise<InitReport>;
  /** Make a note repository a plain one again. @throws ProcessError ALREADY_RUNNING, USAGE */
  deinit(flags: Flags): Promise<DeinitReport>;
  /** The repository that is meant. @throws ProcessError USAGE */
  locate(flags: Flags): Promise<GitPlace>;
  /** Serve in this process until a signal. @returns the exit code */
  serve(flags: Flags): Promise<number>;
  /** Start a daemon of its own process and wait until it answers. @throws ProcessError */
  startDetached(flags: Flags): Promise<DaemonFile>;
  /** Stop the daemon of a repository and wait until it is gone. @throws ProcessError NO_DAEMON */
  stop(place: GitPlace): Promise<DaemonFile>;
  listDaemons(): Promise<readonly ListedDaemon[]>;
  /** What a start does before it serves, without serving. @returns sentences about what was done */
  recover(flags: Flags): Promise<readonly string[]>;
  /** Everything that a start or a write depends on, looked at. @throws ProcessError USAGE */
  doctor(flags: Flags): Promise<readonly Finding[]>;
  /**
   * Look for what is to be purged, or purge it; see `main/purge/purge.ts`.
   * @throws ProcessError ALREADY_RUNNING, USAGE, BUSY; NotesError
   */
  purge(flags: Flags, wish: PurgeWish): Promise<PurgeReport>;
  /** The log that a detached daemon writes. */
  logFile(place: GitPlace): string;
  identities(place: GitPlace): Identities;
  /** What looks like a secret and is none, kept in the repository's files. */
  allowedSecrets(place: GitPlace): AllowedSecrets;
  /** Allow one in the name of the person, and have a daemon look at held edits anew. @returns false: it was already */
  allowSecret(place: GitPlace, fingerprint: string): Promise<boolean>;
  /** All settings that hold, or one by its dotted name (undefined when unset). */
  /** The key that proves commits, 64 hex. @throws ProcessError USAGE there is none */
  getProofKey(place: GitPlace): Promise<string>;
  /**
   * Take another daemon's key over; the one before stays beside it. The daemon must not run.
   * @param replace also where history has commits that the present key proves
   * @returns false: it is the present one
   * @throws ProcessError USAGE no key, or history would be lost; ALREADY_RUNNING
   */
  setProofKey(place: GitPlace, text: string, replace: boolean): Promise<boolean>;
  getConfig(flags: Flags, key: string | null): Promise<unknown>;
  /** Set one in the repository's config.json. @throws ProcessError USAGE */
  setConfig(place: GitPlace, key: string, text: string): Promise<void>;
  /** Resolves when a person wants a command that goes on for ever to end. */
  interrupted(): Promise<void>;
}
