/** Where the code of a worker thread lies: beside the module that starts it, built. */

/**
 * The file to give to a `Worker`. A worker of Node reads no TypeScript, so that what runs from source takes the
 * built file, which `npm run build` puts at the same place under `dist`.
 *
 * @param name without ending, e.g. `scan-worker`
 * @param from `import.meta.url` of the module beside it
 */
export function workerFile(name: string, from: string): URL {
  const beside = new URL(`${name}.js`, from);
  if (!from.endsWith(".ts")) return beside;
  const at = beside.href.lastIndexOf("/src/");
  return new URL(`${beside.href.slice(0, at)}/dist/${beside.href.slice(at + "/src/".length)}`);
}
