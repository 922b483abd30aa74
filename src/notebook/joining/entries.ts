/** Small questions about entries of a tree. */
import type { Entry } from "../../store/advance.ts";

/** A regular file, executable or not. */
export const isFile = (entry: Entry | null): entry is Entry => entry?.mode.startsWith("100") === true;
