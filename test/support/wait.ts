/** Waiting for a condition: tests ask for what they need to see, never for time to pass. */

/**
 * Call `probe` until it returns something other than undefined, null or false.
 * @throws Error naming `what` after `timeoutMs`, with the last error that the probe threw
 */
export async function until<T>(
  what: string,
  probe: () => T | Promise<T>,
  timeoutMs = 20_000,
): Promise<NonNullable<Exclude<T, false>>> {
  const deadline = performance.now() + timeoutMs;
  let last: unknown = null;
  while (performance.now() < deadline) {
    try {
      const value = await probe();
      // The three empty values are excluded just above the cast's type.
      if (value !== undefined && value !== null && value !== false)
        return value as NonNullable<Exclude<T, false>>;
    } catch (error) {
      last = error;
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error(`waited ${timeoutMs} ms in vain for ${what}${last === null ? "" : `: ${String(last)}`}`);
}
