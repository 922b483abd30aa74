/** Points in time as people write them in front matter, brought to ISO 8601 in UTC. No clock, no locale, no zone of the machine. */

const WRITTEN =
  /^(\d{4})-(\d{1,2})-(\d{1,2})(?:(?:[Tt]|[ \t]+)(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?[ \t]*(Z|z|UTC|[+-]\d{1,2}(?::?\d{2})?)?)?$/;

/** As we write it, which is nearly every instant that is read. */
const OURS = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** Whether a text of that form names a moment that is. */
function isReal(text: string): boolean {
  const two = (at: number) => text.charCodeAt(at) * 10 + text.charCodeAt(at + 1) - ZEROS;
  const [year, month, day] = [two(0) * 100 + two(2), two(5), two(8)];
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const days =
    month === 2 ? (isLeap ? 29 : 28) : month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
  const isDay = year >= 100 && month >= 1 && month <= 12 && day >= 1 && day <= days;
  return isDay && two(11) <= 23 && two(14) <= 59 && two(17) <= 59;
}

/** What the character codes of two noughts count for. */
const ZEROS = 48 * 11;

/**
 * Read a date or a date with time; without an offset it is UTC.
 * @returns ISO 8601 with `Z` and milliseconds, or null when the text is none or names a day that isn't
 */
export function parseInstant(text: string): string | null {
  if (OURS.test(text) && isReal(text)) return text;
  const found = WRITTEN.exec(text.trim());
  if (found === null) return null;
  const [year, month, day, hour, minute, second] = found.slice(1, 7).map((part) => Number(part ?? 0));
  if (year === undefined || month === undefined || day === undefined) return null;
  const ms = Number((found[7] ?? "").padEnd(3, "0").slice(0, 3));
  const utc = Date.UTC(year, month - 1, day, hour, minute, second, ms);
  const date = new Date(utc);
  const real = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  if (!real || (hour ?? 0) > 23 || (minute ?? 0) > 59 || (second ?? 0) > 59 || year < 100) return null;
  return new Date(utc - offsetMs(found[8] ?? "Z")).toISOString();
}

function offsetMs(zone: string): number {
  const found = /^([+-])(\d{1,2}):?(\d{2})?$/.exec(zone);
  if (found === null) return 0;
  const minutes = Number(found[2]) * 60 + Number(found[3] ?? 0);
  return (found[1] === "-" ? -1 : 1) * minutes * 60_000;
}
