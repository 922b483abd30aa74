/**
 * The command line's host: what commands need of files, processes and the terminal, for real. What only some
 * commands need (the daemon, Git) is loaded when they run, so that a `notesd list` starts quickly.
 */
import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import type { CliHost, Flags, Io } from "../doors/cli/host.ts";
import { allowedSecrets } from "../notebook/secrets/allowed.ts";
import { changeConfig } from "./config-file.ts";
import { runningDaemons } from "./daemon-list.ts";
import { logFile, startDetached, stopDaemon } from "./detached.ts";
import { openIdentities } from "./identities/identities.ts";
import { program } from "./program-file.ts";
import { CONFIG_FILE, checkSettingName, settingFromText } from "./read-settings.ts";
import { resolvePlace, resolveSettings, type Surroundings } from "./resolve.ts";

/** The host over this process's own environment and streams. */
export function createCliHost(): CliHost {
  const io = processIo();
  const { env } = process;
  const cwd = process.cwd();
  const around: Surroundings = { env, cwd, warn: (text) => io.err(`notesd: ${text}\n`) };
  return {
    version: program.version,
    env,
    cwd,
    io,
    async init(flags) {
      const [{ init }, { initPlace }] = [await import("./init.ts"), await import("./init-place.ts")];
      const dir = await initPlace({ dir: flags.dir, cwd, here: flags.here, ask: io.ask });
      const { roots, branch, remote } = flags;
      return init({ dir, roots, branch, remote, env, nowMs: Date.now() });
    },
    async deinit(flags) {
      const { deinit } = await import("./deinit.ts");
      return deinit(flags, around);
    },
    locate: (flags) => resolvePlace(flags, around),
    async serve(flags) {
      const { serve } = await import("./serve.ts");
      return serve(flags, around, (text) => io.err(text));
    },
    async startDetached(flags) {
      const place = await resolvePlace(flags, around);
      const command = [
        process.execPath,
        program.bin,
        "start",
        "--repo",
        place.root,
        ...(await flagWords(flags, cwd)),
      ];
      return startDetached(place, command, env);
    },
    stop: stopDaemon,
    listDaemons: async () =>
      (await runningDaemons(env)).map(({ place, daemon }) => ({
        repo: place.root,
        url: daemon.url,
        pid: daemon.pid,
        started_at: daemon.started_at,
      })),
    async recover(flags) {
      const { recover } = await import("./recover.ts");
      return recover(flags, around);
    },
    async purge(flags, wish) {
      const { purge } = await import("./purge/purge.ts");
      return purge(flags, around, wish);
    },
    async doctor(flags) {
      const { doctor } = await import("./doctor.ts");
      return doctor(flags, around);
    },
    logFile,
    identities: (place) => openIdentities(`${place.gitDir}/notesd`, Date.now),
    async getProofKey(place) {
      const { proofKeyText } = await import("./read-proof-key.ts");
      return proofKeyText(`${place.gitDir}/notesd/proof.key`);
    },
    async setProofKey(place, text, replace) {
      const { setProofKey } = await import("./proof-key.ts");
      return setProofKey(place, text, replace, Date.now());
    },
    allowedSecrets: (place) => allowedSecrets(`${place.gitDir}/notesd`, Date.now),
    async allowSecret(place, fingerprint) {
      const { allowSecret } = await import("./allow-secret.ts");
      return allowSecret(place, fingerprint, around);
    },
    async getConfig(flags, key) {
      if (key !== null) checkSettingName(key);
      const { settings } = await resolveSettings(flags, around);
      return key === null ? settings : at(settings, key.split("."));
    },
    async setConfig(place, key, text) {
      checkSettingName(key);
      const value = text === "null" ? undefined : settingFromText(key, text);
      await changeConfig(place, (now) => withValue(now, key.split("."), value));
    },
    interrupted,
  };
}

/**
 * Flags as words for a daemon of its own process. It runs in another folder, so paths are made absolute and
 * the settings file of this folder is named.
 */
async function flagWords(flags: Flags, cwd: string): Promise<string[]> {
  const words: string[] = [];
  const config = resolve(cwd, flags.config ?? CONFIG_FILE);
  if (flags.config !== undefined || (await stat(config).catch(() => null))) words.push("--config", config);
  if (flags.host !== undefined) words.push("--host", flags.host);
  if (flags.port !== undefined) words.push("--port", String(flags.port));
  for (const root of flags.roots ?? []) words.push("--roots", root);
  return words;
}

function at(value: unknown, path: readonly string[]): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return value;
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
  return at(Object.getOwnPropertyDescriptor(value, key)?.value, rest);
}

function withValue(object: object, path: readonly string[], value: unknown): object {
  const [key, ...rest] = path;
  if (key === undefined) return object;
  if (rest.length === 0) return { ...object, [key]: value };
  const below = at(object, [key]);
  return {
    ...object,
    [key]: withValue(typeof below === "object" && below !== null ? below : {}, rest, value),
  };
}

let interruption: Promise<void> | null = null;

/** One promise for every asker, so that waiting in a loop adds no listeners. */
function interrupted(): Promise<void> {
  interruption ??= new Promise((resolve) => {
    process.once("SIGINT", () => resolve());
    process.once("SIGTERM", () => resolve());
  });
  return interruption;
}

/** Nothing of what is typed is written anywhere. */
async function askHidden(question: string): Promise<string> {
  const { stdin, stderr } = process;
  stderr.write(`${question} `);
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const prompt = createInterface({ input: stdin, output: silent, terminal: true });
  const answer = await prompt.question("");
  prompt.close();
  stderr.write("\n");
  return answer;
}

function processIo(): Io {
  const { stdin, stdout, stderr, env } = process;
  const ask = async (question: string) => {
    const prompt = createInterface({ input: stdin, output: stderr });
    const answer = await prompt.question(`${question} [Y/n] `);
    prompt.close();
    return /^(?:y|yes)?$/i.test(answer.trim());
  };
  return {
    out: (text) => void stdout.write(text),
    err: (text) => void stderr.write(text),
    async readInput() {
      const chunks: Buffer[] = [];
      for await (const chunk of stdin) chunks.push(Buffer.from(chunk));
      return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.concat(chunks));
    },
    ask: stdin.isTTY && stderr.isTTY ? ask : null,
    askSecret: stdin.isTTY && stderr.isTTY ? askHidden : null,
    colour: stdout.isTTY === true && !env["NO_COLOR"] && env["TERM"] !== "dumb",
    columns: stdout.columns ?? Number.POSITIVE_INFINITY,
  };
}
