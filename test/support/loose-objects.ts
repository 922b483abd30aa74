/** Copy the objects of a memory store into a real repository, so that native Git can be asked about them. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { deflateSync } from "node:zlib";
import type { MemoryObjects } from "./memory/memory-objects.ts";

export function writeLoose(gitdir: string, objects: MemoryObjects): void {
  for (const { id, kind, content } of objects.all()) {
    const file = join(gitdir, "objects", id.slice(0, 2), id.slice(2));
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, deflateSync(Buffer.concat([Buffer.from(`${kind} ${content.length}\0`), content])));
  }
}
