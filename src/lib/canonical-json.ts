/** RFC 8785 JSON: equal values give equal text, whatever the order of their members. One place wraps the package. */
import { createHash } from "node:crypto";
import canonicalize from "canonicalize";

/**
 * The canonical text of a JSON value.
 *
 * @throws TypeError for what is no JSON (undefined, a function)
 * @see RFC 8785
 */
export function canonicalJson(value: unknown): string {
  const text = canonicalize(value);
  if (text === undefined) throw new TypeError("only JSON values have a canonical form");
  return text;
}

/** 64 hex digits: SHA-256 of the canonical text in UTF-8. */
export function canonicalHash(value: unknown): string {
  return createHash("sha256").update(canonicalJson(value), "utf8").digest("hex");
}
