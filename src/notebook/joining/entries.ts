/** Small questions about entries of a tree. */
import type { Entry } from "../../store/advance.ts";

export const sameEntry = (a: Entry | null, b: Entry | null) => a?.id === b?.id && a?.mode === b?.mode;

/** A regular file, executable or not. */
export const isFile = (entry: Entry | null): entry is Entry => entry?.mode.startsWith("100") === true;
