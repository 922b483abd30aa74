/** Hand edits that hold a secret: they stay on the disk and out of the repository, and stop nothing else. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { ReconcileSettings } from "../../../src/notebook/reconcile/reconciler.ts";
import { type MemoryStore, openMemoryStore } from "../../support/memory/memory-store.ts";
import { fingerprintOf, type MadeSecrets, madeSecrets, secretOf } from "../../support/secrets.ts";
import { at, type Harness, harness } from "./reconcile-harness.ts";

let folder: string;
let secrets: MadeSecrets;
let told: string[];
let h: Harness & { store: MemoryStore };
const start = (settings: Partial<ReconcileSettings> = {}, store?: MemoryStore) =>
  harness((clock) => store ?? openMemoryStore({ now: () => clock.now() }), settings, null, null, {
    secrets,
    heldFile: join(folder, "held"),
    warn: (message, fields) => void told.push(`${message} ${JSON.stringify(fields)}`),
  });
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "notesd-held-"));
  secrets = madeSecrets();
  told = [];
  h = start();
});
afterEach(async () => {
  await h.reconciler.close();
  // Of a secret's text nothing is told, and nothing written down.
  for (const text of told) expect(text).not.toContain("SEKRET");
  expect(h.failures).toEqual([]);
  rmSync(folder, { recursive: true, force: true });
});

const S = secretOf("one");
const save = async (name: string, text: string | null) => {
  h.store.person.save(at(name), text);
  await h.reconciler.hint([at(name)]);
};
const tipText = async (name: string) => {
  const tip = await h.store.tip();
  const blob = tip === null ? null : await h.store.blobAt(tip, at(name));
  return blob === null ? null : String(Buffer.from(await h.store.readBlob(blob)));
};
const held = () => h.reconciler.heldEdits().map(({ path }) => path);
const adopted = () => h.commits.filter(({ draft }) => draft.origin === "disk").length;
/** Whether any object of the repository holds a text. */
const isStored = (text: string) =>
  [...h.store.objects.all()].some(({ content }) => Buffer.from(content).includes(text));

test("it stays on the disk, is reported with where and what kind, and others are adopted past it", async () => {
  await h.agent(at("a"), "one\n");
  await h.agent(at("b"), "one\n");
  await save("a", `one\n${S}\n`);
  await save("new", `${S}\n`);
  await save("b", "two\n");
  await h.pass(60_000);
  expect([await tipText("a"), await tipText("new"), await tipText("b")]).toEqual(["one\n", null, "two\n"]);
  expect(h.reconciler.heldEdits()).toEqual([
    {
      path: at("a"),
      matches: [{ kind: "made", line: 2, fingerprint: fingerprintOf(S) }],
      since: expect.any(String),
    },
    {
      path: at("new"),
      matches: [{ kind: "made", line: 1, fingerprint: fingerprintOf(S) }],
      since: expect.any(String),
    },
  ]);
  expect([h.reconciler.held(at("a")), h.reconciler.dirty(at("a"))]).toEqual(["secret", true]);
  expect(isStored("SEKRET")).toBe(false);
  expect(told).toHaveLength(2);
});

test("neither a door nor a person's commit commits it, and nobody looks for ever", async () => {
  await h.agent(at("a"), "one\n");
  await save("a", `${S}\n`);
  await h.pass(60_000);
  expect(await h.reconciler.settle([at("a")])).toEqual([]);
  expect(await h.reconciler.settle(undefined, "now", "person")).toEqual([]);
  expect((await h.agent(at("a"), "agent\n")).outcomes[0]?.kind).toBe("dirty");
  await h.reconciler.scanAll("interval");
  await h.pass(1_000_000);
  await h.reconciler.scanAll("interval");
  expect([held(), adopted(), secrets.searched, told.length]).toEqual([[at("a")], 0, 2, 1]);
  expect(h.store.person.text(at("a"))).toBe(`${S}\n`);
});

test("a save without it is adopted as any edit; one with another is held and told of anew", async () => {
  await h.agent(at("a"), "one\n");
  await save("a", `${S}\n`);
  await h.pass(20_000);
  const [{ since } = { since: "" }] = h.reconciler.heldEdits();
  await save("a", `${secretOf("two")}\n`);
  await h.pass(20_000);
  expect(h.reconciler.heldEdits()).toMatchObject([
    { since, matches: [{ fingerprint: fingerprintOf(secretOf("two")) }] },
  ]);
  expect(told).toHaveLength(2);
  await save("a", "clean\n");
  expect(held()).toEqual([]);
  await h.pass(20_000);
  expect([await tipText("a"), h.reconciler.unsettled()]).toEqual(["clean\n", []]);
  expect(isStored("SEKRET")).toBe(false);
});

test("a save that is taken back is no edit any more", async () => {
  await h.agent(at("a"), "one\n");
  await save("a", `${S}\n`);
  await h.pass(20_000);
  await save("a", "one\n");
  expect([held(), h.reconciler.unsettled()]).toEqual([[], []]);
  await save("b", `${S}\n`);
  await h.pass(20_000);
  await save("b", null);
  expect([held(), h.reconciler.unsettled()]).toEqual([[], []]);
});

test("what a person lets pass is adopted at once", async () => {
  await h.agent(at("a"), "one\n");
  await save("a", `${S}\n`);
  await save("b", `${S}\n${secretOf("two")}\n`);
  await h.pass(20_000);
  secrets.allowed.add(fingerprintOf(S));
  await h.reconciler.onHeadMoved();
  expect([await tipText("a"), held()]).toEqual([`${S}\n`, [at("b")]]);
  expect(h.reconciler.heldEdits()[0]?.matches).toMatchObject([{ line: 2 }]);
  secrets.allowed.add(fingerprintOf(secretOf("two")));
  expect(await h.reconciler.settle([at("b")])).toHaveLength(1);
});

test("a value that the note's committed text has is no new one; in another note it is", async () => {
  h.store.person.commit({ [at("a")]: `${S}\n` });
  h.store.person.save(at("a"), `${S}\n`);
  await h.reconciler.scanAll("asked");
  await save("a", `${S}\nmore\n`);
  await save("b", `${S}\n`);
  await h.pass(20_000);
  expect([await tipText("a"), held()]).toEqual([`${S}\nmore\n`, [at("b")]]);
});

test("a note with an old secret that is renamed keeps its id", async () => {
  h.store.person.commit({ [at("a")]: `${S}\n` });
  h.store.person.save(at("a"), `${S}\n`);
  await h.reconciler.scanAll("asked");
  h.store.person.save(at("a"), null);
  h.store.person.save(at("b"), `${S}\n`);
  await h.reconciler.hint([at("a"), at("b")]);
  await h.pass(20_000);
  expect([await tipText("a"), await tipText("b"), held()]).toEqual([null, `${S}\n`, []]);
});

test("a branch that moves under it: nothing is merged while it holds the secret, and all when it doesn't", async () => {
  await h.agent(at("a"), "# T\na\n-\nb\n");
  await save("a", `# T\na\n-\n${S}\n`);
  await h.pass(20_000);
  h.store.person.commit({ [at("a")]: "# T\nA\n-\nb\n" });
  await h.reconciler.onHeadMoved();
  expect(held()).toEqual([at("a")]);
  await h.pass(60_000);
  expect([held(), await tipText("a"), h.store.person.text(at("a"))]).toEqual([
    [at("a")],
    "# T\nA\n-\nb\n",
    `# T\na\n-\n${S}\n`,
  ]);
  expect(isStored("SEKRET")).toBe(false);
  await save("a", "# T\na\n-\nB\n");
  await h.pass(20_000);
  expect([await tipText("a"), h.store.person.text(at("a"))]).toEqual(["# T\nA\n-\nB\n", "# T\nA\n-\nB\n"]);
  expect(told).toHaveLength(1);
});

test("a text that does not merge is kept as a conflict only without the secret", async () => {
  await h.agent(at("a"), "one\n");
  h.store.person.commit({ [at("a")]: "ours\n" });
  await save("a", `theirs ${S}\n`);
  await h.pass(20_000);
  expect([await h.store.conflicts(), held(), isStored("SEKRET")]).toEqual([[], [at("a")], false]);
  expect(await h.reconciler.settle(undefined, "as it lies", "person")).toEqual([]);
  await save("a", "theirs\n");
  await h.pass(20_000);
  expect([(await h.store.conflicts()).length, held(), h.reconciler.held(at("a"))]).toEqual([
    1,
    [],
    "conflict",
  ]);
});

test("a merge that takes the value out of the person's text is made", async () => {
  h.store.person.commit({ [at("a")]: `# T\n${S}\n-\nb\n` });
  h.store.person.save(at("a"), `# T\n${S}\n-\nb\n`);
  await h.reconciler.scanAll("asked");
  h.store.person.commit({ [at("a")]: "# T\ntaken out\n-\nb\n" });
  await save("a", `# T\n${S}\n-\nB\n`);
  await h.pass(20_000);
  expect([await tipText("a"), h.store.person.text(at("a")), held()]).toEqual([
    "# T\ntaken out\n-\nB\n",
    "# T\ntaken out\n-\nB\n",
    [],
  ]);
});

test("a note that was deleted on the branch while its edit is held stays on the disk", async () => {
  await h.agent(at("a"), "one\n");
  await save("a", `one\n${S}\n`);
  await h.pass(20_000);
  h.store.person.commit({ [at("a")]: null });
  await h.reconciler.onHeadMoved();
  await h.pass(60_000);
  expect([h.store.person.text(at("a")), held()]).toEqual([`one\n${S}\n`, [at("a")]]);
  await save("a", "one\nclean\n");
  await h.pass(20_000);
  expect(await tipText("a")).toBe("one\nclean\n");
});

test("a value in the name of a file or behind an escape of its title is held too, and the name is told nowhere", async () => {
  await save(secretOf("inname"), "plain\n");
  const escaped = S.replace("SEK", "\\u0053EK");
  await save("title", `---\ntitle: "${escaped}"\n---\n\nbody\n`);
  await h.pass(20_000);
  expect(h.reconciler.heldEdits().map(({ path, matches }) => [path, matches[0]?.line])).toEqual([
    [at(secretOf("inname")), 0],
    [at("title"), 0],
  ]);
  expect([adopted(), isStored("SEKRET")]).toEqual([0, false]);
  await h.reconciler.close();
  expect(readFileSync(join(folder, "held"), "utf8")).not.toContain("SEKRET");
  expect(secrets.noted.join()).not.toContain("SEKRET");
});

test("in manual mode the person's own commit holds it", async () => {
  h = start({ commit: "manual" });
  await h.agent(at("a"), "one\n");
  await save("a", `${S}\n`);
  await save("b", "fine\n");
  await h.pass(60_000);
  expect(held()).toEqual([]);
  expect(await h.reconciler.settle(undefined, "done", "person")).toHaveLength(1);
  expect([held(), await tipText("a"), await tipText("b")]).toEqual([[at("a")], "one\n", "fine\n"]);
});

test("a staged file is its owner's, and held as any once it is staged no more", async () => {
  await h.agent(at("a"), "one\n");
  h.store.person.stage(at("a"));
  await save("a", `${S}\n`);
  await h.pass(20_000);
  expect([h.reconciler.held(at("a")), held()]).toEqual(["staged", []]);
  h.store.person.stage();
  await h.reconciler.scanAll("index");
  await h.pass(20_000);
  expect([h.reconciler.held(at("a")), held()]).toEqual(["secret", [at("a")]]);
});

test("while HEAD is elsewhere nothing is held, and afterwards the same since the same time", async () => {
  await h.agent(at("a"), "one\n");
  await save("a", `${S}\n`);
  await h.pass(20_000);
  const before = h.reconciler.heldEdits();
  h.store.person.setState({ state: "elsewhere", path: "HEAD", at: "other" });
  await h.reconciler.onHeadMoved();
  expect(held()).toEqual([]);
  h.store.person.setState(null);
  await h.reconciler.onHeadMoved();
  expect(h.reconciler.heldEdits()).toEqual(before);
  expect([told.length, secrets.searched]).toEqual([1, 2]);
});

test("a start knows it from the first look on, and searches nothing anew", async () => {
  await h.agent(at("a"), "one\n");
  await save("a", `${S}\n`);
  await h.pass(20_000);
  const before = h.reconciler.heldEdits();
  await h.reconciler.close();
  expect(readFileSync(join(folder, "held"), "utf8")).not.toContain("SEKRET");
  const { searched } = secrets;
  h = start({}, h.store);
  await h.reconciler.scanAll("start");
  expect(h.reconciler.heldEdits()).toEqual(before);
  await h.pass(60_000);
  expect([secrets.searched - searched, told.length, await tipText("a")]).toEqual([0, 1, "one\n"]);
  secrets.allowed.add(fingerprintOf(S));
  await h.reconciler.onHeadMoved();
  expect(await tipText("a")).toBe(`${S}\n`);
});

test("what was let pass while no daemon ran is adopted after the start", async () => {
  await h.agent(at("a"), "one\n");
  await save("a", `${S}\n`);
  await h.pass(20_000);
  await h.reconciler.close();
  secrets.allowed.add(fingerprintOf(S));
  h = start({}, h.store);
  await h.reconciler.scanAll("start");
  await h.pass(60_000);
  expect([await tipText("a"), held()]).toEqual([`${S}\n`, []]);
});
