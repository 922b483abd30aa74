/**
 * A note tool without Git, as many agents have one: a Markdown file a note and one JSON index, kept in memory and
 * written whole at each create; a search reads every file. Nothing is synced, and there is no history.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { noteFile } from "./note-file.mjs";

/**
 * @param {string} dir  where it writes
 * @param {string} filled  a working tree full of notes, which its searches read
 * @param {readonly string[]} paths  of the notes in it
 */
export function openJsonIndex(dir, filled, paths) {
  mkdirSync(dir, { recursive: true });
  const index = Object.fromEntries(
    paths.map((path) => entryOf(path, readFileSync(join(filled, path), "utf8"))),
  );

  /** @param {{ ms: number, least: number }} how */
  function create({ ms, least }) {
    const latencies = [];
    const began = performance.now();
    while (performance.now() - began < ms || latencies.length < least) {
      const { id, path, text } = noteFile();
      const from = performance.now();
      writeFileSync(join(dir, `${id}.md`), text);
      const [, entry] = entryOf(path, text);
      index[id] = entry;
      writeFileSync(join(dir, "notes_index.json"), JSON.stringify(index, null, 2));
      latencies.push(performance.now() - from);
    }
    return { ms: performance.now() - began, latencies };
  }

  /** @param {{ ms: number, least: number, query: () => string }} how */
  function search({ ms, least, query }) {
    const latencies = [];
    const began = performance.now();
    while (performance.now() - began < ms || latencies.length < least) {
      const wanted = query().toLowerCase();
      const from = performance.now();
      paths.filter((path) => {
        const text = readFileSync(join(filled, path), "utf8");
        const [, { title }] = entryOf(path, text);
        return title.toLowerCase().includes(wanted) || text.toLowerCase().includes(wanted);
      });
      latencies.push(performance.now() - from);
    }
    return { ms: performance.now() - began, latencies };
  }
  return { create, search };
}

/** Front matter by a pattern, which is quicker than any parser. @returns {[string, Record<string, any>]} */
function entryOf(path, text) {
  const value = (key) => new RegExp(`^${key}: (.*)$`, "m").exec(text)?.[1] ?? "";
  const id = value("id");
  return [
    id,
    {
      id,
      title: value("title"),
      type: value("type"),
      tags: value("tags").slice(1, -1).split(", "),
      created_at: value("created_at"),
      updated_at: value("updated_at"),
      file_path: path,
    },
  ];
}
