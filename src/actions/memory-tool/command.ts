/**
 * The command object of the Anthropic memory tool, from the flat parameters of `memory.run` to one shape a command.
 * What a field holds is not judged here: a model reads why in the reply.
 */
import { z } from "zod";
import { AgentRef, WriteInputs } from "../inputs.ts";
import { invalidParams } from "../issues.ts";

export type MemoryCommand =
  | { readonly command: "view"; readonly path: string; readonly viewRange: readonly [number, number] | null }
  | { readonly command: "create"; readonly path: string; readonly fileText: string }
  | {
      readonly command: "str_replace";
      readonly path: string;
      readonly oldStr: string;
      readonly newStr: string;
    }
  | { readonly command: "insert"; readonly path: string; readonly line: number; readonly text: string }
  | { readonly command: "delete"; readonly path: string }
  | { readonly command: "rename"; readonly oldPath: string; readonly newPath: string };

const COMMANDS = ["view", "create", "str_replace", "insert", "delete", "rename"] as const;

const Line = z.number().multipleOf(1);

const Fields = {
  path: z.string().optional().describe("/memories or a file or directory in it; rename takes two others."),
  view_range: z
    .array(Line)
    .length(2)
    .optional()
    .describe("view: the first and the last line to show, from 1; -1 as the last is the end."),
  file_text: z.string().optional().describe("create: the new file's text."),
  old_str: z.string().optional().describe("str_replace: text that occurs exactly once."),
  new_str: z.string().optional().describe("str_replace: takes its place; empty removes it."),
  insert_line: Line.optional().describe("insert: the line to put it after; 0 for the beginning."),
  insert_text: z.string().optional().describe("insert: the text to put in."),
  old_path: z.string().optional().describe("rename: what to rename or move."),
  new_path: z.string().optional().describe("rename: where it goes; nothing may be there."),
} as const;

type Field = keyof typeof Fields;

/** What each command needs, and what it may have beside that. */
const TAKES: Readonly<
  Record<(typeof COMMANDS)[number], { needs: readonly Field[]; may?: readonly Field[] }>
> = {
  view: { needs: ["path"], may: ["view_range"] },
  create: { needs: ["path", "file_text"] },
  str_replace: { needs: ["path", "old_str", "new_str"] },
  insert: { needs: ["path", "insert_line", "insert_text"] },
  delete: { needs: ["path"] },
  rename: { needs: ["old_path", "new_path"] },
};

export const MemoryRunInput = z.strictObject({
  command: z.enum(COMMANDS).describe("What to do."),
  ...Fields,
  target_agent_id: AgentRef.optional().describe(
    "Whose /memories. Persons must name it; an agent's is its own.",
  ),
  ...WriteInputs,
});

type Given = z.output<typeof MemoryRunInput>;

/**
 * The command that parameters say.
 *
 * @throws NotesError INVALID_PARAMS  a field that the command needs is missing, or one is another command's
 */
export function commandOf(given: Given): MemoryCommand {
  const { command } = given;
  const { needs, may = [] } = TAKES[command];
  const fields = Object.keys(Fields) as Field[]; // they are written above
  const issues = fields.flatMap((path) => {
    const isThere = given[path] !== undefined;
    if (!isThere && needs.includes(path)) return [{ path, message: `is required by ${command}` }];
    if (!isThere || needs.includes(path) || may.includes(path)) return [];
    return [
      { path, message: `is not a parameter of ${command}, which takes ${[...needs, ...may].join(", ")}` },
    ];
  });
  if (issues.length > 0) throw invalidParams("memory.run", issues);
  // What a command needs is there from here on; the defaults below are never taken.
  const { path = "", old_path: oldPath = "", new_path: newPath = "" } = given;
  switch (command) {
    case "view":
      return { command, path, viewRange: pair(given.view_range) };
    case "create":
      return { command, path, fileText: given.file_text ?? "" };
    case "str_replace":
      return { command, path, oldStr: given.old_str ?? "", newStr: given.new_str ?? "" };
    case "insert":
      return { command, path, line: given.insert_line ?? 0, text: given.insert_text ?? "" };
    case "delete":
      return { command, path };
    case "rename":
      return { command, oldPath, newPath };
    default:
      return command satisfies never;
  }
}

function pair(range: readonly number[] | undefined): readonly [number, number] | null {
  return range === undefined ? null : [range[0] ?? 1, range[1] ?? -1];
}
