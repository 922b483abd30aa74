import { join } from "node:path";
import { expect, test } from "vitest";
import { isSqliteBusy, loadSqlite, type SqliteDriver } from "../../src/lib/sqlite.ts";
import { temporaryFolder } from "../support/git-repo.ts";

async function driver(): Promise<SqliteDriver> {
  const found = await loadSqlite();
  if (found === null)
    throw new Error("this test needs a SQLite driver: npm ci with better-sqlite3, or Node 22.16");
  return found;
}

test("a database takes and gives every kind of value, by position and by name", async () => {
  const database = (await driver()).open(":memory:");
  database.exec("CREATE TABLE t (k TEXT PRIMARY KEY, v)");
  const put = database.prepare("INSERT INTO t VALUES (?, ?)");
  const values = { text: "字", int: 7, float: 0.5, none: null, bytes: new Uint8Array([0, 255]) };
  for (const [key, value] of Object.entries(values)) expect(put.run(key, value).changes).toBe(1);
  const get = database.prepare("SELECT v FROM t WHERE k = :key");
  for (const [key, value] of Object.entries(values)) {
    const found = get.get({ key })?.["v"];
    expect(found instanceof Uint8Array ? new Uint8Array(found) : found).toEqual(value);
  }
  expect(get.get({ key: "absent" })).toBeUndefined();
  const keys = database.prepare("SELECT k FROM t ORDER BY k");
  expect([...keys.iterate()].map((row) => row["k"])).toEqual(keys.all().map((row) => row["k"]));
  database.close();
});

test("full text search is there", async () => {
  const database = (await driver()).open(":memory:");
  database.exec("CREATE VIRTUAL TABLE t USING fts5(body)");
  database.prepare("INSERT INTO t VALUES (?)").run("the quick brown fox");
  expect(database.prepare("SELECT count(*) AS n FROM t WHERE t MATCH ?").get("brown")).toEqual({ n: 1 });
  database.close();
});

test("a transaction that throws leaves no row", async () => {
  const database = (await driver()).open(":memory:");
  database.exec("CREATE TABLE t (n)");
  const add = () => database.prepare("INSERT INTO t VALUES (1)").run();
  database.transaction(add);
  const fail = () =>
    database.transaction(() => {
      add();
      throw new Error("stop");
    });
  expect(fail).toThrow("stop");
  expect(database.prepare("SELECT count(*) AS n FROM t").get()).toEqual({ n: 1 });
  database.close();
});

test("a lock held elsewhere is told apart from other errors", async () => {
  const file = join(temporaryFolder(), "x.db");
  const [one, two] = [(await driver()).open(file), (await driver()).open(file, { busyTimeoutMs: 0 })];
  one.exec("BEGIN EXCLUSIVE");
  const failureOf = (work: () => void): unknown => {
    try {
      work();
      return null;
    } catch (error) {
      return error;
    }
  };
  expect(isSqliteBusy(failureOf(() => two.exec("BEGIN EXCLUSIVE")))).toBe(true);
  expect(isSqliteBusy(failureOf(() => two.exec("NONSENSE")))).toBe(false);
  one.close();
  two.exec("BEGIN EXCLUSIVE");
  two.close();
});
