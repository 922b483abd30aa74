/** Refusals over HTTP: one JSON-RPC error in the body, whatever was asked for, so that clients can read why. */
import { STATUS_CODES } from "node:http";
import type { ErrorCode } from "../domain/errors.ts";
import { errorReply } from "../lib/jsonrpc.ts";

const CODES: Readonly<Record<number, ErrorCode>> = {
  400: "INVALID_REQUEST",
  401: "UNAUTHENTICATED",
  403: "FORBIDDEN",
  404: "NOT_FOUND",
  405: "INVALID_REQUEST",
  413: "TOO_LARGE",
  415: "INVALID_REQUEST",
  421: "FORBIDDEN",
  500: "INTERNAL",
  501: "NOT_CONFIGURED",
  503: "OVERLOADED",
};

/** Headers of everything that is answered here. */
export const COMMON_HEADERS = {
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
} as const;

/** The body of a refusal. */
export function refusalBody(
  status: number,
  message: string,
  data: Readonly<Record<string, unknown>> = {},
): string {
  return errorReply(null, {
    code: status,
    message,
    data: { code: CODES[status] ?? "INVALID_REQUEST", ...data },
  });
}

/** A whole refusal as it goes over a connection that was to be upgraded; the connection ends with it. */
export function refusalText(
  status: number,
  message: string,
  headers: Readonly<Record<string, string>>,
): string {
  const body = refusalBody(status, message);
  const all = {
    ...COMMON_HEADERS,
    ...headers,
    connection: "close",
    "content-type": "application/json",
    "content-length": String(Buffer.byteLength(body)),
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? "Refused"}\r\n${lines.join("")}\r\n${body}`;
}
