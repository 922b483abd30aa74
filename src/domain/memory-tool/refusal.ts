/**
 * What the Anthropic memory tool's contract calls an error: a sentence that goes back to the model as the tool's
 * result, so that it can try another way. Never a coded error; those are for what a model can't mend.
 */

/** A command that was not carried out; its message is the whole reply. */
export class MemoryRefusal extends Error {
  override readonly name = "MemoryRefusal";
}

/** Text of a caller as it may stand in a reply: one line, without control characters, not long. */
export function shown(text: string): string {
  const flat = text.replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]/gu, "\ufffd");
  const characters = Array.from(flat.slice(0, 1024));
  return characters.length > 300 || flat.length > 1024 ? `${characters.slice(0, 300).join("")}…` : flat;
}
