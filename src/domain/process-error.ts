/**
 * Refusals of the process itself, that never cross the wire: each with its exit code. What a request can be
 * refused for is the table in `errors.ts`.
 *
 * @see spec: protocol, section 6 (exit codes)
 */

export const PROCESS_EXITS = {
  FAILED: 1,
  USAGE: 2,
  ALREADY_RUNNING: 3,
  NOT_FOUND: 4,
  BUSY: 7,
  STORAGE: 8,
  NO_DAEMON: 9,
  PORT_TAKEN: 10,
} as const;

/** The message is for people: what is wrong, what was expected, what to do next. */
export class ProcessError extends Error {
  override readonly name = "ProcessError";
  readonly code: keyof typeof PROCESS_EXITS;

  constructor(code: keyof typeof PROCESS_EXITS, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
  }

  get exit(): number {
    return PROCESS_EXITS[this.code];
  }
}
