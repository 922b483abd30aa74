/** An index as the bytes of one whole checkpoint. */
import type { NoteIndex } from "../../src/index/note-index.ts";

export const bytesOf = (index: Pick<NoteIndex, "snapshot">): Buffer =>
  Buffer.concat([...index.snapshot(null).pieces()]);
