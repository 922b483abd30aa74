/**
 * Whether a text holds a secret: a credential's very value, not a word about one. The library's rules and ours are
 * asked; most texts are done with after one look for literals that all of these values share. Invariant: a value never
 * leaves here but for a purge, only its kind, its line and its fingerprint do.
 */
import { slicer } from "../../lib/slicer.ts";
import { fingerprintOf } from "./fingerprint.ts";
import { LIBRARY_RULES, libraryFinds } from "./library-rules.ts";
import { markerLook } from "./markers.ts";
import { OWN_RULES } from "./own-rules.ts";
import type { Found } from "./rule.ts";
import { urlPassword } from "./url-password.ts";

/** What may be told of a secret, in answers, logs and lists. */
export interface SecretMatch {
  /** Short and stable, such as `github-token`. */
  readonly kind: string;
  /** Of the value's first character in the text that was looked at, from 1. */
  readonly line: number;
  /** 16 hex, by which a person allows the value. */
  readonly fingerprint: string;
}

const LIBRARY = Object.keys(LIBRARY_RULES);
const OWN = [...OWN_RULES, urlPassword];
/** The library's rules first, then ours. */
const look = markerLook([...Object.values(LIBRARY_RULES), ...OWN].map(({ markers }) => markers));

/** Whether `findSecrets` has anything to look for. @param text  or its UTF-8 @cost some 2 µs for 1 kB */
export const mayHoldSecret = (text: string | Uint8Array): boolean => asked(text).length > 0;

/** The numbers of the rules that have something to look for. */
function asked(text: string | Uint8Array): number[] {
  const isText = typeof text === "string";
  const bytes = isText ? Buffer.from(text) : text;
  let whole = isText ? text : null;
  return look(bytes).filter((number) => {
    const hint = OWN[number - LIBRARY.length]?.hint;
    if (hint === undefined) return true;
    whole ??= Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
    return hint.test(whole);
  });
}

/**
 * Find the secrets of a text.
 *
 * @param key     32 bytes of this repository's own; with another one the fingerprints are others
 * @param before  what is committed already: a value that is in it too is no new secret. Null: nothing
 * @returns by line, each value once on a line
 * @cost  for nearly every text the one look; else some 10 ms for 256 KiB and .01 ms for each value, in slices of one
 *   rule at most, and the first time the library is loaded
 */
export async function findSecrets(
  text: string,
  key: Uint8Array,
  before: string | null = null,
): Promise<readonly SecretMatch[]> {
  const found = await findAll(text);
  if (found.length === 0) return [];
  const old = before === null ? [] : await findAll(before);
  const known = new Set(old.map(({ start, end }) => before?.slice(start, end)));
  const matches = new Map<string, SecretMatch>();
  const turn = slicer();
  let line = 1;
  let lineEnd = text.indexOf("\n");
  for (const { kind, start, end } of found) {
    for (; lineEnd >= 0 && lineEnd < start; lineEnd = text.indexOf("\n", lineEnd + 1)) line++;
    const value = text.slice(start, end);
    if (known.has(value)) continue;
    const pause = turn();
    if (pause !== null) await pause;
    const fingerprint = fingerprintOf(value, key);
    const name = `${line} ${fingerprint}`;
    if (!matches.has(name)) matches.set(name, { kind, line, fingerprint });
  }
  return [...matches.values()];
}

/**
 * The values of a text that have one of these fingerprints: for a purge, which takes them out and tells them nobody.
 * @param key as for `findSecrets`
 */
export async function secretsNamed(
  text: string,
  key: Uint8Array,
  fingerprints: ReadonlySet<string>,
): Promise<string[]> {
  const values = (await findAll(text)).map(({ start, end }) => text.slice(start, end));
  return [...new Set(values)].filter((value) => fingerprints.has(fingerprintOf(value, key)));
}

/** By start, each stretch of text by one rule: a form that is known goes before a URL around it. */
async function findAll(text: string): Promise<Found[]> {
  const rules = asked(text);
  if (rules.length === 0) return [];
  // In a string of a program an escape stands where a file has a blank; rules would take its letter for the value's.
  const plain = text.replace(/\\[nrt]/g, "  ");
  const turn = slicer();
  const library = inOrder(
    await libraryFinds(
      plain,
      rules.flatMap((number) => LIBRARY[number] ?? []),
    ),
  );
  const own: Found[] = [];
  for (const [i, rule] of OWN_RULES.entries()) {
    if (!rules.includes(LIBRARY.length + i)) continue;
    const pause = turn();
    if (pause !== null) await pause;
    for (const found of rule.find(plain)) own.push(found);
  }
  const forms = inOrder([...library, ...outside(own, library)]);
  return inOrder([...forms, ...outside([...urlPassword.find(plain)], forms)]);
}

const inOrder = (found: readonly Found[]): Found[] => found.toSorted((a, b) => a.start - b.start);

/** Those that share no character with any of `others`, which are by start. */
function outside(found: readonly Found[], others: readonly Found[]): Found[] {
  const reach: number[] = [];
  for (const { end } of others) reach.push(Math.max(reach.at(-1) ?? 0, end));
  return inOrder(found).filter(({ start, end }) => {
    let [low, high] = [0, others.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((others[middle]?.start ?? 0) < end) low = middle + 1;
      else high = middle;
    }
    // Of the others that begin before its end, none ends after its start.
    return (reach[low - 1] ?? 0) <= start;
  });
}
