/**
 * One HTTP request to a daemon of this machine. Not `fetch`: loading that costs a hook or a command more processor
 * time than all it does. Follows no redirect.
 */
import { type IncomingHttpHeaders, request } from "node:http";

export interface PlainAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/**
 * @param url `http://…`
 * @throws Error nobody listens, or no whole answer within `withinMs`
 */
export function plainHttp(
  url: URL,
  options: {
    readonly method?: "GET" | "POST";
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: string;
    readonly withinMs: number;
  },
): Promise<PlainAnswer> {
  const { method = "GET", headers = {}, body, withinMs } = options;
  return new Promise((resolve, reject) => {
    const asked = request(url, { method, headers, agent: false }, (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
      });
      answer.once("error", failed);
      answer.once("end", () => {
        clearTimeout(timer);
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text });
      });
    });
    const timer = setTimeout(() => asked.destroy(new Error(`no answer within ${withinMs} ms`)), withinMs);
    function failed(error: Error): void {
      clearTimeout(timer);
      reject(error);
    }
    asked.once("error", failed);
    asked.end(body);
  });
}
