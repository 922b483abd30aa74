/**
 * A model that remembers: the Anthropic memory tool, answered by notesd. What it writes under /memories is in Git.
 *
 *     npm i notesd @anthropic-ai/sdk && npx notesd start --detach
 *     ANTHROPIC_API_KEY=… node memory-tool.mjs "What did we conclude about the login?"
 */

/** Let a model work until it asks for no tool any more. @param client of notesd, connected as an agent */
export async function ask(model, client, question) {
  const messages = [{ role: "user", content: question }];
  for (;;) {
    const { content } = await model.messages.create({
      model: "claude-sonnet-4-5",
      max_tokens: 4096,
      tools: [{ type: "memory_20250818", name: "memory" }],
      messages,
    });
    messages.push({ role: "assistant", content });
    const calls = content.filter((block) => block.type === "tool_use");
    if (calls.length === 0) return content.map((block) => block.text ?? "").join("");
    const results = [];
    for (const { id, input } of calls)
      results.push({ type: "tool_result", tool_use_id: id, ...(await remember(client, input)) });
    messages.push({ role: "user", content: results });
  }
}

/** What a model can mend comes back as text; what it can't (a busy repository, a secret) as an error it is told of. */
async function remember(client, input) {
  return client.memory.run(input).then(
    (content) => ({ content }),
    ({ message }) => ({ content: `Error: ${message}`, is_error: true }),
  );
}

if (import.meta.filename === process.argv[1]) {
  const { default: Anthropic } = await import("@anthropic-ai/sdk");
  const { connect } = await import("notesd/client");
  const client = await connect({ agent: "planner" });
  console.log(await ask(new Anthropic(), client, process.argv[2]));
  client.close();
}
