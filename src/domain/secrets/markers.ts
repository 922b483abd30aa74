/**
 * Which of many literals a text has, in one pass: an automaton of Aho and Corasick over bytes. Nearly every note has
 * none that begins a credential, and that is all that is ever spent on it.
 *
 * @see Aho, Corasick: Efficient string matching (1975)
 */

/** Of one row of the table; bytes that are in no literal share the class 0. */
const CLASSES = 64;

/**
 * Make the look for lists of literals in ASCII.
 * @returns the numbers of the lists of which a text (UTF-8) has a literal
 * @throws RangeError  over 63 different characters or 1,023 states
 * @cost of a look some 2 ns a byte
 */
export function markerLook(lists: readonly (readonly string[])[]): (bytes: Uint8Array) => readonly number[] {
  const classes = classesOf(lists.flat());
  const { next, ends, firstEnd } = tableOf(lists, classes);
  return (bytes) => {
    let row = 0;
    let found: Set<number> | null = null;
    for (let i = 0; i < bytes.length; i++) {
      row = next[row + (classes[bytes[i] ?? 0] ?? 0)] ?? 0;
      if (row < firstEnd) continue;
      found ??= new Set();
      for (const list of ends.get(row) ?? NONE) found.add(list);
    }
    return found === null ? NONE : [...found];
  };
}

const NONE: readonly number[] = [];

function classesOf(literals: readonly string[]): Uint8Array {
  const classes = new Uint8Array(256);
  let count = 0;
  for (const char of literals.join("")) {
    const code = char.charCodeAt(0);
    if (code > 127 || (classes[code] === 0 && ++count >= CLASSES))
      throw new RangeError("too many characters");
    if (classes[code] === 0) classes[code] = count;
  }
  return classes;
}

interface Node {
  readonly children: Map<number, Node>;
  /** Lists of which a literal ends here. */
  readonly ends: Set<number>;
  /** Where it goes on when no child fits: the longest end of its path that begins a literal too. */
  back: Node | null;
  row: number;
}

/** Rows of nodes where a literal ends come after all others, so that one comparison tells them. */
function tableOf(lists: readonly (readonly string[])[], classes: Uint8Array) {
  const nodes = nodesOf(lists, classes);
  const rows = [
    ...nodes.filter((node) => node.ends.size === 0),
    ...nodes.filter((node) => node.ends.size > 0),
  ];
  if (rows.length * CLASSES > 0xffff) throw new RangeError("too many states");
  for (const [i, node] of rows.entries()) node.row = i * CLASSES;
  const next = new Uint16Array(rows.length * CLASSES);
  // By depth: the row of where a node falls back to is filled before its own.
  for (const { row, back, children } of nodes) {
    for (let kind = 0; kind < CLASSES; kind++) {
      const fallen = back === null ? 0 : (next[back.row + kind] ?? 0);
      next[row + kind] = children.get(kind)?.row ?? fallen;
    }
  }
  const ending = nodes.filter((node) => node.ends.size > 0);
  return {
    next,
    ends: new Map(ending.map((node) => [node.row, [...node.ends]])),
    firstEnd: (rows.length - ending.length) * CLASSES,
  };
}

/** The tree of all literals, by depth, each node with where it falls back to. */
function nodesOf(lists: readonly (readonly string[])[], classes: Uint8Array): Node[] {
  const made = (): Node => ({ children: new Map(), ends: new Set(), back: null, row: 0 });
  const root = made();
  for (const [list, literals] of lists.entries()) {
    for (const literal of literals) {
      let at = root;
      for (let i = 0; i < literal.length; i++) {
        const kind = classes[literal.charCodeAt(i)] ?? 0;
        const child = at.children.get(kind) ?? made();
        at.children.set(kind, child);
        at = child;
      }
      at.ends.add(list);
    }
  }
  const nodes = [root];
  for (const node of nodes) {
    for (const [kind, child] of node.children) {
      let back = node.back;
      while (back !== null && !back.children.has(kind)) back = back.back;
      child.back = back?.children.get(kind) ?? root;
      for (const list of child.back.ends) child.ends.add(list);
      nodes.push(child);
    }
  }
  return nodes;
}
