/** memory.run against a plain file system in a Map: any sequence of commands gives the same replies and leaves the same files. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { invoke } from "../../../src/actions/invoke.ts";
import { registry } from "../../../src/actions/registry.ts";
import { agentIdOf } from "../../../src/domain/identity.ts";
import { contextOf } from "../../support/call.ts";
import { agent, openTestNotebook } from "../../support/open-notebook.ts";

type Input = Readonly<Record<string, unknown>>;

/** Files by path; written anew from the tool's documentation, without a line of the program. */
class PlainFiles {
  readonly files = new Map<string, string>();

  #under(path: string): string[] {
    return [...this.files.keys()].filter((file) => file.startsWith(`${path}/`));
  }

  #isDirectory(path: string): boolean {
    return path === "/memories" || this.#under(path).length > 0;
  }

  #fileAbove(path: string): string | undefined {
    return [...this.files.keys()].find((file) => path.startsWith(`${file}/`));
  }

  #number(lines: readonly string[], first: number): string[] {
    return lines.map((line, i) => `${`      ${first + i}`.slice(-6)}\t${line}`);
  }

  #lines(text: string): string[] {
    return text === "" ? [] : text.replace(/\n$/, "").split("\n");
  }

  run(input: Input): string {
    // Each is what the command needs; the generators below see to that.
    const { command, path, old_path, new_path, file_text, old_str, new_str, insert_text } = input as Record<
      string,
      string
    >;
    const text = this.files.get(path ?? "");
    switch (command) {
      case "view":
        return text === undefined
          ? this.#list(path ?? "")
          : this.#show(path ?? "", text, input["view_range"]);
      case "create": {
        if (text !== undefined) return `Error: File ${path} already exists`;
        const above = this.#fileAbove(path ?? "");
        if (this.#isDirectory(path ?? ""))
          return `Error: File ${path} already exists as a directory; choose another name`;
        if (above) return `Error: ${path} can't be made: ${above} is a file and not a directory`;
        this.files.set(path ?? "", file_text ?? "");
        return `File created successfully at: ${path}`;
      }
      case "str_replace": {
        if (text === undefined) return `Error: The path ${path} does not exist. Please provide a valid path.`;
        const parts: number[] = [];
        for (let at = 0; at < text.length; at++) if (text.startsWith(old_str ?? "", at)) parts.push(at);
        if (parts.length === 0)
          return `No replacement was performed, old_str \`${old_str}\` did not appear verbatim in ${path}.`;
        const lineOf = (at: number) => text.slice(0, at).split("\n").length;
        if (parts.length > 1)
          return `No replacement was performed. Multiple occurrences of old_str \`${old_str}\` in lines: ${[...new Set(parts.map(lineOf))].join(", ")}. Please ensure it is unique`;
        this.files.set(path ?? "", text.split(old_str ?? "").join(new_str));
        return "The memory file has been edited.";
      }
      case "insert": {
        if (text === undefined) return `Error: The path ${path} does not exist`;
        const lines = this.#lines(text);
        const at = Number(input["insert_line"]);
        if (at > lines.length)
          return `Error: Invalid \`insert_line\` parameter: ${at}. It should be within the range of lines of the file: [0, ${lines.length}]`;
        const made = [...lines.slice(0, at), insert_text, ...lines.slice(at)].join("\n");
        this.files.set(path ?? "", text.endsWith("\n") ? `${made}\n` : made);
        return `The file ${path} has been edited.`;
      }
      case "delete": {
        if (path === "/memories") return "Error: Cannot delete the /memories directory itself";
        const gone = text === undefined ? this.#under(path ?? "") : [path ?? ""];
        if (gone.length === 0) return `Error: The path ${path} does not exist`;
        for (const file of gone) this.files.delete(file);
        return `Successfully deleted ${path}`;
      }
      default:
        return this.#rename(old_path ?? "", new_path ?? "");
    }
  }

  #rename(from: string, to: string): string {
    if (from === "/memories") return "Error: Cannot rename the /memories directory itself";
    const moved = this.files.has(from) ? [from] : this.#under(from);
    if (moved.length === 0) return `Error: The path ${from} does not exist`;
    if (this.files.has(to) || this.#isDirectory(to)) return `Error: The destination ${to} already exists`;
    if (to.startsWith(`${from}/`) && !this.files.has(from))
      return `Error: Cannot rename ${from} to ${to}: a directory can't be moved into itself`;
    const above = this.#fileAbove(to);
    if (above) return `Error: ${to} can't be made: ${above} is a file and not a directory`;
    for (const file of moved) {
      this.files.set(to + file.slice(from.length), this.files.get(file) ?? "");
      this.files.delete(file);
    }
    return `Successfully renamed ${from} to ${to}`;
  }

  #list(path: string): string {
    const under = this.#under(path);
    if (under.length === 0 && path !== "/memories")
      return `The path ${path} does not exist. Please provide a valid path.`;
    const rows = new Map<string, number>();
    let total = 0;
    for (const file of under) {
      const size = Buffer.byteLength(this.files.get(file) ?? "");
      const names = file.slice(path.length + 1).split("/");
      total += size;
      names.slice(0, 2).forEach((_, i) => {
        const row = `${path}/${names.slice(0, i + 1).join("/")}${i + 1 < names.length ? "/" : ""}`;
        rows.set(row, (rows.get(row) ?? 0) + size);
      });
    }
    const sorted = [...rows].sort(([a], [b]) => (a < b ? -1 : 1));
    return [
      `Here're the files and directories up to 2 levels deep in ${path}, excluding hidden items and node_modules:`,
      `${total}B\t${path}`,
      ...sorted.map(([row, size]) => `${size}B\t${row}`),
    ].join("\n");
  }

  #show(path: string, text: string, range: unknown): string {
    const lines = this.#lines(text);
    // As the generators make it.
    const [from, end] = (range as [number, number] | undefined) ?? [1, -1];
    const to = end === -1 ? lines.length : Math.min(end, lines.length);
    if (lines.length > 0 && from > to)
      return `Error: Invalid \`view_range\` parameter: [${from}, ${end}]. It should be within the range of lines of the file: [1, ${lines.length}]`;
    return [
      `Here's the content of ${path} with line numbers:`,
      ...this.#number(lines.slice(from - 1, to), from),
    ].join("\n");
  }
}

const path = fc
  .array(fc.constantFrom("a", "b", "c"), { minLength: 1, maxLength: 3 })
  .map((names) => `/memories/${names.join("/")}`);
const place = fc.oneof({ arbitrary: path, weight: 9 }, { arbitrary: fc.constant("/memories"), weight: 1 });
const words = fc.string({ unit: fc.constantFrom("x", "y", " ", "é"), maxLength: 3 });
const text = fc.array(words, { maxLength: 4 }).map((lines) => lines.join("\n"));
const piece = fc.string({ unit: fc.constantFrom("x", "y", "\n", " "), minLength: 1, maxLength: 3 });
const one = <T>(command: string, model: { [K in keyof T]: fc.Arbitrary<T[K]> }) =>
  fc.record({ command: fc.constant(command), ...model }) as fc.Arbitrary<Input>;
const commands = fc.array(
  fc.oneof(
    one("view", { path: place }),
    one("view", {
      path: place,
      view_range: fc.tuple(fc.integer({ min: 1, max: 5 }), fc.constantFrom(-1, 1, 2, 9)),
    }),
    { arbitrary: one("create", { path: place, file_text: text }), weight: 3 },
    one("str_replace", { path, old_str: piece, new_str: words }),
    one("insert", { path, insert_line: fc.nat(5), insert_text: words }),
    one("delete", { path: place }),
    { arbitrary: one("rename", { old_path: place, new_path: place }), weight: 2 },
  ),
  { minLength: 1, maxLength: 25 },
);

test("any commands give the replies and leave the files that a plain file system would", async () => {
  let run = 0;
  const opened = await openTestNotebook();
  try {
    await fc.assert(
      fc.asyncProperty(commands, async (inputs) => {
        // A notebook of its own for each run, on one repository that grows.
        const context = contextOf(opened.notebook, agent(`agent ${++run}`).principal);
        const model = new PlainFiles();
        const call = async (params: Input) =>
          String(await invoke(registry, { method: "memory.run", params }, context));
        for (const input of inputs) {
          const reply = (await call(input)).split(" Here is the snippet")[0];
          expect([input, reply]).toEqual([input, model.run(input)]);
        }
        const { rows } = opened.notebook.recall({
          ...{ key: null, prefix: "", limit: 100 },
          filter: { scope: "agent" },
          viewer: { kind: "agent", agentId: agentIdOf(`agent ${run}`) },
        });
        const left = rows.map(({ note, value }): [string, string] => [`/memories/${note.key}`, value]);
        expect(new Map(left.sort())).toEqual(new Map([...model.files].sort()));
      }),
      { numRuns: 60 },
    );
  } finally {
    await opened.dispose();
  }
});
