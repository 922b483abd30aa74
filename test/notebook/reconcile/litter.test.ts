import { expect, test } from "vitest";
import { isConflictedCopy, isLitter } from "../../../src/notebook/reconcile/litter.ts";

test.each([".#x.md", "._x.md", "~$x.md", ".~x.md"])("%s is an editor's litter", (name) => {
  expect(isLitter(`notes/deep/${name}`)).toBe(true);
});

test.each([
  "x (conflicted copy).md",
  "x (Pat's conflicted copy 2026-11-30).md",
  "x (conflicted copy 2).md",
  "x (Pat's Laptop's conflicted copy 2026-11-30 101500).md",
  "x (case conflict).md",
  "x.sync-conflict-20261130-101500-ABCDEFG.md",
])("%s is a conflicted copy", (name) => {
  expect(isConflictedCopy(`notes/${name}`)).toBe(true);
});

test.each([
  "x.md",
  "merge conflicts.md",
  "conflict (resolved).md",
  "sync-conflict handling.md",
  "template.md",
  "C# notes.md",
  "2 (copy).md",
  "#1.md",
  "draft.bak.md",
])("%s is a note", (name) => {
  expect([isLitter(`notes/.x (conflicted copy)/${name}`), isConflictedCopy(`notes/${name}`)]).toEqual([
    false,
    false,
  ]);
});
