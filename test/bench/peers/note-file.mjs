/** A new note as a file, as a peer writes it: the same size and the same spread over folders as ours. */
import { randomFrom } from "../seed/random.mjs";
import { body, title } from "../seed/text.mjs";

const random = randomFrom(Date.now() % 1e9);
const FOLDER_FULL_NOTES = 128;
let made = 0;

export function noteFile() {
  const n = made++;
  const id = `note_20260101_${String(n).padStart(6, "0")}_peer${process.pid % 100}`;
  const name = title(random);
  const text = `---\nid: ${id}\ntitle: ${name}\ntype: general\ntags: []\ncreated_at: 2026-01-01T00:00:00.000Z\nupdated_at: 2026-01-01T00:00:00.000Z\n---\n\n${body(random, 500 + 1_000 * random())}`;
  const folder = `notes/2026/01/01${n < FOLDER_FULL_NOTES ? "" : `.${Math.floor(n / FOLDER_FULL_NOTES) + 1}`}`;
  return { id, path: `${folder}/${id}.md`, title: name, text };
}
