/** A parser for tests of the fold: `key: value` lines between `---`, nothing of YAML. `!` as first byte can't be read. */
import { agentIdOf, parseNoteId } from "../../src/domain/identity.ts";
import type { RepoPath } from "../../src/domain/note.ts";
import type { ParsedFile } from "../../src/index/parsed-file.ts";
import { stemOf } from "../../src/lib/slash-path.ts";

export function plainParse(path: RepoPath, bytes: Uint8Array): ParsedFile {
  const text = Buffer.from(bytes).toString();
  if (text.startsWith("!")) {
    const brief = { title: stemOf(path), type: null, tags: [], claim: null };
    return { brief, said: null, body: text, trouble: { line: 1, reason: "begins with !" } };
  }
  const block = /^---\n([\s\S]*?)\n?---\n/.exec(text);
  const keys = new Map(
    (block?.[1] ?? "").split("\n").map((line) => [line.split(": ")[0], line.split(": ")[1]]),
  );
  const of = (key: string) => keys.get(key) ?? null;
  return {
    brief: {
      title: of("title") ?? stemOf(path),
      type: of("type") ?? "general",
      tags: of("tags")?.split(",") ?? [],
      claim: parseNoteId(of("id") ?? ""),
    },
    said: {
      createdAt: of("created_at"),
      updatedAt: of("updated_at"),
      status: of("status") === "resolved" ? "resolved" : "open",
      scope: of("scope") === "agent" ? "agent" : "workspace",
      scopeRefId: null,
      key: of("key"),
      agentId: of("agent") === null ? null : agentIdOf(of("agent") ?? ""),
      agentName: of("agent"),
      pinned: of("pinned") === "true",
      expiresAt: of("expires_at"),
      extra: {},
    },
    body: text.slice(block?.[0].length ?? 0),
    trouble: null,
  };
}
