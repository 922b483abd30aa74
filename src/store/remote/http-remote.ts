/**
 * A remote over HTTP(S), in this process: Git's smart protocol with one request for each question. Of what the remote has
 * only the refs that travel are asked for, and only what they lack here.
 *
 * @see gitprotocol-http(5), gitprotocol-pack(5)
 */
import type { CommitId } from "../../domain/note.ts";
import type { GitLog } from "../history/git-log.ts";
import type { GitObjects } from "../objects/objects.ts";
import { packBuilder } from "../objects/pack-bytes.ts";
import type { Credentials } from "./credentials.ts";
import { type HttpPort, httpPort } from "./http-port.ts";
import { isRace } from "./native-remote.ts";
import { newObjects } from "./new-objects.ts";
import { FLUSH, pktLine, pktLines } from "./pkt-line.ts";
import {
  isMark,
  REVIEWS,
  type RefResult,
  type RefUpdate,
  type Remote,
  RemoteFailure,
  type RemoteWish,
} from "./remote.ts";
import { scrub } from "./remote-url.ts";
import { takePack } from "./take-pack.ts";
import { missingOf } from "./whole-history.ts";

export interface HttpSettings extends RemoteWish {
  readonly gitdir: string;
  readonly url: string;
  readonly objects: GitObjects;
  readonly log: GitLog;
  /** Commits that the remote probably has too, and of which nothing is missing here. */
  readonly haves: () => readonly CommitId[];
  readonly credentials: Credentials;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly limitMs: number;
  /** Tips of this remote that were found whole here, remembered from one sync to the next. */
  readonly whole: Set<CommitId>;
}

interface Advertised {
  readonly refs: ReadonlyMap<string, CommitId>;
  readonly capabilities: ReadonlySet<string>;
}

const AGENT = "agent=notesd";
const NOTHING = "0".repeat(40);

export function httpRemote(settings: HttpSettings): Remote {
  const { gitdir, branch, objects, log, shown } = settings;
  const port = httpPort(settings);
  const ref = `refs/heads/${branch}`;
  const source = { log, readTree: (id: string) => objects.read("tree", id) };
  const { whole } = settings;

  async function bring(wants: readonly CommitId[], capabilities: ReadonlySet<string>): Promise<() => void> {
    const haves = settings.haves();
    const known = ["multi_ack_detailed", "side-band-64k", "ofs-delta", "no-progress"].filter((one) =>
      capabilities.has(one),
    );
    if (!known.includes("side-band-64k"))
      throw new RemoteFailure("broken", "the remote's Git is too old for us");
    const lines = wants.map((id, i) =>
      pktLine(`want ${id}${i === 0 ? ` ${[...known, AGENT].join(" ")}` : ""}\n`),
    );
    const body = Buffer.concat([
      ...lines,
      Buffer.from(FLUSH),
      ...haves.map((id) => pktLine(`have ${id}\n`)),
      pktLine("done\n"),
    ]);
    const { data } = sideBand(await port.post("git-upload-pack", body));
    const written = await takePack(gitdir, data, settings.env);
    return () => written?.release();
  }

  /** What is missing of each tip that was asked for. A tip that is here says nothing of what it reaches. */
  async function holesOf(tips: Iterable<CommitId>): Promise<Map<CommitId, string>> {
    const known = settings.haves().filter((id) => objects.has(id));
    const holes = new Map<CommitId, string>();
    for (const tip of new Set(tips)) {
      if (whole.has(tip)) continue;
      const why = objects.has(tip) ? await missingOf(source, objects, tip, known) : `${tip} is missing`;
      if (why === null) whole.add(tip);
      else holes.set(tip, why);
    }
    return holes;
  }

  return {
    shown,
    async fetch() {
      const { refs, capabilities } = await advertised(port, "git-upload-pack");
      const head = refs.get(ref) ?? null;
      const reviews = new Map([...refs].filter(([name]) => isMark(name)));
      const wanted = [...(head === null ? [] : [head]), ...reviews.values()];
      const lacking = await holesOf(wanted);
      const release = lacking.size === 0 ? () => {} : await bring([...lacking.keys()], capabilities);
      const holes = lacking.size === 0 ? lacking : await holesOf(wanted);
      const hole = head === null ? undefined : holes.get(head);
      if (hole !== undefined) {
        release();
        throw new RemoteFailure(
          "broken",
          `the remote sent a history with holes (${scrub(hole)}); is it a shallow clone?`,
        );
      }
      for (const [name, id] of reviews) if (holes.has(id)) reviews.delete(name);
      const refusedMarks = [...refs.keys()].filter((name) => name.startsWith(REVIEWS) && !reviews.has(name));
      for (const id of whole) if (!wanted.includes(id)) whole.delete(id);
      return { refs: { branch: head, reviews, refusedMarks }, release };
    },
    async push(updates) {
      const { refs, capabilities } = await advertised(port, "git-receive-pack");
      const stale = updates.filter(({ ref: name, from }) => (refs.get(name) ?? null) !== from);
      const going = updates.filter((update) => !stale.includes(update));
      const behind = stale.map(
        ({ ref: name }): RefResult => ({ ref: name, kind: "behind", why: "moved meanwhile" }),
      );
      if (going.length === 0) return behind;
      return [...behind, ...(await send(going, capabilities))];
    },
  };

  async function send(
    updates: readonly RefUpdate[],
    capabilities: ReadonlySet<string>,
  ): Promise<RefResult[]> {
    const wanted = ["report-status", "side-band-64k", "ofs-delta"].filter((one) => capabilities.has(one));
    const pack = packBuilder();
    for (const { to, from } of updates)
      for await (const { type, id } of newObjects(source, to, from === null ? [] : [from]))
        pack.add(type, id, objects.read(type, id));
    const commands = updates.map(({ ref: name, from, to }, i) =>
      pktLine(`${from ?? NOTHING} ${to} ${name}${i === 0 ? `\0 ${[...wanted, AGENT].join(" ")}` : ""}\n`),
    );
    const answer = await port.post(
      "git-receive-pack",
      Buffer.concat([...commands, Buffer.from(FLUSH), pack.finish().pack]),
    );
    return resultsOf(answer, wanted.includes("side-band-64k"), updates);
  }
}

/** What a remote says first: its refs, and what it can. @throws RemoteFailure */
async function advertised(
  port: HttpPort,
  service: "git-upload-pack" | "git-receive-pack",
): Promise<Advertised> {
  const refs = new Map<string, CommitId>();
  let capabilities: ReadonlySet<string> = new Set();
  for (const line of lines(await port.discover(service))) {
    const text = line?.toString("utf8").replace(/\n$/, "") ?? "# ";
    if (text.startsWith("# ")) continue;
    if (text.startsWith("ERR ")) throw new RemoteFailure("broken", scrub(text.slice(4)));
    if (text.startsWith("shallow "))
      throw new RemoteFailure("broken", "the remote is a shallow clone: run git fetch --unshallow there");
    const [named = "", told] = text.split("\0");
    if (told !== undefined) capabilities = new Set(told.trim().split(" "));
    const id = named.slice(0, 40);
    // Checked by the expression: 40 hex digits.
    if (/^[0-9a-f]{40} /.test(named) && id !== NOTHING && !named.endsWith("^{}"))
      refs.set(named.slice(41), id as CommitId);
  }
  return { refs, capabilities };
}

function lines(bytes: Buffer): (Buffer | null)[] {
  try {
    return [...pktLines(bytes)];
  } catch (error) {
    throw new RemoteFailure(
      "broken",
      "the remote's answer is cut short, or that URL is no Git repository",
      error,
    );
  }
}

/** Take an answer's bands apart: 1 what was asked for, 2 words for people, 3 why it ended. */
function sideBand(answer: Buffer): { readonly data: Buffer; readonly words: string } {
  const data: Buffer[] = [];
  let words = "";
  for (const line of lines(answer)) {
    const band = line?.[0];
    if (line === null || band === undefined) continue;
    if (band === 1) data.push(line.subarray(1));
    else if (band === 2) words += line.toString("utf8", 1);
    else if (band === 3) throw new RemoteFailure("broken", scrub(line.toString("utf8", 1).trim()));
    else if (line.toString("latin1", 0, 4) === "ERR ")
      throw new RemoteFailure("broken", scrub(line.toString("utf8", 4).trim()));
  }
  return { data: Buffer.concat(data), words: scrub(words.trim()) };
}

function resultsOf(answer: Buffer, inBands: boolean, updates: readonly RefUpdate[]): RefResult[] {
  const { data, words } = inBands ? sideBand(answer) : { data: answer, words: "" };
  const said = lines(data).flatMap((line) =>
    line === null ? [] : [line.toString("utf8").replace(/\n$/, "")],
  );
  const unpack = said.find((line) => line.startsWith("unpack "));
  if (unpack === undefined)
    throw new RemoteFailure("away", "the remote took a push and did not say what became of it");
  return updates.map(({ ref }) => {
    if (said.includes(`ok ${ref}`)) return { ref, kind: "pushed", why: "" };
    const why = said.find((line) => line.startsWith(`ng ${ref} `))?.slice(`ng ${ref} `.length) ?? unpack;
    return isRace(why)
      ? { ref, kind: "behind", why }
      : { ref, kind: "refused", why: [scrub(why), words].filter((text) => text !== "").join("\n") };
  });
}
