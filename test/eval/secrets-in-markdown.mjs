/**
 * What the scanner says of Markdown that people published: `npm run build && node test/eval/secrets-in-markdown.mjs
 * FOLDER…` (default: node_modules). Prints every hit with its place and kind, the value cut to its first characters,
 * and the rate; what docs/secrets.md lists as judged is marked. Exit 1 when a hit is not in that list.
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { findSecrets } from "../../dist/domain/secrets/secrets.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
/** Any: the fingerprints are for this list alone. */
const KEY = createHash("sha256").update("false positives").digest();
const folders = process.argv.slice(2);
if (folders.length === 0) folders.push(join(ROOT, "node_modules"));

/** Fingerprints that docs/secrets.md has a verdict on. */
const judged = new Map(
  [
    ...readFileSync(join(ROOT, "docs/secrets.md"), "utf8").matchAll(
      /^\| `([0-9a-f]{16})` \|.*\| ([^|]+) \|$/gm,
    ),
  ].map(([, fingerprint, verdict]) => [fingerprint, verdict.trim()]),
);

const seen = new Set();
let [files, bytes, hits, unjudged] = [0, 0, 0, 0];
for (const folder of folders) {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !/\.(?:md|markdown)$/i.test(entry.name)) continue;
    const file = join(entry.parentPath, entry.name);
    const text = readFileSync(file, "utf8");
    const hash = createHash("sha256").update(text).digest("hex");
    // Packages carry each other's files.
    if (seen.has(hash)) continue;
    seen.add(hash);
    files++;
    bytes += text.length;
    for (const { kind, line, fingerprint } of await findSecrets(text, KEY)) {
      hits++;
      const verdict = judged.get(fingerprint);
      if (verdict === undefined) unjudged++;
      const place = relative(folder, file).split(sep).join("/");
      const shown = text.split("\n")[line - 1].trim().slice(0, 60);
      console.log(
        `${fingerprint}  ${kind.padEnd(22)} ${place}:${line}  ${verdict ?? "NOT JUDGED"}  ${shown}`,
      );
    }
  }
}
const rate = ((100 * hits) / files).toFixed(2);
console.log(
  `${files} different files, ${(bytes / 1e6).toFixed(1)} MB: ${hits} hits (${rate} a hundred files), ${unjudged} not judged`,
);
process.exitCode = unjudged > 0 ? 1 : 0;
