/** This program's own files: its version, its entry point, its hooks. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

interface Manifest {
  readonly version: string;
}

// Our own manifest, beside both src and dist.
const manifest = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as Manifest;

export const program = {
  version: manifest.version,
  /** Of the wire contract. */
  protocol: "1",
  /** Absolute path of the command line's entry. */
  bin: fileURLToPath(new URL(`./bin${import.meta.url.endsWith(".ts") ? ".ts" : ".js"}`, import.meta.url)),
} as const;
