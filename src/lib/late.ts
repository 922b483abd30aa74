/**
 * Packages that few calls need, loaded when the first of them comes: a start loads none of them. For packages in
 * CommonJS; `import type` beside it says what they hold.
 */
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

/**
 * Put off loading a package.
 * @param name  as an import names it
 * @returns gives the package @throws what loading it throws, at the first call
 */
export function late<T>(name: string): () => T {
  let loaded: { readonly it: T } | null = null;
  return () => {
    // What the package exports is what its types say.
    loaded ??= { it: require(name) as T };
    return loaded.it;
  };
}
