/**
 * Looks at JSON values of any depth without recursion, so that hostile nesting can't overflow the stack.
 * Invariant: the cost is linear in the number of values.
 */

/** Whether objects and arrays nest deeper than `levels`; a scalar has depth 0. */
export function isDeeperThan(value: unknown, levels: number): boolean {
  const stack: { value: unknown; depth: number }[] = [{ value, depth: 0 }];
  for (let top = stack.pop(); top !== undefined; top = stack.pop()) {
    if (typeof top.value !== "object" || top.value === null) continue;
    if (top.depth >= levels) return true;
    for (const child of Object.values(top.value)) stack.push({ value: child, depth: top.depth + 1 });
  }
  return false;
}

/**
 * Something that can't be kept exactly: a lone surrogate becomes U+FFFD in UTF-8, 1e400 is read as
 * infinite, and the key `__proto__` is no member in JavaScript.
 *
 * @returns where and what, e.g. `{path: "tags.0", problem: "…"}`, or null
 */
export function findUnkeepable(value: unknown): { path: string; problem: string } | null {
  const stack: { value: unknown; path: string }[] = [{ value, path: "" }];
  for (let top = stack.pop(); top !== undefined; top = stack.pop()) {
    if (typeof top.value === "string" && LONE_SURROGATE.test(top.value)) {
      return { path: top.path, problem: "holds half of a surrogate pair, which no UTF-8 text can hold" };
    }
    if (typeof top.value === "number" && !Number.isFinite(top.value)) {
      return { path: top.path, problem: "is a number too large to be kept" };
    }
    if (typeof top.value !== "object" || top.value === null) continue;
    for (const [key, child] of Object.entries(top.value)) {
      const path = top.path === "" ? key : `${top.path}.${key}`;
      if (key === "__proto__") return { path, problem: "is not a name that can be used here" };
      if (LONE_SURROGATE.test(key)) return { path: top.path, problem: "has a name that is no UTF-8 text" };
      stack.push({ value: child, path });
    }
  }
  return null;
}

const LONE_SURROGATE = /\p{Surrogate}/u;
