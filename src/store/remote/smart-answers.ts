/**
 * What a Git host says in Git's smart protocol, read: its refs, its bands, and what became of a push. How it is asked is
 * `http-port.ts`, and when `http-remote.ts`.
 *
 * @see gitprotocol-pack(5)
 */
import type { CommitId } from "../../domain/note.ts";
import { readPayloads } from "../../lib/pkt-line.ts";
import { isRace } from "./native-remote.ts";
import { type RefResult, type RefUpdate, RemoteFailure } from "./remote.ts";
import { scrub } from "./remote-url.ts";

type Bytes = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

export interface Advertised {
  readonly refs: ReadonlyMap<string, CommitId>;
  readonly capabilities: ReadonlySet<string>;
}

/** The id that stands for no object. */
export const NOTHING = "0".repeat(40);

/** What a remote says first: its refs, and what it can. @throws RemoteFailure */
export async function readAdvertised(answer: Bytes): Promise<Advertised> {
  const refs = new Map<string, CommitId>();
  let capabilities: ReadonlySet<string> = new Set();
  for await (const line of payloads(answer)) {
    const text = line?.toString("utf8").replace(/\n$/, "") ?? "# ";
    if (text.startsWith("# ")) continue;
    if (text.startsWith("ERR ")) throw new RemoteFailure("broken", scrub(text.slice(4)));
    if (text.startsWith("shallow "))
      throw new RemoteFailure("broken", "the remote is a shallow clone: run git fetch --unshallow there");
    const [named = "", told] = text.split("\0");
    if (told !== undefined) capabilities = new Set(told.trim().split(" "));
    const id = named.slice(0, 40);
    // A tag's second line is no ref.
    if (!/^[0-9a-f]{40} /.test(named) || id === NOTHING || named.endsWith("^{}")) continue;
    // Checked by the expression: 40 hex digits.
    refs.set(named.slice(41), id as CommitId);
  }
  return { refs, capabilities };
}

async function* payloads(answer: Bytes): AsyncGenerator<Buffer | null> {
  try {
    yield* readPayloads(answer);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new RemoteFailure(
      "broken",
      "the remote's answer is cut short, or that URL is no Git repository",
      error,
    );
  }
}

/**
 * What was asked for, as it comes: band 1. Band 2 is words for people, band 3 says why it ended.
 * @throws RemoteFailure
 */
export async function* bandOne(
  answer: Bytes,
  tell: (words: string) => void = () => {},
): AsyncGenerator<Buffer> {
  for await (const line of payloads(answer)) {
    const band = line?.[0];
    if (line === null || band === undefined) continue;
    if (band === 1) yield line.subarray(1);
    else if (band === 2) tell(line.toString("utf8", 1));
    else if (band === 3) throw new RemoteFailure("broken", scrub(line.toString("utf8", 1).trim()));
    else if (line.toString("latin1", 0, 4) === "ERR ")
      throw new RemoteFailure("broken", scrub(line.toString("utf8", 4).trim()));
  }
}

/** What became of each update of a push. @throws RemoteFailure away: it doesn't say */
export async function readReport(
  answer: Bytes,
  inBands: boolean,
  updates: readonly RefUpdate[],
): Promise<RefResult[]> {
  let words = "";
  const report: Uint8Array[] = [];
  const add = (text: string) => {
    words += text;
  };
  for await (const part of inBands ? bandOne(answer, add) : answer) report.push(part);
  const said: string[] = [];
  for await (const line of payloads(report))
    if (line !== null) said.push(line.toString("utf8").replace(/\n$/, ""));
  const unpack = said.find((line) => line.startsWith("unpack "));
  if (unpack === undefined)
    throw new RemoteFailure("away", "the remote took a push and did not say what became of it");
  return updates.map(({ ref }) => {
    if (said.includes(`ok ${ref}`)) return { ref, kind: "pushed", why: "" };
    const why = said.find((line) => line.startsWith(`ng ${ref} `))?.slice(`ng ${ref} `.length) ?? unpack;
    return isRace(why)
      ? { ref, kind: "behind", why }
      : {
          ref,
          kind: "refused",
          why: [scrub(why), scrub(words.trim())].filter((text) => text !== "").join("\n"),
        };
  });
}
