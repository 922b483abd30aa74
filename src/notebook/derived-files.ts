/** The files that are made from the index and can be made again: the checkpoint, and the list that other tools read. */
import { join } from "node:path";
import { notesIndexJson } from "../index/notes-index-json.ts";
import { writeDurably } from "../lib/durable-file.ts";
import { createCheckpointFile } from "./checkpoint-file.ts";
import type { NotebookOptions } from "./notebook-options.ts";

const NOTES_INDEX_MAX_NOTES = 10_000;

/** What is kept up to date when it is quiet, and how each is written. */
export function derivedFiles({ index, stateDir, notesIndexFile, clock }: NotebookOptions) {
  const path = join(stateDir, "checkpoint");
  const checkpoint = { path, write: createCheckpointFile(path, index) };
  if (notesIndexFile === null) return [checkpoint];
  // A file that other tools read whole is no use to them at this size, and costs the loop more than it gives.
  const write = async () => {
    if (index.size() > NOTES_INDEX_MAX_NOTES) return;
    const text = await notesIndexJson(index, clock.now());
    // Where the index moved on meanwhile, the file is written after that change.
    if (text !== null) await writeDurably(notesIndexFile, text);
  };
  return [checkpoint, { path: notesIndexFile, write }];
}
