/** Everything an index can tell, as plain data: two indexes of one head must be deeply equal. */
import type { CommitId } from "../../src/domain/note.ts";
import type { NoteIndex } from "../../src/index/note-index.ts";

export function stateOfIndex(index: NoteIndex) {
  const ids = index.files().map((file) => file.noteId);
  const rows = index.history({}, 1_000_000, null).items;
  const everyId = [...new Set([...ids, ...rows.map((row) => row.noteId)])].sort();
  const everyPath = [...new Set(rows.map((row) => row.path))].sort();
  return {
    head: index.head,
    digest: index.digest(),
    files: index.files(),
    notes: ids.map((id) => [index.get(id), index.content(id), index.quarantine(id)]),
    size: index.size(),
    duplicates: [...index.duplicates()].sort((a, b) => (a.other < b.other ? -1 : 1)),
    quarantined: [...index.quarantined()].sort((a, b) => (a.path < b.path ? -1 : 1)),
    list: index.list({ filter: {}, viewer: { kind: "person" }, nowMs: 0, limit: 1_000_000, cursor: null }),
    recall: index.recall({
      key: null,
      prefix: "",
      filter: {},
      viewer: { kind: "person" },
      nowMs: 0,
      limit: 1_000_000,
    }),
    disagreements: index.disagreements(),
    history: rows,
    rowsOf: [...new Set(rows.map((row) => row.commit))].map((commit) => index.rowsOf(commit)),
    paths: everyId.map((id) => [id, index.pathsOf(id), index.deletedIn(id)]),
    past: [...new Set(rows.map((row) => row.commit))].map((commit: CommitId) =>
      everyPath.map((path) => index.fileAt(commit, path)),
    ),
    agents: index.agents(),
    folders: ["notes", "notes/d"].map((folder) => index.folderCount(folder)),
    search: ["alpha", "be", "x", "a"].flatMap((query) =>
      (["ranked", "substring"] as const).map((mode) =>
        index.search({
          query,
          mode,
          fields: "title-body-tags",
          filter: {},
          viewer: { kind: "person" },
          nowMs: 0,
          limit: 50,
        }),
      ),
    ),
  };
}
