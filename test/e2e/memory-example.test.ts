/** The example of a model loop runs as it is, with a model that plays a script, against a real daemon. */
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { type Client, connect } from "../../src/client/client.ts";
import { servedRepo } from "../support/daemon.ts";

const served = servedRepo();

type Block =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "tool_use"; readonly id: string; readonly name: string; readonly input: object };
interface Request {
  readonly tools: readonly object[];
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
}
type Ask = (model: object, client: Client, question: string) => Promise<string>;

/** Answers with one list of blocks after the other, and keeps what it was sent. */
function scripted(...turns: readonly Block[][]) {
  const requests: Request[] = [];
  const create = async (request: Request) => {
    requests.push(structuredClone(request));
    return { content: turns[requests.length - 1] ?? [] };
  };
  return { messages: { create }, requests };
}

const use = (id: string, input: object): Block => ({ type: "tool_use", id, name: "memory", input });

async function example(): Promise<Ask> {
  const path = fileURLToPath(new URL("../../examples/memory-tool.mjs", import.meta.url));
  // The example is plain JavaScript, as a reader would write it.
  return ((await import(path)) as { ask: Ask }).ask;
}

test("a model is given what each call of the tool answered, and its last words come back", async () => {
  const client = await connect({ url: served.daemon.http, token: served.daemon.token, agent: "example" });
  const model = scripted(
    [{ type: "text", text: "I look first." }, use("t1", { command: "view", path: "/memories" })],
    [
      use("t2", {
        command: "create",
        path: "/memories/login.md",
        file_text: "the token is read too early\n",
      }),
      use("t3", { command: "view", path: "/memories/login.md" }),
    ],
    [use("t4", { command: "shout", path: "/memories" })],
    [{ type: "text", text: "It is the token." }],
  );
  expect(await (await example())(model, client, "What broke the login?")).toBe("It is the token.");
  expect(model.requests[0]?.tools).toEqual([{ type: "memory_20250818", name: "memory" }]);
  expect(model.requests.at(-1)?.messages.map(({ role }) => role)).toEqual([
    "user",
    ...["assistant", "user", "assistant", "user", "assistant", "user"],
  ]);
  const results = model.requests
    .at(-1)
    ?.messages.filter(({ role }) => role === "user")
    .slice(1);
  expect(results?.map(({ content }) => content)).toEqual([
    [{ type: "tool_result", tool_use_id: "t1", content: expect.stringContaining("0B\t/memories") }],
    [
      { type: "tool_result", tool_use_id: "t2", content: "File created successfully at: /memories/login.md" },
      { type: "tool_result", tool_use_id: "t3", content: expect.stringContaining("     1\tthe token") },
    ],
    [
      {
        type: "tool_result",
        tool_use_id: "t4",
        content: expect.stringMatching(/^Error: .*command/),
        is_error: true,
      },
    ],
  ]);
  client.close();
});
