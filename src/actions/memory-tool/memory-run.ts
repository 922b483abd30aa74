/**
 * `memory.run`: the Anthropic memory tool (type `memory_20250818`) over the caller's own notebook. A file
 * `/memories/<key>` is the agent-scope memory of that key: what `notes.save` wrote is a file here, and what is
 * written here is recalled. The reply is the tool's own text, also where it says what went wrong.
 */
import { z } from "zod";
import { MemoryRefusal } from "../../domain/memory-tool/refusal.ts";
import { defineAction } from "../action.ts";
import { WRITE_ERRORS } from "../write.ts";
import { commandOf, type MemoryCommand, MemoryRunInput } from "./command.ts";
import { deletePath } from "./delete-path.ts";
import { createFile, insertText, replaceText } from "./edit-file.ts";
import { type Memories, openMemories } from "./memories.ts";
import { renamePath } from "./rename-path.ts";
import { viewPath } from "./view-path.ts";

export const memoryRun = defineAction({
  name: "memory.run",
  effects: "destructive",
  alone: true,
  summary: "The Anthropic memory tool over one's own notebook.",
  description:
    "Takes the input of the Anthropic memory tool (memory_20250818, named memory) as it is and answers the text for its tool_result, errors that a model can mend included. Files under /memories are the agent-scope memory of the same key, so notes.save and notes.recall see them. A file's changes are commits; a deleted one stays in the history.",
  input: MemoryRunInput,
  output: z.string(),
  errors: ["CONFLICT", "INVALID_NOTE", ...WRITE_ERRORS],
  examples: [
    {
      name: "What is remembered",
      params: { command: "view", path: "/memories" },
      result:
        "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items and node_modules:\n0B\t/memories",
    },
    {
      name: "A new file",
      params: {
        command: "create",
        path: "/memories/notes.txt",
        file_text: "Meeting notes:\n- Discussed project timeline\n- Next steps defined\n",
      },
      result: "File created successfully at: /memories/notes.txt",
    },
  ],
  cli: { command: "memory", positional: ["command", "path"] },
  async run(params, context) {
    const command = commandOf(params);
    const memories = openMemories(params, context);
    try {
      return await carryOut(command, memories);
    } catch (error) {
      // Trigger: what a model can mend. Why: the tool's client hands the text to it. Outcome: the text is the result.
      if (error instanceof MemoryRefusal) return error.message;
      throw error;
    }
  },
});

function carryOut(command: MemoryCommand, memories: Memories): Promise<string> {
  switch (command.command) {
    case "view":
      return viewPath(command, memories);
    case "create":
      return createFile(command, memories);
    case "str_replace":
      return replaceText(command, memories);
    case "insert":
      return insertText(command, memories);
    case "delete":
      return deletePath(command, memories);
    case "rename":
      return renamePath(command, memories);
    default:
      return command satisfies never;
  }
}
