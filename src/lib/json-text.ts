/** JSON text that may be damaged, cut short or none at all. */

/** The value, or null for what is no JSON (and for `null`). */
export function jsonOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
