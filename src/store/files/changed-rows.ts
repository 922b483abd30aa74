/** Rows of the base table that changed since its snapshot, by path and by folder; a row of nothing is a path that is gone. */
import type { RepoPath } from "../../domain/note.ts";
import { folderOf } from "../../lib/slash-path.ts";
import type { Row } from "./frozen-rows.ts";

export interface ChangedRows {
  readonly size: number;
  get(path: RepoPath): Row | undefined;
  set(path: RepoPath, row: Row): void;
  /** Every row; of one folder and those below it when given. @cost then the folders there are, not the paths */
  each(under?: string): Generator<readonly [RepoPath, Row]>;
}

export function changedRows(): ChangedRows {
  const rows = new Map<RepoPath, Row>();
  const byFolder = new Map<string, Set<RepoPath>>();
  return {
    get size() {
      return rows.size;
    },
    get: (path) => rows.get(path),
    set(path, row) {
      if (!rows.has(path)) {
        const folder = folderOf(path);
        const paths = byFolder.get(folder);
        if (paths === undefined) byFolder.set(folder, new Set([path]));
        else paths.add(path);
      }
      rows.set(path, row);
    },
    *each(under) {
      if (under === undefined) return yield* rows;
      for (const [folder, paths] of byFolder) {
        if (folder !== under && !folder.startsWith(`${under}/`)) continue;
        for (const path of paths) {
          const row = rows.get(path);
          if (row !== undefined) yield [path, row];
        }
      }
    },
  };
}
