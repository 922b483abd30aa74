/** What `<gitdir>/notesd/proof.key` holds: the key of commits' proofs and of the fingerprints of secrets. */
import { readFile } from "node:fs/promises";
import { ProcessError } from "../domain/process-error.ts";

export const PROOF_KEY = /^[0-9a-f]{64}$/;

/** The 32 bytes that prove commits. @throws ProcessError USAGE */
export async function proofKey(file: string): Promise<Uint8Array> {
  return Buffer.from(await proofKeyText(file), "hex");
}

/** As 64 hex digits. @throws ProcessError USAGE */
export async function proofKeyText(file: string): Promise<string> {
  const text = (await readFile(file, "utf8").catch(() => "")).replace(/\n$/, "");
  if (PROOF_KEY.test(text)) return text;
  throw new ProcessError(
    "USAGE",
    `${file} must hold 64 hex digits. Run notesd init to make it, or copy it from a team's other daemon (notesd config set proof_key -).`,
  );
}
