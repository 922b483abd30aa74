/**
 * The one place that knows a SQLite driver: node:sqlite where it is there with FTS5 (Node ≥ 22.16), else
 * better-sqlite3 where it is installed and loads, else none. Nothing here knows what is stored.
 * Callers must do without when there is none.
 */

type SqlValue = string | number | bigint | Uint8Array | null;
type SqlRow = Readonly<Record<string, SqlValue>>;
/** Positional values, or one object of named ones (`:name` in the text, `name` here). */
type SqlParameters = readonly SqlValue[] | readonly [Readonly<Record<string, SqlValue>>];

interface SqliteStatement {
  run(...parameters: SqlParameters): {
    readonly changes: number | bigint;
    readonly lastInsertRowid: number | bigint;
  };
  get(...parameters: SqlParameters): SqlRow | undefined;
  all(...parameters: SqlParameters): SqlRow[];
  iterate(...parameters: SqlParameters): IterableIterator<SqlRow>;
}

export interface SqliteDatabase {
  /** One or more statements without parameters. */
  exec(sql: string): void;
  prepare(sql: string): SqliteStatement;
  /** Run `work` between BEGIN IMMEDIATE and COMMIT; rolled back when it throws. Not to be nested. */
  transaction<T>(work: () => T): T;
  /** Nothing may be used afterwards. */
  close(): void;
}

export interface SqliteDriver {
  readonly name: "node:sqlite" | "better-sqlite3";
  /** @param file path, or `:memory:` */
  open(file: string, options?: { readonly busyTimeoutMs?: number }): SqliteDatabase;
}

type RawDatabase = Pick<SqliteDatabase, "exec" | "prepare" | "close">;
type Constructor = new (file: string) => RawDatabase;

/** True for SQLITE_BUSY of either driver: another process holds the lock. */
export function isSqliteBusy(error: unknown): boolean {
  return error instanceof Error && /database is locked|SQLITE_BUSY/.test(error.message);
}

function driver(name: SqliteDriver["name"], Database: Constructor): SqliteDriver {
  return {
    name,
    open(file, { busyTimeoutMs = 5_000 } = {}) {
      const raw = new Database(file);
      raw.exec(`PRAGMA busy_timeout = ${Math.floor(busyTimeoutMs)}`);
      return {
        exec: (sql) => raw.exec(sql),
        prepare: (sql) => raw.prepare(sql),
        transaction(work) {
          raw.exec("BEGIN IMMEDIATE");
          try {
            const result = work();
            raw.exec("COMMIT");
            return result;
          } catch (error) {
            // A failed COMMIT or a full disk may have rolled back already.
            try {
              raw.exec("ROLLBACK");
            } catch {}
            throw error;
          }
        },
        close: () => raw.close(),
      };
    },
  };
}

function hasFts5(candidate: SqliteDriver): boolean {
  try {
    const database = candidate.open(":memory:");
    try {
      database.exec("CREATE VIRTUAL TABLE probe USING fts5(text)");
      return true;
    } finally {
      database.close();
    }
  } catch {
    return false;
  }
}

/** node:sqlite warns that it is experimental; the probe has settled that for us. */
function withoutExperimentalWarning<T>(load: () => T): T {
  const { emitWarning } = process;
  const quiet = (...args: Parameters<typeof emitWarning>) => {
    const [warning] = args;
    if (!/SQLite is an experimental feature/.test(String(warning))) emitWarning.apply(process, args);
  };
  // The overloads of emitWarning are all served by passing the arguments on.
  process.emitWarning = quiet as typeof emitWarning;
  try {
    return load();
  } finally {
    process.emitWarning = emitWarning;
  }
}

function builtIn(): SqliteDriver | null {
  const module = withoutExperimentalWarning(() => process.getBuiltinModule("node:sqlite"));
  // DatabaseSync has these three methods; its own types are wider.
  return module === undefined ? null : driver("node:sqlite", module.DatabaseSync as unknown as Constructor);
}

async function installed(): Promise<SqliteDriver | null> {
  // A name in a variable: the package is optional and has no types of its own.
  const name = "better-sqlite3";
  try {
    const module: { default: Constructor } = await import(name);
    return driver(name, module.default);
  } catch {
    return null;
  }
}

async function load(): Promise<SqliteDriver | null> {
  for (const find of [builtIn, installed]) {
    const candidate = await find();
    if (candidate !== null && hasFts5(candidate)) return candidate;
  }
  return null;
}

let loaded: Promise<SqliteDriver | null> | undefined;

/** The driver of this process, looked for once; null when there is none with FTS5. */
export function loadSqlite(): Promise<SqliteDriver | null> {
  loaded ??= load();
  return loaded;
}
