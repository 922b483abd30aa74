/**
 * What texts hold that were searched lately, so that one that was searched before it waited for the writer is only
 * looked up there. A note is searched in two parts, for its front matter has the time of the write.
 * Invariant: the same is found as in one search of the whole, and neither a text nor a value is kept.
 */
import { createHash } from "node:crypto";
import { findSecrets, mayHoldSecret, type SecretMatch } from "../../domain/secrets/secrets.ts";

/** Less is searched sooner than it is looked up. */
const LEAST_CHARS = 1_024;
const MOST_TEXTS = 1_024;
/** Over all texts; some 80 bytes each. */
const MOST_MATCHES = 200_000;
const RULE_LINE = /\n---[ \t]*\r?\n/;

/** Make the search, with a memory of its own. @param key as for `findSecrets` */
export function searchedTexts(key: Uint8Array): (text: string) => Promise<readonly SecretMatch[]> {
  const known = new Map<string, readonly SecretMatch[]>();
  let kept = 0;

  function remember(name: string, matches: readonly SecretMatch[]): void {
    kept += matches.length - (known.get(name)?.length ?? 0);
    known.delete(name);
    known.set(name, matches);
    for (const [oldest, { length }] of known) {
      if (known.size <= MOST_TEXTS && kept <= MOST_MATCHES) return;
      known.delete(oldest);
      kept -= length;
    }
  }

  async function searchPart(text: string): Promise<readonly SecretMatch[]> {
    if (!mayHoldSecret(text)) return [];
    if (text.length < LEAST_CHARS) return findSecrets(text, key);
    const name = createHash("sha256").update(text).digest("base64");
    const matches = known.get(name) ?? (await findSecrets(text, key));
    remember(name, matches);
    return matches;
  }

  return async (text) => {
    const parts = partsOf(text);
    if (parts === null) return searchPart(text);
    const [head, body] = parts;
    const [inHead, inBody] = [await searchPart(head), await searchPart(body)];
    if (inBody.length === 0) return inHead;
    const above = head.split("\n").length - 1;
    return [...inHead, ...inBody.map((match) => ({ ...match, line: match.line + above }))];
  };
}

/** A text cut after its first line `---` that is not its very first: no value of any rule goes over such a line. */
function partsOf(text: string): readonly [string, string] | null {
  const found = RULE_LINE.exec(text);
  if (found === null) return null;
  const at = found.index + found[0].length;
  return [text.slice(0, at), text.slice(at)];
}
