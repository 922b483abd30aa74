import { expect, test } from "vitest";
import type { BlobId } from "../../../src/domain/note.ts";
import { createSecretCheck } from "../../../src/notebook/reconcile/secret-check.ts";
import { createSettling } from "../../../src/notebook/reconcile/settling.ts";
import { at, blobOf } from "../../support/drafts.ts";
import { openMemoryStore } from "../../support/memory/memory-store.ts";
import { fingerprintOf, madeSecrets, secretOf } from "../../support/secrets.ts";

function setUp() {
  const store = openMemoryStore();
  const secrets = madeSecrets();
  const settling = createSettling({ quietMs: 0, maxWaitMs: 0, graceMs: 0 });
  const check = createSecretCheck(store, secrets);
  const saw = (path: string, text: string) => settling.saw(at(path), blobOf(text), null, 0);
  return { store, secrets, check, saw };
}

test("a text that was not searched is nothing: neither clean nor not", async () => {
  const { store, check, saw } = setUp();
  const text = "plain\n";
  store.person.save("notes/a.md", text);
  expect(await check.fresh(blobOf(text), [])).toBeNull();
  await check.look([saw("notes/a.md", text)]);
  expect(await check.fresh(blobOf(text), [])).toEqual([]);
});

test("a file that was saved again since it was seen is not taken for what was seen", async () => {
  const { store, check, saw } = setUp();
  const edit = saw("notes/a.md", `${secretOf("one")}\n`);
  store.person.save("notes/a.md", "clean by now\n");
  await check.look([edit]);
  expect(await check.fresh(blobOf(`${secretOf("one")}\n`), [])).toBeNull();
  expect(await check.fresh(blobOf("clean by now\n"), [])).toBeNull();
});

test("each text is searched once, however often its file is looked at", async () => {
  const { store, secrets, check, saw } = setUp();
  for (const name of ["a", "b"]) store.person.save(`notes/${name}.md`, "same\n");
  const edits = [saw("notes/a.md", "same\n"), saw("notes/b.md", "same\n")];
  await check.look(edits);
  await check.look(edits);
  expect(secrets.searched).toBe(1);
});

test("what the repository holds already, or a person let pass, is nothing new", async () => {
  const { store, secrets, check, saw } = setUp();
  const tip = store.person.commit({ "notes/a.md": `old ${secretOf("old")}\n` });
  const was = await store.blobAt(tip, at("notes/a.md"));
  const text = `old ${secretOf("old")}\nnew ${secretOf("new")}\n`;
  store.person.save("notes/a.md", text);
  await check.look([saw("notes/a.md", text)]);
  const fresh = (known: (BlobId | null)[]) => check.fresh(blobOf(text), known);
  const kinds = (found: Awaited<ReturnType<typeof fresh>>) => found?.map(({ fingerprint }) => fingerprint);
  expect(kinds(await fresh([null]))).toEqual([secretOf("old"), secretOf("new")].map(fingerprintOf));
  expect(kinds(await fresh([was]))).toEqual([fingerprintOf(secretOf("new"))]);
  secrets.allowed.add(fingerprintOf(secretOf("new")));
  expect(await fresh([was])).toEqual([]);
  expect(kinds(await check.freshIn(Buffer.from(text), [null]))).toEqual([fingerprintOf(secretOf("old"))]);
});
