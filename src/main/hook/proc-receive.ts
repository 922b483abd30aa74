/**
 * `proc-receive`: a push to `refs/for/<branch>`, which is behind or not. Git leaves the ref to us: the daemon merges
 * the pushed commit note-shaped, and the answer in the terminal names the merge or the conflicts.
 *
 * @see spec: storage, section 6 · githooks(5), proc-receive
 */
import type { Readable } from "node:stream";
import { Joined } from "../../doors/hook.ts";
import type { GitPlace } from "../../lib/git-dir.ts";
import { FLUSH, pktLine, readPackets } from "../../lib/pkt-line.ts";
import { askDaemon } from "./ask-daemon.ts";

/** It waits for its turn in the writer's queue. */
const JOIN_WITHIN_MS = 120_000;
const MOST_CONFLICTS = 20;

interface Streams {
  readonly stdin: Readable;
  /** To receive-pack. */
  send(text: string): void;
  /** To the pusher's terminal. */
  say(text: string): void;
}

/** Speak Git's protocol to its end. @returns the hook's exit code */
export async function procReceive(
  place: GitPlace,
  env: NodeJS.ProcessEnv,
  streams: Streams,
): Promise<number> {
  const packets = readPackets(streams.stdin);
  const [version = ""] = await section(packets);
  if (!/^version=1(?:\0|$)/.test(version)) {
    streams.say("notesd speaks version 1 of Git's proc-receive, and this Git another.\n");
    return 1;
  }
  streams.send(pktLine("version=1") + FLUSH);
  for (const command of await section(packets)) {
    const [, to = "", ref = ""] = command.split(" ");
    const why = await take(place, env, to, streams);
    streams.send(pktLine(why === null ? `ok ${ref}` : `ng ${ref} ${why}`));
  }
  streams.send(FLUSH);
  return 0;
}

/** The packets up to a flush. */
async function section(packets: AsyncGenerator<string | null>): Promise<string[]> {
  const found: string[] = [];
  for (;;) {
    const { value, done } = await packets.next();
    if (done === true || value === null) return found;
    found.push(value);
  }
}

/** Have the daemon join a commit. @returns why not, in few words; null: the branch has it */
async function take(
  place: GitPlace,
  env: NodeJS.ProcessEnv,
  tip: string,
  { say }: Streams,
): Promise<string | null> {
  const { GIT_COMMITTER_NAME: name, GIT_COMMITTER_EMAIL: email } = env;
  const author = name && email ? { name, email } : null;
  const answer = await askDaemon(place, "/hooks/proc-receive", { tip, author }, JOIN_WITHIN_MS);
  if (answer === null) {
    say(
      `notesd does not run there, and it is the daemon that merges. Start it (notesd start), or fetch and push.\n`,
    );
    return "no daemon merges here";
  }
  const joined = Joined.parse(answer);
  if (joined.kind === "refused") {
    say(`notesd did not merge this: ${joined.why}\n`);
    return "not merged";
  }
  say(wordsFor(joined));
  return null;
}

function wordsFor({ kind, commit, conflicts }: Exclude<Joined, { kind: "refused" }>): string {
  if (kind === "up_to_date") return "notesd has this already.\n";
  if (kind === "fast_forward") return `notesd took it as it is: ${commit}\n`;
  const lines = [`notesd merged it: ${commit}`, "    Get the merge with git pull."];
  if (conflicts.length > 0) {
    lines.push(
      "  Some of it does not merge. There the notes stay as they were, and yours is kept beside them:",
      ...conflicts.slice(0, MOST_CONFLICTS).map(({ path, note_id }) => `    ${path}  (${note_id})`),
      ...(conflicts.length > MOST_CONFLICTS ? [`    and ${conflicts.length - MOST_CONFLICTS} more`] : []),
      "    See both with notesd conflicts, and update each note to what it should be.",
    );
  }
  return `${lines.join("\n")}\n`;
}
