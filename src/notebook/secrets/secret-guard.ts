/** Secrets that may not get into history: found in a text, not there before, and allowed by nobody. */
import type { SecretMatch } from "../../domain/secrets/secrets.ts";
import { type AllowedSecrets, allowedSecrets } from "./allowed.ts";
import { searchedTexts } from "./searched-texts.ts";

export interface SecretGuard {
  /**
   * The new secrets of a text, by line.
   * @param before what the same note holds in its last commit: its values are in history already. Null: no such note
   */
  find(text: string, before: string | null): Promise<readonly SecretMatch[]>;
  readonly allowed: AllowedSecrets;
}

/**
 * @param stateDir  `<gitdir>/notesd`
 * @param key       32 bytes of `proof.key`, so that a team's daemons give one value one fingerprint
 */
export function secretGuard(stateDir: string, key: Uint8Array, nowMs: () => number): SecretGuard {
  const allowed = allowedSecrets(stateDir, nowMs);
  const search = searchedTexts(key);
  return {
    allowed,
    async find(text, before) {
      const found = await search(text);
      if (found.length === 0) return found;
      const passing = new Set(allowed.list().map(({ fingerprint }) => fingerprint));
      const open = found.filter(({ fingerprint }) => !passing.has(fingerprint));
      if (open.length === 0 || before === null) return open;
      const old = new Set((await search(before)).map(({ fingerprint }) => fingerprint));
      return open.filter(({ fingerprint }) => !old.has(fingerprint));
    },
  };
}
