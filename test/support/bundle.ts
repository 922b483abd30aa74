/** Turn one TypeScript file into a program that Node runs, for tests that need a process of their own. */
import { join } from "node:path";
import { build } from "vite";

/** @returns absolute path of the bundled program in `outDir` */
export async function bundle(entry: string, outDir: string): Promise<string> {
  await build({
    configFile: false,
    logLevel: "error",
    ssr: { noExternal: true },
    build: {
      ssr: entry,
      outDir,
      emptyOutDir: false,
      minify: false,
      target: "node20",
      rollupOptions: { output: { entryFileNames: "program.mjs" } },
    },
  });
  return join(outDir, "program.mjs");
}
