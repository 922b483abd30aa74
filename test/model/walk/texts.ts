/**
 * Where the texts of a walk are: in what refs reach, at the branch's tip, on the disk, in the Git index. A text is a token
 * that nobody writes twice. Blobs are read once; a place is looked at anew each time.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { orAbsent } from "../../../src/lib/durable-file.ts";
import { listRefs } from "../../../src/store/refs/refs.ts";
import type { GitRepo } from "../../support/git-repo.ts";

const TOKEN = /<t\d+>/g;

export const tokensOf = (text: string): string[] => text.match(TOKEN) ?? [];

export interface Places {
  /** In any ref's history: branches, the stash, kept conflicts. */
  readonly refs: ReadonlySet<string>;
  /** The same without what the daemon keeps for itself: kept conflicts. */
  readonly firm: ReadonlySet<string>;
  readonly main: string | null;
  /** As HEAD's file says. */
  readonly head: string;
  /** At the tip of main, and by path. */
  readonly tip: ReadonlySet<string>;
  readonly tipFiles: ReadonlyMap<string, string>;
  readonly disk: ReadonlySet<string>;
  readonly diskFiles: ReadonlyMap<string, string>;
  readonly index: ReadonlySet<string>;
  /** `stage blob` by path: the entries of the Git index. */
  readonly entries: ReadonlyMap<string, string>;
  /** Every branch but main, the stash and HEAD: nothing that is the daemon's to move. */
  readonly others: string;
}

export interface Texts {
  look(): Places;
  /** Texts in what reflogs reach, beside refs. */
  reflog(): ReadonlySet<string>;
}

/** Look at one repository again and again. */
export function textsOf(repo: GitRepo): Texts {
  const known = new Map<string, readonly string[]>();
  const remembered = new Map<string, { readonly key: string; readonly value: unknown }>();

  /** What was made of the same key before: most steps change one of three trees. */
  function once<T>(what: string, key: string, make: () => T): T {
    const last = remembered.get(what);
    // What is kept under a name was made by the same `make`.
    if (last?.key === key) return last.value as T;
    const value = make();
    remembered.set(what, { key, value });
    return value;
  }

  function learn(ids: Iterable<string>): void {
    const unknown = [...new Set(ids)].filter((id) => !known.has(id));
    if (unknown.length === 0) return;
    const out = repo.gitBytes(["cat-file", "--batch"], `${unknown.join("\n")}\n`);
    let at = 0;
    for (const id of unknown) {
      const end = out.indexOf(10, at);
      const [, type, size] = out.toString("latin1", at, end).split(" ");
      const bytes = Number(size ?? 0);
      known.set(id, type === "blob" ? tokensOf(out.toString("utf8", end + 1, end + 1 + bytes)) : []);
      at = size === undefined ? end + 1 : end + 1 + bytes + 1;
    }
  }

  function tokensIn(ids: readonly string[]): Set<string> {
    learn(ids);
    return new Set(ids.flatMap((id) => known.get(id) ?? []));
  }

  function history(...from: string[]): ReadonlySet<string> {
    const lines = repo.tryGit("rev-list", "--objects", "--no-object-names", ...from).stdout;
    return tokensIn(lines.split("\n").filter((id) => id !== ""));
  }

  function files(listing: string): Map<string, string> {
    const found = new Map<string, string>();
    for (const line of listing.split("\0")) {
      const tab = line.indexOf("\t");
      const [mode, , third] = line.slice(0, tab).split(" ");
      if (tab > 0 && mode !== undefined && third !== undefined) found.set(line.slice(tab + 1), third);
    }
    return found;
  }

  function indexEntries(): Map<string, string> {
    const entries = new Map<string, string>();
    for (const line of repo.git("ls-files", "-sz").split("\0")) {
      const tab = line.indexOf("\t");
      const [, blob = "", stage] = line.slice(0, tab).split(" ");
      if (tab > 0) entries.set(`${line.slice(tab + 1)}:${stage}`, blob);
    }
    return entries;
  }

  return {
    look() {
      const found = listRefs(repo.gitdir, "refs");
      const head = readFileSync(join(repo.gitdir, "HEAD"), "utf8");
      const refs = `${head}${found.map(({ name, id }) => `${name} ${id}`).join("\n")}`;
      const main = found.find(({ name }) => name === "refs/heads/main")?.id ?? null;
      const tipFiles = once("tip", String(main), () =>
        main === null ? new Map<string, string>() : files(repo.git("ls-tree", "-rz", main)),
      );
      const raw = orAbsent(() => readFileSync(join(repo.gitdir, "index"), "latin1")) ?? "";
      const entries = once("index", raw, indexEntries);
      const diskFiles = workingFiles(repo.root);
      const others = found.filter(
        ({ name }) => name !== "refs/heads/main" && !name.startsWith("refs/notesd/"),
      );
      const all = once("refs", refs, () => history("--all"));
      return {
        refs: all,
        firm: once("firm", refs, () =>
          refs.includes("refs/notesd/") ? history("--exclude=refs/notesd/*", "--all") : all,
        ),
        main,
        head,
        tip: tokensIn([...tipFiles.values()]),
        tipFiles,
        disk: new Set([...diskFiles.values()].flatMap(tokensOf)),
        diskFiles,
        index: tokensIn([...entries.values()]),
        entries,
        others: `${head}${others.map(({ name, id }) => `${name} ${id}`).join("\n")}`,
      };
    },
    reflog: () => history("--all", "--reflog"),
  };
}

function workingFiles(root: string): Map<string, string> {
  const found = new Map<string, string>();
  const walk = (folder: string) => {
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (entry.name === ".git") continue;
      if (entry.isDirectory()) walk(path);
      else if (entry.isFile()) found.set(path, readFileSync(join(root, path), "utf8"));
    }
  };
  walk("");
  return found;
}
