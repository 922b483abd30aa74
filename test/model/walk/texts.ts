/**
 * Where the texts of a walk are: in what refs reach, at the branch's tip, on the disk, in the Git index. A text is a token
 * that nobody writes twice. Blobs are read once; a place is looked at anew each time.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { GitRepo } from "../../support/git-repo.ts";

const TOKEN = /<t\d+>/g;

export const tokensOf = (text: string): string[] => text.match(TOKEN) ?? [];

export interface Places {
  /** In any ref's history: branches, the stash, kept conflicts. */
  readonly refs: ReadonlySet<string>;
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
  const historyOf = new Map<string, ReadonlySet<string>>();

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

  return {
    look() {
      const refs = repo.git("for-each-ref", "--format=%(refname) %(objectname)");
      const all = historyOf.get(refs) ?? history("--all");
      historyOf.clear();
      historyOf.set(refs, all);
      const main = /^refs\/heads\/main (\w+)$/m.exec(refs)?.[1];
      const tipFiles = main === undefined ? new Map() : files(repo.git("ls-tree", "-rz", main));
      const staged = new Map<string, string>();
      for (const line of repo.git("ls-files", "-sz").split("\0")) {
        const tab = line.indexOf("\t");
        const [, blob = "", stage] = line.slice(0, tab).split(" ");
        if (tab > 0) staged.set(`${line.slice(tab + 1)}:${stage}`, blob);
      }
      const diskFiles = workingFiles(repo.root);
      return {
        refs: all,
        tip: tokensIn([...tipFiles.values()]),
        tipFiles,
        disk: new Set([...diskFiles.values()].flatMap(tokensOf)),
        diskFiles,
        index: tokensIn([...staged.values()]),
        entries: staged,
        others: `${readFileSync(join(repo.gitdir, "HEAD"), "utf8")}${refs
          .split("\n")
          .filter((line) => !/^refs\/(?:heads\/main|notesd\/)/.test(line))
          .join("\n")}`,
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
