/**
 * One daemon, wired once, in this order: preflight, lock, store with its recovery, index, notebook, doors, and
 * last `daemon.json`, which says that it answers; files are looked at beside that. `stop` undoes it backwards.
 * Invariant: whatever fails on the way up leaves nothing held and nothing announced.
 *
 * @see spec: protocol, section 6 · storage, section 3 (Start)
 */
import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Daemon } from "../actions/action.ts";
import { openRpc } from "../actions/describe.ts";
import { createQuota } from "../actions/gate/quota.ts";
import { registry } from "../actions/registry.ts";
import { type DaemonFile, daemonFilePath } from "../client/discover.ts";
import { createRefusalLog } from "../doors/refusal-log.ts";
import type { Clock } from "../lib/clock.ts";
import { writeDurably } from "../lib/durable-file.ts";
import { errorFields, type Log } from "../lib/log.ts";
import { isPurgeOpen } from "../store/purge/plan-file.ts";
import { allRoots } from "./attributes.ts";
import { delist, enlist, runningDaemons } from "./daemon-list.ts";
import { hooksChanged, hooksFolder, refreshHooks, writeLauncher } from "./hooks.ts";
import { type Identities, openIdentities } from "./identities/identities.ts";
import { ensureAttributes } from "./init.ts";
import { openDoors } from "./open-doors.ts";
import { openNotes } from "./open-notes.ts";
import { openSync } from "./open-sync.ts";
import { personOf } from "./person.ts";
import { checkRepository } from "./preflight.ts";
import { program } from "./program-file.ts";
import { quotaLimits } from "./quota-limits.ts";
import type { Resolved } from "./resolve.ts";
import { takeLock } from "./take-lock.ts";

interface DaemonSurroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Log;
  readonly clock: Clock;
}

export interface RunningDaemon {
  readonly file: DaemonFile;
  /** Take no more requests, finish what was accepted, flush, and let go of everything. */
  stop(): Promise<void>;
}

/** @throws ProcessError ALREADY_RUNNING, PORT_TAKEN, USAGE; NotesError STORAGE */
export async function startDaemon(resolved: Resolved, around: DaemonSurroundings): Promise<RunningDaemon> {
  const { place, settings } = resolved;
  const { env, log, clock } = around;
  const undo: (() => Promise<void> | void)[] = [];
  const unwind = async () => {
    for (const step of undo.splice(0).reverse()) {
      try {
        await step();
      } catch (error) {
        // Each of the others must still be let go; what was acknowledged is durable already.
        log.error("a part could not be closed", errorFields(error));
      }
    }
  };
  try {
    await checkRepository(place, settings.branch ?? "main", settings.roots ?? []);
    const lock = await takeLock(place);
    undo.push(() => lock.release());
    // Under the lock any daemon.json is ours or a dead one's. Gone last, so that after it a new start finds no lock.
    undo.push(() => rm(daemonFilePath(place), { force: true }));
    if (isPurgeOpen(place.gitDir)) log.warn(await (await import("./purge/purge.ts")).finishPurge(resolved));
    const roots = allRoots(settings.roots ?? []);
    await ensureAttributes(place, roots);
    await writeLauncher(place, process.execPath, program.bin);
    await refreshHooks(place);
    const changed = await hooksChanged(place);
    if (changed) log.warn(changed);

    const person = await personOf(place, env);
    const identities = openIdentities(join(place.gitDir, "notesd"), clock.now);
    await identities.ownerToken(person);
    undo.push(keepUses(identities, clock, log));
    const notes = await openNotes(resolved, { person, log, clock, env });
    undo.push(() => notes.close());

    const sync = openSync(notes, settings.sync ?? {}, { env, log, clock });
    undo.push(() => sync.stop());
    notes.setRemote(sync.fetchedMs);

    const refusals = createRefusalLog(log, clock);
    const startedMs = clock.now();
    const nonce = randomBytes(32).toString("hex");
    const daemon: Daemon = {
      status: async () => ({
        version: program.version,
        protocol: program.protocol,
        repo: place.root,
        uptime_s: Math.floor((clock.now() - startedMs) / 1000),
        search: "memory",
        embedder: null,
        durability: settings.durability ?? "full",
        roots,
        url: file.url,
      }),
      agentToken: identities.useAgent,
      agentName: identities.agentName,
      sync,
      quota: createQuota(quotaLimits(settings), clock),
      refused: refusals.refused,
      openrpc: () => openRpc(registry, program.version),
    };
    const doors = await openDoors({
      notebook: notes.notebook,
      daemon,
      hooks: notes.hooks,
      git: {
        root: place.root,
        hooks: hooksFolder(place),
        env,
        clock,
        log,
        personAtGit: notes.hooks.push.personAtGit,
        refused: refusals.refused,
      },
      settings,
      nonce,
      authenticate: identities.authenticate,
      tokensAt: identities.tokensAt,
      refusals,
      holder: async (port) =>
        (await runningDaemons(env)).find((one) => one.daemon.port === port)?.place.root ?? null,
      log,
      clock,
    });
    undo.push(() => doors.close());

    const file: DaemonFile = {
      pid: process.pid,
      host: doors.host,
      port: doors.port,
      url: doors.url,
      started_at: new Date(startedMs).toISOString(),
      nonce,
      version: program.version,
      protocol: program.protocol,
    };
    await writeDurably(daemonFilePath(place), `${JSON.stringify(file)}\n`, { mode: 0o600 });
    undo.push(() => delist(env, place));
    await enlist(env, place).catch((error) => {
      // Only list-daemons misses it.
      log.warn("this daemon could not be listed", errorFields(error));
    });
    sync.start();
    log.info("ready", { repo: place.root, url: file.url, pid: process.pid });
    return { file, stop: unwind };
  } catch (error) {
    await unwind();
    throw error;
  }
}

const USES_KEPT_MS = 300_000;

/** Keep now and then when tokens were used. @returns the end of it, which keeps the last */
function keepUses(identities: Pick<Identities, "flush">, clock: Clock, log: Log): () => Promise<void> {
  // Only the list of tokens shows it.
  const keep = () =>
    identities
      .flush()
      .catch((error) => log.warn("when tokens were used could not be kept", errorFields(error)));
  let cancel = () => {};
  let ended = false;
  const again = () => {
    if (ended) return;
    cancel = clock.after(USES_KEPT_MS, () => {
      void keep().then(again);
    });
  };
  again();
  return async () => {
    ended = true;
    cancel();
    await keep();
  };
}
