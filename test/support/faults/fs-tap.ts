/**
 * Puts a tap between this process and `node:fs`: every call on a watched path, or on a file opened through one, is
 * shown to a hook before it happens and after, and the hook may refuse it or tear it. Synchronous calls, callbacks,
 * promises and `FileHandle` methods are all tapped. Invariant: this module is evaluated before those it shall see,
 * for some keep a function that they imported; so it comes first, by itself, where it is imported.
 */
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { resolve, sep } from "node:path";
import {
  CALLBACK_CALLS,
  dataPlace,
  type FsCall,
  HANDLE_CALLS,
  mutates,
  PROMISE_CALLS,
  pathText,
  SYNC_CALLS,
} from "./fs-calls.ts";

/** What happens instead of a call. */
export interface Fault {
  readonly error: NodeJS.ErrnoException;
  /** How much of the call is done before the error comes: nothing, half of a write's bytes, or all. */
  readonly done: "nothing" | "half" | "all";
  /** Called when that much is done. */
  readonly onDone?: () => void;
}

export interface FsHook {
  before(call: FsCall): Fault | null;
  after?(call: FsCall): void;
}

type Call = (...args: unknown[]) => unknown;

let tapped: { readonly root: string; readonly hook: FsHook } | null = null;
/** Inside a call of Node's own that is made of others. */
let depth = 0;
const fds = new Map<number, string>();
const handles = new WeakMap<object, string>();

/**
 * Begin to tap. One tap at a time.
 * @param root absolute folder; what lies in it is watched
 * @returns takes the tap away again
 */
export function tapFileSystem(root: string, hook: FsHook): () => void {
  tapped = { root, hook };
  return () => {
    tapped = null;
  };
}

/** Do something that no tap sees. */
export function untapped<T>(work: () => T): T {
  depth++;
  try {
    return work();
  } finally {
    depth--;
  }
}

/** An error as Node gives it. */
export function diskError(code: string, call: FsCall): NodeJS.ErrnoException {
  return Object.assign(new Error(`${code}: injected, ${call.op} '${call.path}'`), {
    code,
    syscall: call.op,
    path: call.path,
  });
}

function callOf(op: string, self: unknown, args: readonly unknown[], onHandle: boolean): FsCall | null {
  const [first, second] = args;
  const named = typeof first === "number" ? fds.get(first) : pathText(first);
  const path = onHandle && typeof self === "object" && self !== null ? handles.get(self) : named;
  if (path === undefined || path === null) return null;
  const to = op === "rename" || op === "link" || op === "copyFile" ? pathText(second) : null;
  const flags = op !== "open" ? "" : typeof second === "string" || typeof second === "number" ? second : "r";
  return {
    op,
    path: resolve(path),
    to: to === null ? null : resolve(to),
    mutates: mutates(op, flags),
    flags,
  };
}

/** Who is to be asked about a call; null: nobody. */
function hookFor(call: FsCall | null): FsHook | null {
  if (call === null || tapped === null) return null;
  const { root, hook } = tapped;
  return call.path === root || call.path.startsWith(root + sep) ? hook : null;
}

function opened(call: FsCall, result: unknown): void {
  if (call.op !== "open") return;
  if (typeof result === "number") fds.set(result, call.path);
  else if (typeof result === "object" && result !== null) handles.set(result, call.path);
}

/** A number is free for another file as soon as it is closed. */
function closing(call: FsCall, first: unknown): void {
  if (call.op === "close" && typeof first === "number") fds.delete(first);
}

/** Synchronous and promised calls; a promise is followed to its end. */
function direct(op: string, onHandle: boolean, real: Call, promised: boolean): Call {
  return function (this: unknown, ...args) {
    const call = depth > 0 ? null : callOf(op, this, args, onHandle);
    if (call === null) return real.apply(this, args);
    const hook = hookFor(call);
    const fault = hook?.before(call) ?? null;
    closing(call, args[0]);
    const finish = (value: unknown) => {
      opened(call, value);
      hook?.after?.(call);
      return value;
    };
    depth++;
    try {
      if (fault !== null) return failing(fault, partly(fault, op, onHandle, real, this, args), promised);
      const result = real.apply(this, args);
      return result instanceof Promise ? result.then(finish) : finish(result);
    } finally {
      depth--;
    }
  };
}

/** As much of a call as is done before its error comes. */
function partly(
  { done }: Fault,
  op: string,
  onHandle: boolean,
  real: Call,
  self: unknown,
  args: unknown[],
): unknown {
  const place = dataPlace(op, onHandle);
  if (done === "half" && place !== null) return real.apply(self, halved(args, place));
  // A file is closed whatever close says of it.
  return done === "all" || op === "close" ? real.apply(self, args) : undefined;
}

function failing({ error, onDone }: Fault, part: unknown, promised: boolean): unknown {
  if (promised) {
    return Promise.resolve(part).then(() => {
      onDone?.();
      throw error;
    });
  }
  onDone?.();
  throw error;
}

function withCallback(op: string, real: Call): Call {
  return function (this: unknown, ...args) {
    const call = depth > 0 ? null : callOf(op, this, args, false);
    const last = args.at(-1);
    if (call === null || typeof last !== "function") return real.apply(this, args);
    const hook = hookFor(call);
    const fault = hook?.before(call) ?? null;
    closing(call, args[0]);
    const done = (error: unknown, ...rest: unknown[]) => {
      if (error === null || error === undefined) {
        opened(call, rest[0]);
        hook?.after?.(call);
      }
      fault?.onDone?.();
      last(fault?.error ?? error, ...rest);
    };
    const others = args.slice(0, -1);
    const place = dataPlace(op, false);
    if (fault?.done === "half" && place !== null) return real.apply(this, [...halved(others, place), done]);
    if (fault === null || fault.done === "all" || op === "close") return real.apply(this, [...others, done]);
    setImmediate(done, fault.error);
    return undefined;
  };
}

/** The same arguments with half of the bytes. */
function halved(args: readonly unknown[], place: number): unknown[] {
  const data = args[place];
  const from = args[place + 1];
  const length = args[place + 2];
  if (typeof from === "number" && typeof length === "number") {
    const half = [...args];
    half[place + 2] = Math.floor(length / 2);
    return half;
  }
  const bytes =
    typeof data === "string" ? Buffer.from(data) : data instanceof Uint8Array ? data : Buffer.alloc(0);
  return [...args.slice(0, place), bytes.subarray(0, bytes.length >> 1), ...args.slice(place + 1)];
}

function put(owner: object, name: string, make: (real: Call) => Call): void {
  const real: unknown = Reflect.get(owner, name);
  if (typeof real !== "function") return;
  // A function of Node's own, called as it is called there; what it is marked with (for promisify) goes along.
  const made = make(real as Call);
  Object.defineProperties(made, Object.getOwnPropertyDescriptors(real));
  Reflect.set(owner, name, made);
}

const probe = await fs.promises.open(process.execPath, "r");
const handlePrototype: object = Object.getPrototypeOf(probe);
await probe.close();

for (const op of SYNC_CALLS) put(fs, `${op}Sync`, (real) => direct(op, false, real, false));
for (const op of CALLBACK_CALLS) put(fs, op, (real) => withCallback(op, real));
for (const op of PROMISE_CALLS) put(fs.promises, op, (real) => direct(op, false, real, true));
for (const [name, op] of Object.entries(HANDLE_CALLS))
  put(handlePrototype, name, (real) => direct(op, true, real, true));
syncBuiltinESMExports();
