/**
 * THE table of errors: stable code, JSON-RPC number, HTTP status, exit code, and whether a caller may
 * send the same request again. Nothing else in the program assigns any of these.
 *
 * @see spec: protocol, section 5 (errors) and 6 (exit codes)
 */

interface ErrorRow {
  /** `error.code` on the wire. */
  readonly number: number;
  /** Status where the error is the whole HTTP answer. */
  readonly http: number;
  /** Exit code of the command line. */
  readonly exit: number;
  /** True when the same request may succeed later without a change by the caller. */
  readonly retryable: boolean;
}

const row = (number: number, http: number, exit: number, retryable = false): ErrorRow => ({
  number,
  http,
  exit,
  retryable,
});

export const ERRORS = {
  PARSE_ERROR: row(-32700, 400, 2),
  INVALID_REQUEST: row(-32600, 400, 2),
  METHOD_NOT_FOUND: row(-32601, 404, 2),
  INVALID_PARAMS: row(-32602, 400, 2),
  INTERNAL: row(-32603, 500, 1),
  UNAUTHENTICATED: row(401, 401, 6),
  FORBIDDEN: row(403, 403, 6),
  NOT_FOUND: row(404, 404, 4),
  CONFLICT: row(409, 409, 5),
  UNKNOWN_COMMIT: row(410, 410, 4),
  TOO_LARGE: row(413, 413, 2),
  INVALID_NOTE: row(422, 422, 1),
  NOT_CONFIGURED: row(424, 424, 1),
  IDEMPOTENCY_MISMATCH: row(425, 425, 5),
  OVERLOADED: row(429, 429, 1, true),
  SECRET_REFUSED: row(451, 451, 6),
  REPO_BUSY: row(503, 503, 7, true),
  STORAGE: row(507, 507, 8, true),
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof ERRORS;

/**
 * A refusal that crosses the wire. The message is for people: what is wrong, what was expected, what to
 * do next. It never holds a token, a stack trace or a complete destructive command.
 */
export class NotesError extends Error {
  override readonly name = "NotesError";
  readonly code: ErrorCode;
  /** Members of `error.data` beside `code`; JSON values only. */
  readonly data: Readonly<Record<string, unknown>>;

  constructor(code: ErrorCode, message: string, data: Record<string, unknown> = {}, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.data = data;
  }
}
