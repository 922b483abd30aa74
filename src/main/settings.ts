/**
 * What can be set, in one schema: the JSON Schema that is published comes from it, and so does `config set`.
 * Where values come from and who wins is `read-settings.ts`.
 * Invariant: every key here is one that the contract names, and no other key is ever accepted.
 *
 * @see spec: protocol, section 6 (Settings)
 */
import { z } from "zod";
import { holdsPassword, PASSWORD_REMEDY } from "../store/remote/remote-url.ts";

const name = z.string().min(1).max(255);
/** Settings are kept and printed in clear. */
const withoutPassword = <T extends z.ZodType<string>>(text: T): T =>
  text.refine((given) => !holdsPassword(given), `a password in a URL is kept nowhere: ${PASSWORD_REMEDY}`);
const milliseconds = z.number().int().min(0).max(86_400_000);
const priority = z.number().min(0).max(1);
const perSecond = z.number().min(0).max(1_000_000).optional();

/** A folder below the repository's top, `/` separated; `.` is the whole tree. */
const Root = z
  .string()
  .transform((text) => text.replace(/^(?:\.\/)+(?=.)/, "").replace(/(?<=.)\/+$/, ""))
  .pipe(
    z
      .string()
      .regex(
        /^(?:\.|(?!\.)[^/\\]+(?:\/(?!\.)[^/\\]+)*)$/,
        "a folder below the repository's top, or . for all of it",
      ),
  );

const Later = z.record(z.string(), z.unknown());

/** Settings as they are written; everything may be absent. */
export const Settings = z.strictObject({
  repo: name.optional().describe("The note repository's folder; relative to the file that says so."),
  branch: name.optional().describe("The one branch whose tip is the truth. Default: the one at init."),
  roots: z
    .array(Root)
    .max(64)
    .optional()
    .describe("Folders whose Markdown files are notes, beside notes and memory; . is the whole tree."),
  host: name.optional().describe("Address to listen on. Default 127.0.0.1."),
  port: z
    .number()
    .int()
    .min(0)
    .max(65_535)
    .optional()
    .describe("Default 6683, or the next free to 6699; 0: any."),
  hosts: z.array(name).max(64).optional().describe("Further Host names (name or name:port) that are ours."),
  public_url: withoutPassword(z.url())
    .optional()
    .describe("How others reach this daemon, e.g. through a proxy."),
  allowed_origins: z
    .array(withoutPassword(z.url()))
    .max(64)
    .optional()
    .describe("Further web origins that may call."),
  types: z
    .record(z.string().regex(/^[a-z][a-z0-9_-]{0,63}$/), z.strictObject({ priority: priority.optional() }))
    .optional()
    .describe("Further note types, each with its priority for context, 0 to 1 (default 0.6)."),
  limits: z
    .strictObject({
      note_bytes: z
        .number()
        .int()
        .min(1024)
        .max(900_000)
        .optional()
        .describe("Largest note. Default 262144."),
      file_bytes: z
        .number()
        .int()
        .min(1024)
        .max(1_000_000_000)
        .optional()
        .describe("Largest file of any kind that a push may bring. Default 33554432."),
      queue: z
        .number()
        .int()
        .min(1)
        .max(100_000)
        .optional()
        .describe("Writes waiting at once. Default 4096."),
      lock_wait_ms: milliseconds.optional().describe("Longest wait for a lock of another Git. Default 5000."),
      reads_per_second: perSecond.describe(
        "Reads of one principal (a person, or an agent with all its tokens) a second on average, twice as many at once; more is answered 429. Default 20000; 0: no limit.",
      ),
      writes_per_second: perSecond.describe(
        "Writes of one principal a second on average, twice as many at once. Default 10000; 0: no limit.",
      ),
      in_flight: z
        .number()
        .int()
        .min(0)
        .max(1_000_000)
        .optional()
        .describe(
          "Requests of one principal that are carried out at once. Default 2048; 0: no limit beside queue.",
        ),
    })
    .optional(),
  durability: z
    .enum(["full", "relaxed"])
    .optional()
    .describe("full: an answer means it survives a power cut. relaxed: it survives a killed process."),
  reconcile: z
    .strictObject({
      quiet_ms: milliseconds.optional().describe("A hand edit is committed after this long. Default 10000."),
      max_wait_ms: milliseconds
        .optional()
        .describe("At most this long after the first save. Default 300000."),
      commit: z
        .enum(["auto", "manual"])
        .optional()
        .describe("manual: hand edits are the person's to commit."),
    })
    .optional(),
  filenames: z.enum(["id", "id-slug"]).optional().describe("File names of new notes. Default id."),
  front_matter: Later.optional(),
  links: Later.optional(),
  search: Later.optional(),
  embedder: Later.optional(),
  vectors: Later.optional(),
  context: Later.optional(),
  chunks: z
    .strictObject({
      tokens: z.number().int().min(16).max(8192).optional(),
      overlap: z.number().int().min(0).max(4096).optional(),
    })
    .optional(),
  capture: Later.optional(),
  report: z
    .strictObject({
      schedule: z.string().optional(),
      stale_after_days: z.number().min(0).optional(),
    })
    .optional(),
  sync: z
    .strictObject({
      remote: withoutPassword(name)
        .optional()
        .describe("The remote to be level with: a name of the repository's Git config, a URL or a folder."),
      interval_ms: milliseconds.optional().describe("Between two syncs. Default 300000; 0: none by itself."),
      on_change: z.boolean().optional().describe("Also when the branch moved here. Default true."),
      on_change_ms: milliseconds.optional().describe("So soon after it moved. Default 2000."),
    })
    .optional(),
});
export type Settings = z.output<typeof Settings>;

export type SettingName = keyof Settings;
export const SETTING_NAMES = Object.keys(Settings.shape) as readonly SettingName[]; // keys of a literal object

/** Accepted, because the contract names them, but nothing in this version reads them: whoever sets one is told. */
export const WITHOUT_EFFECT: readonly SettingName[] = [
  "front_matter",
  "links",
  "search",
  "embedder",
  "vectors",
  "context",
  "chunks",
  "capture",
  "report",
];

/** What a file inside the note repository may set: whoever can push must not open a port. */
export const REPOSITORY_MAY_SET: readonly SettingName[] = ["types", "capture", "report"];

/** The JSON Schema of a settings file, draft 2020-12. */
export function settingsSchema(): Record<string, unknown> {
  return {
    $id: "https://notesd.invalid/settings.schema.json",
    title: "notes.config.json",
    ...z.toJSONSchema(Settings.extend({ $schema: z.string().optional() }), { io: "input" }),
  };
}
