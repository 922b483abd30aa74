/** Secrets for tests: a made-up kind with its finder, and values that have a real form and are of nobody. */
import { createHash } from "node:crypto";
import { fingerprintOf as keyed } from "../../src/domain/secrets/fingerprint.ts";
import type { SecretFinder } from "../../src/notebook/reconcile/secret-check.ts";

export const NO_SECRETS: SecretFinder = { find: async () => [], isAllowed: () => false, noteHeld() {} };

const hex = (text: string) => createHash("sha256").update(text).digest("hex");

/** A token as a Git host gives it, the same for one name. */
export const tokenOf = (name: string) => ["gh", "p_", hex(name).slice(0, 36)].join("");
/** Finds what `tokenOf` makes. */
export const TOKEN = new RegExp(["gh", "p_[0-9a-f]{36}"].join(""), "g");
/** What a notebook whose proof key is all zeros calls a value. */
export const tokenFingerprint = (value: string) => keyed(value, new Uint8Array(32));

/** A secret of the made-up kind. @param name letters and digits */
export const secretOf = (name: string) => `SEKRET-${name}-${name}`;
export const fingerprintOf = (value: string) => hex(value).slice(0, 16);

export interface MadeSecrets extends SecretFinder {
  readonly allowed: Set<string>;
  /** Fingerprints of what was held, with where. */
  readonly noted: string[];
  /** Texts that were searched so far. */
  searched: number;
}

/** Finds what `secretOf` makes. */
export function madeSecrets(): MadeSecrets {
  const finder: MadeSecrets = {
    allowed: new Set(),
    noted: [],
    searched: 0,
    isAllowed: (fingerprint) => finder.allowed.has(fingerprint),
    noteHeld: ({ fingerprint }, path) => void finder.noted.push(`${fingerprint} ${path}`),
    async find(text) {
      finder.searched++;
      return text.split("\n").flatMap((line, i) =>
        (line.match(/SEKRET-(\w+)-\1\b/g) ?? []).map((value) => ({
          kind: "made",
          line: i + 1,
          fingerprint: fingerprintOf(value),
        })),
      );
    },
  };
  return finder;
}
