/**
 * A remote over HTTP(S), in this process: Git's smart protocol with one request for each question. Of what the remote has
 * only the refs that travel are asked for, and only what they lack here.
 *
 * @see gitprotocol-http(5), gitprotocol-pack(5)
 */
import type { CommitId } from "../../domain/note.ts";
import { FLUSH, pktLine } from "../../lib/pkt-line.ts";
import type { GitLog } from "../history/git-log.ts";
import type { ObjectId } from "../objects/object-id.ts";
import type { GitObjects } from "../objects/objects.ts";
import { packBuilder } from "../objects/pack-bytes.ts";
import type { Credentials } from "./credentials.ts";
import { httpPort } from "./http-port.ts";
import { type IncomingPack, MOST_PACK_BYTES, receivePack } from "./incoming-pack.ts";
import { newObjects } from "./new-objects.ts";
import { refusePurged } from "./refuse-purged.ts";
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
import { bandOne, NOTHING, readAdvertised, readReport } from "./smart-answers.ts";
import { missingOf } from "./whole-history.ts";

export interface HttpSettings extends RemoteWish {
  readonly gitdir: string;
  readonly url: string;
  readonly objects: GitObjects;
  readonly log: GitLog;
  /** The history as other objects tell it. */
  readonly logOf: (objects: GitObjects) => GitLog;
  /** Commits that the remote probably has too, and of which nothing is missing here. */
  readonly haves: () => readonly CommitId[];
  readonly credentials: Credentials;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly limitMs: number;
  /** What was purged here. */
  readonly purged: () => ReadonlySet<ObjectId>;
  /** Tips of this remote that were found whole here, remembered from one sync to the next. */
  readonly whole: Set<CommitId>;
}

const NOTHING_TO_BRING = { holes: new Map<CommitId, string>(), release() {} };
const AGENT = "agent=notesd";
/** What a remote says of a push. */
const MOST_REPORT_BYTES = 16 << 20;
/** A pack, and what its bands add. */
const MOST_ANSWER_BYTES = MOST_PACK_BYTES + (64 << 20);

export function httpRemote(settings: HttpSettings): Remote {
  const { gitdir, branch, objects, log, shown } = settings;
  const port = httpPort(settings);
  const ref = `refs/heads/${branch}`;
  const { whole } = settings;

  async function receive(
    wants: readonly CommitId[],
    capabilities: ReadonlySet<string>,
  ): Promise<IncomingPack> {
    const known = ["multi_ack_detailed", "side-band-64k", "ofs-delta", "no-progress"].filter((one) =>
      capabilities.has(one),
    );
    if (!known.includes("side-band-64k"))
      throw new RemoteFailure("broken", "the remote's Git is too old for us");
    const lines = wants.map((id, i) => `want ${id}${i === 0 ? ` ${[...known, AGENT].join(" ")}` : ""}`);
    const haves = settings.haves().map((id) => pktLine(`have ${id}`));
    const body = [...lines.map(pktLine), FLUSH, ...haves, pktLine("done")].join("");
    const answer = await port.post("git-upload-pack", Buffer.from(body), MOST_ANSWER_BYTES);
    return receivePack(gitdir, bandOne(answer), settings.env);
  }

  /** What is missing of each tip, whether a pack that came is counted or not. A tip that is here says nothing of what it reaches. */
  async function holesOf(
    tips: Iterable<CommitId>,
    incoming: GitObjects | null,
  ): Promise<Map<CommitId, string>> {
    const known = settings.haves().filter((id) => objects.has(id));
    const all = incoming === null ? objects : inBoth(incoming, objects);
    const source = sourceOf(all, incoming === null ? log : settings.logOf(all));
    const holes = new Map<CommitId, string>();
    for (const tip of new Set(tips)) {
      if (whole.has(tip)) continue;
      const why = all.has(tip) ? await missingOf(source, all, tip, known) : `${tip} is missing`;
      if (why !== null) holes.set(tip, why);
    }
    return holes;
  }

  /**
   * Bring what is missing of the remote's tips. A pack is one of ours only when it makes a tip whole: another one would
   * stay for ever, and come again with each sync.
   * @returns what is missing even then @throws RemoteFailure broken: the branch isn't whole
   */
  async function bring(
    head: CommitId | null,
    lacking: readonly CommitId[],
    capabilities: ReadonlySet<string>,
  ): Promise<{ readonly holes: ReadonlyMap<CommitId, string>; release(): void }> {
    const incoming = await receive(lacking, capabilities);
    try {
      refusePurged(settings.purged(), incoming.ids(), shown);
      const holes = await holesOf(lacking, incoming.objects);
      const hole = head === null ? undefined : holes.get(head);
      if (hole !== undefined)
        throw new RemoteFailure(
          "broken",
          `the remote sent a history with holes (${scrub(hole)}); is it a shallow clone?`,
        );
      const written = holes.size < lacking.length ? await incoming.place() : null;
      return { holes, release: () => written?.release() };
    } finally {
      await incoming.discard();
    }
  }

  return {
    shown,
    async fetch() {
      const { refs, capabilities } = await readAdvertised(await port.discover("git-upload-pack"));
      const head = refs.get(ref) ?? null;
      const purged = settings.purged();
      const reviews = new Map([...refs].filter(([name, id]) => isMark(name) && !purged.has(id)));
      if (head !== null) refusePurged(purged, [head], shown);
      const wanted = new Set([...(head === null ? [] : [head]), ...reviews.values()]);
      const lacking = [...(await holesOf(wanted, null)).keys()];
      const { holes, release } =
        lacking.length === 0 ? NOTHING_TO_BRING : await bring(head, lacking, capabilities);
      whole.clear();
      for (const id of wanted) if (!holes.has(id)) whole.add(id);
      for (const [name, id] of reviews) if (holes.has(id)) reviews.delete(name);
      const refusedMarks = [...refs.keys()].filter((name) => name.startsWith(REVIEWS) && !reviews.has(name));
      return { refs: { branch: head, reviews, refusedMarks }, release };
    },
    async push(updates) {
      const { refs, capabilities } = await readAdvertised(await port.discover("git-receive-pack"));
      const stale = updates.filter(({ ref: name, from }) => (refs.get(name) ?? null) !== from);
      const going = updates.filter((update) => !stale.includes(update));
      const behind = stale.map(
        ({ ref: name }): RefResult => ({ ref: name, kind: "behind", why: "moved meanwhile" }),
      );
      if (going.length === 0) return behind;
      const head = refs.get(ref);
      const known = head !== undefined && objects.has(head) ? [head] : [];
      return [...behind, ...(await send(going, known, capabilities))];
    },
  };

  /** @param known commits that are there, with all that they reach */
  async function send(
    updates: readonly RefUpdate[],
    known: readonly CommitId[],
    capabilities: ReadonlySet<string>,
  ): Promise<RefResult[]> {
    const wanted = ["report-status", "side-band-64k", "ofs-delta"].filter((one) => capabilities.has(one));
    const pack = packBuilder();
    const source = sourceOf(objects, log);
    for (const { to, from } of updates)
      for await (const { type, id } of newObjects(source, to, [
        ...new Set(from === null ? known : [from, ...known]),
      ]))
        pack.add(type, id, objects.read(type, id));
    const commands = updates.map(({ ref: name, from, to }, i) =>
      pktLine(`${from ?? NOTHING} ${to} ${name}${i === 0 ? `\0 ${[...wanted, AGENT].join(" ")}` : ""}`),
    );
    const body = Buffer.concat([Buffer.from([...commands, FLUSH].join("")), pack.finish().pack]);
    const answer = await port.post("git-receive-pack", body, MOST_REPORT_BYTES);
    return readReport(answer, wanted.includes("side-band-64k"), updates);
  }
}

const sourceOf = (objects: Pick<GitObjects, "read">, log: GitLog) => ({
  log,
  readTree: (id: string) => objects.read("tree", id),
});

/** The objects of a pack that came, and those that are here. */
function inBoth(incoming: GitObjects, objects: GitObjects): GitObjects {
  return {
    ...objects,
    find: (id) => incoming.find(id) ?? objects.find(id),
    has: (id) => incoming.has(id) || objects.has(id),
    read(type, id) {
      const found = incoming.find(id);
      return found?.type === type ? found.bytes : objects.read(type, id);
    },
  };
}
