/**
 * When each token was last used: noted in memory at each use, and kept in `<gitdir>/notesd/last-used.json` now and then
 * for `agent list`. Invariant: nobody waits for it, and nothing but that list depends on it.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { orAbsent, writeDurably } from "../../lib/durable-file.ts";
import { jsonOrNull } from "../../lib/json-text.ts";

/** ISO times by token id. */
const LastUsedFile = z.record(z.string(), z.string());

export interface LastUsed {
  note(tokenId: string): void;
  /** ISO times by token id, as they were kept. */
  kept(): ReadonlyMap<string, string>;
  /** Keep what was noted, and only of these tokens. */
  flush(tokenIds: Iterable<string>): Promise<void>;
}

/** @param folder `<gitdir>/notesd` @param now milliseconds since the epoch */
export function openLastUsed(folder: string, now: () => number): LastUsed {
  const file = join(folder, "last-used.json");
  const noted = new Map<string, number>();
  const kept = () => {
    const text = orAbsent(() => readFileSync(file, "utf8")) ?? "{}";
    // A damaged one tells nothing, and the next use begins it anew.
    return new Map(Object.entries(LastUsedFile.safeParse(jsonOrNull(text)).data ?? {}));
  };
  return {
    note: (tokenId) => void noted.set(tokenId, now()),
    kept,
    async flush(tokenIds) {
      if (noted.size === 0) return;
      const before = kept();
      const times = Object.fromEntries(
        [...tokenIds].flatMap((id) => {
          const ms = noted.get(id);
          const at = ms === undefined ? before.get(id) : new Date(ms).toISOString();
          return at === undefined ? [] : [[id, at]];
        }),
      );
      noted.clear();
      await writeDurably(file, `${JSON.stringify(times)}\n`, { mode: 0o600 });
    },
  };
}
