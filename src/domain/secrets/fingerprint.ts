/** What a secret is called where its value must not be told. */
import { createHmac } from "node:crypto";

const HEX = 16;
const FORM = /^[0-9a-f]{16}$/;

/**
 * The fingerprint of a value. It is keyed, so that nobody who reads one in a log can try passwords until one fits.
 * @param key 32 bytes of the repository's own
 */
export function fingerprintOf(value: string, key: Uint8Array): string {
  return createHmac("sha256", key).update("secret\0").update(value).digest("hex").slice(0, HEX);
}

/** Whether a text has the form of one. */
export const isFingerprint = (text: string): boolean => FORM.test(text);
