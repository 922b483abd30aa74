/**
 * Git's split index: `index` holds what differs from a shared index, and the `link` extension says which of its
 * entries are replaced (they come first, without names) and which are gone. All that Git writes is read; we write
 * the same form, so that what a group costs follows the paths that changed since the shared index was made.
 * @see gitformat-index(5), "Split index"
 */
import { ewahBytes, readEwah } from "./ewah.ts";
import {
  extensionBytes,
  headerBytes,
  nameLength,
  type ParsedIndex,
  refuse,
  renamedEntry,
  withChecksum,
} from "./index-bytes.ts";
import {
  type Change,
  type EntryRun,
  entryBytes,
  type IndexImage,
  isExtended,
  lowerBound,
  namedSo,
  nameOf,
  rawAt,
  runLength,
  stageOf,
} from "./index-image.ts";

const ID_BYTES = 20;
const NO_NAME = Buffer.alloc(0);

/** The name of the shared index that a split one stands on, 40 hex digits; null: it stands on none. */
export function sharedName({ link }: ParsedIndex): string | null {
  const name = link?.toString("hex", 0, ID_BYTES) ?? null;
  return name === null || /^0*$/.test(name) ? null : name;
}

/**
 * A split index over its shared one.
 * @throws NotesError STORAGE the two don't fit
 */
export function joinSplit(parsed: ParsedIndex, name: string, run: EntryRun): IndexImage {
  const { link, tree, resolveUndo } = parsed;
  const gone = link === null ? null : readEwah(link, ID_BYTES, runLength(run));
  const replaced = link === null || gone === null ? null : readEwah(link, gone.end, runLength(run));
  if (gone === null || replaced === null) throw damaged();
  const count = runLength(parsed);
  if (replaced.positions.length > count)
    throw refuse("is split, and has fewer entries than its link replaces");
  const old = [
    ...gone.positions.map((at): Touched => ({ at, entry: null })),
    ...replaced.positions.map((at, n): Touched => ({ at, entry: entryBytes(parsed, n) })),
  ].sort((a, b) => a.at - b.at);
  const added = Array.from({ length: count - replaced.positions.length }, (_, n) =>
    entryBytes(parsed, replaced.positions.length + n),
  ).sort((a, b) => nameIn(a).compare(nameIn(b)));
  const isNamed = (n: number) => nameLength(parsed.bytes, parsed.starts[n] ?? 0) > 0;
  for (let n = 0; n < count; n++) if (isNamed(n) === n < replaced.positions.length) throw damaged();
  const changes = joined(run, old, added);
  const isPlain = changes.every(({ entries }) => !entries.some((bytes) => isExtended({ bytes, start: 0 })));
  const version = isPlain ? run.version : 3;
  return { version, run, shared: name, changes, tree, resolveUndo };
}

const damaged = () =>
  refuse("is split, and its link is damaged. Move index away; git read-tree HEAD makes it anew");
const nameAt = (run: EntryRun, index: number) => nameOf(rawAt(run, index));
const nameIn = (entry: Buffer) => nameOf({ bytes: entry, start: 0 });

/** An entry of the shared index that is replaced by one without a name, or gone. */
interface Touched {
  readonly at: number;
  readonly entry: Buffer | null;
}

/** Both sorted; one change a path. @throws NotesError STORAGE a position twice, or one path twice in a stage */
function joined(run: EntryRun, old: readonly Touched[], added: readonly Buffer[]): Change[] {
  const changes: Change[] = [];
  let [i, j, near] = [0, 0, 0];
  for (let touched = old[0], next = added[0]; touched !== undefined || next !== undefined; ) {
    const oldKey = touched === undefined ? null : nameAt(run, touched.at);
    const newKey = next === undefined ? null : nameIn(next);
    const isOld = newKey === null || (oldKey !== null && oldKey.compare(newKey) <= 0);
    // One of the two is there.
    const key = (isOld ? oldKey : newKey) as Buffer;
    const at = lowerBound(run, key, near);
    const over = namedSo(run, at, key);
    const entries: Buffer[] = [];
    const before = touched;
    for (let n = at; n < at + over; n++) {
      if (touched?.at !== n) entries.push(entryBytes(run, n));
      else {
        if (touched.entry !== null) entries.push(renamedEntry(touched.entry, key));
        touched = old[++i];
      }
    }
    for (; next !== undefined && nameIn(next).equals(key); next = added[++j]) entries.push(next);
    // Behind us: twice in the link, or out of order in the shared index. It would never be reached.
    if (isOld && touched === before) throw damaged();
    if (entries.length > 1) entries.sort((a, b) => stageIn(a) - stageIn(b));
    if (entries.some((entry, n) => n > 0 && stageIn(entry) === stageIn(entries[n - 1] as Buffer)))
      throw damaged();
    changes.push({ key, at, over, entries });
    near = at + over;
  }
  return changes;
}

const stageIn = (entry: Buffer) => stageOf({ bytes: entry, start: 0 });

/**
 * The `index` file of an image that stands on a shared index.
 * @param name 40 hex digits of the shared index, which is durable
 * @cost follows the changes, not the entries
 */
export function splitBytes(image: IndexImage, name: string): Buffer {
  const gone: number[] = [];
  const replaced: number[] = [];
  const first: Buffer[] = [];
  const then: Buffer[] = [];
  for (const { at, over, entries } of image.changes) {
    const [entry] = entries;
    if (over === 1 && entries.length === 1 && entry !== undefined) {
      replaced.push(at);
      first.push(renamedEntry(entry, NO_NAME));
      continue;
    }
    for (let n = 0; n < over; n++) gone.push(at + n);
    then.push(...entries);
  }
  const link = Buffer.concat([Buffer.from(name, "hex"), ewahBytes(gone), ewahBytes(replaced)]);
  const parts = [headerBytes(image.version, first.length + then.length), ...first, ...then];
  return withChecksum([...parts, extensionBytes("link", link), ...extensionsOf(image)]);
}

/** The extensions that we keep, as they lie in the file. */
export function extensionsOf({ tree, resolveUndo }: IndexImage): Buffer[] {
  return [
    ...(tree === null ? [] : [extensionBytes("TREE", tree.bytes)]),
    ...(resolveUndo === null ? [] : [extensionBytes("REUC", resolveUndo)]),
  ];
}
