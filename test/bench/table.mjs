/** A result as text for a terminal. Pure. */
import Table from "cli-table3";
import { short } from "./stats.mjs";

const plain = { head: [], border: [], compact: true };

/** @param {readonly string[]} head @param {readonly (readonly string[])[]} rows  the first column is words, the others figures */
export function table(head, rows) {
  const colAligns = head.map((_, column) => (column === 0 ? "left" : "right"));
  const made = new Table({ head: [...head], colAligns, style: plain });
  made.push(...rows.map((row) => [...row]));
  return made.toString();
}

/** @param {import("./size.mjs").SizeResult} result */
export function sizeText(result) {
  const { notes, figures, locks, start, memory, bytes, git, packs, commits } = result;
  const rows = Object.values(figures).map(({ label, perSecond, msEach, p50Ms, p99Ms, times }) => [
    label,
    short(perSecond),
    short(msEach),
    short(p50Ms),
    short(p99Ms),
    Object.entries(times)
      .map(([other, ratio]) => `${short(ratio)} × ${other}`)
      .join(", "),
  ]);
  const lines = [`${notes.toLocaleString("en")} notes, ${commits.toLocaleString("en")} commits in the end`];
  if (rows.length > 0) {
    lines.push(table(["", "a second", "ms each", "p50 ms", "p99 ms", "times the rate of"], rows));
  }
  for (const [writers, { p50Ms, p99Ms, holds }] of Object.entries(locks)) {
    lines.push(
      `locks held, ${writers} writers: p50 ${short(p50Ms)} ms, p99 ${short(p99Ms)} ms (${holds} times)`,
    );
  }
  if (start) {
    const { logRawMs, warmMs, warmWriteMs, coldMs, coldWriteMs, warmTimes, coldTimes } = start;
    lines.push(
      `start to the first answer: warm ${short(warmMs)} ms (${short(warmTimes)} × git log --raw), cold ${short(coldMs)} ms (${short(coldTimes)} ×); to the first write: ${short(warmWriteMs)} and ${short(coldWriteMs)} ms; git log --raw ${short(logRawMs)} ms`,
    );
  }
  if (memory) {
    const { rssMb, heapMb, textMb, emptyRssMb, emptyHeapMb, heapBytesANote, rssBytesANote } = memory;
    lines.push(
      `memory: ${short(rssMb)} MB RSS, ${short(heapMb)} MB heap; without notes ${short(emptyRssMb)} and ${short(emptyHeapMb)} MB; text ${short(textMb)} MB; beside both ${short(heapBytesANote)} bytes of heap a note, ${short(rssBytesANote)} of RSS`,
    );
  }
  if (bytes) {
    lines.push(
      `bytes a commit: ${short(bytes.alone)} alone, ${short(bytes.grouped)} in groups of 64, ${short(bytes.afterUpkeep)} after upkeep (${bytes.packsAfterQuiet} packs)`,
    );
  }
  if (git) {
    lines.push(
      `a person's Git beside one agent: ${git.failed} of ${git.commands} commands refused; the agent's p50 ${short(git.agentP50Ms)} ms, p99 ${short(git.agentP99Ms)} ms (${git.agentWrites} writes)${git.firstFailure ? `; first: ${git.firstFailure}` : ""}`,
    );
  }
  lines.push(`packs: at most ${packs.most} while writing, ${packs.afterQuiet ?? "–"} after 10 s of quiet`);
  return lines.join("\n");
}

/** @param {readonly import("./aims.mjs").Verdict[]} verdicts */
export const aimsText = (verdicts) =>
  table(
    ["figure", "aim", "measured", ""],
    verdicts.map(({ figure, aim, measured, verdict }) => [figure, aim, measured, verdict]),
  );
