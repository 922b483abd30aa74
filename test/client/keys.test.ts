/** Each action is either safe to send twice, or the client sends it once: nothing falls in between when one is added. */
import { expect, test } from "vitest";
import { registry } from "../../src/actions/registry.ts";
import { isResendable, withKey } from "../../src/client/keys.ts";

/** Writes that take no key and are sent once. */
const SENT_ONCE = ["agent.token", "notes.subscribe", "notes.unsubscribe", "sync.run"];
/** Writes that take no key, and twice is once. */
const SAME_TWICE = ["notes.commit", "session.set"];

test("every action that writes gets a key, or is known as one that takes none", () => {
  const keyless = [...registry.values()].filter(({ name, effects }) => {
    const params = name === "notes.run" ? { action: "create" } : {};
    return effects !== "read" && withKey(name, params)["idempotency_key"] === undefined;
  });
  expect(keyless.map(({ name }) => name).sort()).toEqual([...SENT_ONCE, ...SAME_TWICE].sort());
  for (const name of SENT_ONCE) expect(isResendable(name, {})).toBe(false);
  for (const name of SAME_TWICE) expect(isResendable(name, {})).toBe(true);
});

test("reads get no key and are sent again, those of notes.run too", () => {
  for (const { name, effects } of registry.values()) {
    if (effects !== "read") continue;
    expect([name, withKey(name, {}), isResendable(name, {})]).toEqual([name, {}, true]);
  }
  expect(withKey("notes.run", { action: "list" })).toEqual({ action: "list" });
  expect(isResendable("notes.run", { action: "list" })).toBe(true);
  expect(isResendable("notes.run", { action: "delete" })).toBe(false);
});

test("a caller's own key stays, and a method that nobody knows gets none and is sent once", () => {
  const own = { title: "t", idempotency_key: "mine" };
  expect(withKey("notes.create", own)).toBe(own);
  expect(isResendable("notes.create", own)).toBe(true);
  expect(withKey("other.write", { a: 1 })).toEqual({ a: 1 });
  expect(isResendable("other.write", {})).toBe(false);
});
