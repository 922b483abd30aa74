/**
 * Refuses repositories that the store can't serve rightly, before anything is changed: each refusal is a
 * sentence with the setting to change or the command that converts. Attributes are `attribute-check.ts`.
 */
import { randomBytes } from "node:crypto";
import {
  existsSync,
  linkSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { NotesError } from "../../domain/errors.ts";
import { errnoOf, orAbsent } from "../../lib/durable-file.ts";
import { readGitConfig } from "../../lib/git-config.ts";
import { folderOf } from "../../lib/slash-path.ts";
import { type GitIndex, readIndex } from "../git-index/git-index.ts";
import { readShared } from "../git-index/shared-index.ts";
import { asStorageError } from "../storage-error.ts";
import { noteFilter } from "../trees/note-filter.ts";
import { type AttributeCheck, attributeRefusals } from "./attribute-check.ts";

export interface PreflightWish extends Omit<AttributeCheck, "folders"> {
  /** What new notes will be called, to judge beside those that Git's index has. */
  readonly paths: readonly string[];
  /** Absolute, symbolic links resolved. */
  readonly root: string;
  readonly gitdir: string;
  /** Full name, e.g. `refs/heads/main`. */
  readonly ref: string;
  /** Note roots relative to `root`; `.` for the whole tree. */
  readonly roots: readonly string[];
  /** The user who runs us; null where there are no user ids. */
  readonly uid: number | null;
}

export interface Refusal {
  /** Stable name of the obstacle. */
  readonly kind:
    | "bare"
    | "linked-worktree"
    | "branch-in-worktree"
    | "work-tree-elsewhere"
    | "object-format"
    | "ref-format"
    | "extension"
    | "partial-clone"
    | "alternates"
    | "index"
    | "sparse-checkout"
    | "owner"
    | "device"
    | "hard-links"
    | "attributes";
  readonly message: string;
}

type Config = ReadonlyMap<string, readonly string[]>;
const last = (config: Config, name: string) => config.get(name)?.at(-1) ?? null;
const isTrue = (value: string | null) => value !== null && /^(true|yes|on|1)$/i.test(value);
const refusal = (kind: Refusal["kind"], message: string): Refusal => ({ kind, message });

/** Extensions that change nothing for us. */
const HARMLESS = new Set(["noop", "preciousobjects", "worktreeconfig", "relativeworktrees"]);
const ANEW = "make a new repository with notesd init, and fetch the branch into it";

function formats(config: Config): Refusal[] {
  const found: Refusal[] = [];
  for (const name of config.keys()) {
    if (!name.startsWith("extensions.")) continue;
    const key = name.slice("extensions.".length);
    const value = last(config, name)?.toLowerCase() ?? "";
    if (key === "objectformat" && value !== "sha1")
      found.push(
        refusal(
          "object-format",
          `The repository has ${value} object ids, and only sha1 is supported: ${ANEW}.`,
        ),
      );
    else if (key === "refstorage" && value !== "files")
      found.push(
        refusal("ref-format", `Refs are stored as ${value}. Run git refs migrate --ref-format=files.`),
      );
    else if (key === "partialclone")
      found.push(
        refusal(
          "partial-clone",
          "The repository is a partial clone. Fetch what is missing with git fetch --refetch --no-filter, then unset extensions.partialClone.",
        ),
      );
    else if (!HARMLESS.has(key) && key !== "objectformat" && key !== "refstorage")
      found.push(
        refusal("extension", `The repository needs the extension ${key}, which is unknown here: ${ANEW}.`),
      );
  }
  return found;
}

function layout({ root, gitdir, ref }: PreflightWish, config: Config): Refusal[] {
  const found: Refusal[] = [];
  if (isTrue(last(config, "core.bare")))
    found.push(
      refusal("bare", "The repository is bare (core.bare is true). Clone it, and run notesd in the clone."),
    );
  if (existsSync(join(gitdir, "commondir")))
    found.push(
      refusal(
        "linked-worktree",
        "This is a linked working tree. Run notesd in the main working tree, or in a clone of its own.",
      ),
    );
  const elsewhere = last(config, "core.worktree");
  if (elsewhere !== null && orAbsent(() => realpathSync(resolve(gitdir, elsewhere))) !== root)
    found.push(
      refusal(
        "work-tree-elsewhere",
        `core.worktree names ${elsewhere}, not ${root}. Unset it with git config --unset core.worktree.`,
      ),
    );
  for (const name of orAbsent(() => readdirSync(join(gitdir, "worktrees"))) ?? []) {
    const head = orAbsent(() => readFileSync(join(gitdir, "worktrees", name, "HEAD"), "utf8"));
    if (head?.trim() === `ref: ${ref}`)
      found.push(
        refusal(
          "branch-in-worktree",
          `${ref} is checked out in the linked working tree ${name}. Check out another branch there, or remove that working tree (see git worktree list).`,
        ),
      );
  }
  return found;
}

function objects({ gitdir }: PreflightWish): Refusal[] {
  const has = (file: string) =>
    (orAbsent(() => readFileSync(join(gitdir, file), "utf8")) ?? "").trim() !== "";
  const found: Refusal[] = [];
  if (has("objects/info/alternates"))
    found.push(
      refusal(
        "alternates",
        "Objects are borrowed from another repository (objects/info/alternates). Run git repack -ad, then remove that file.",
      ),
    );
  return found;
}

function index(
  { gitdir }: PreflightWish,
  config: Config,
): { readonly found: readonly Refusal[]; readonly read: GitIndex | null } {
  const found: Refusal[] = [];
  if (Number(last(config, "index.version") ?? 2) > 3)
    found.push(refusal("index", "index.version is 4. Set it to 2 with git config index.version 2."));
  // Set by us: then a split index is most likely ours, and a person's is read as well.
  const maySplit = last(config, "notesd.splitindex") === "true";
  if (isTrue(last(config, "core.splitindex")) && !maySplit)
    found.push(
      refusal(
        "index",
        "core.splitIndex is true. Run git update-index --no-split-index, and git config core.splitIndex false.",
      ),
    );
  if (isTrue(last(config, "core.sparsecheckout")))
    found.push(
      refusal(
        "sparse-checkout",
        "core.sparseCheckout is true: files that are left out look deleted. Run git sparse-checkout disable.",
      ),
    );
  try {
    const { index } = readIndex(gitdir, maySplit ? (name) => readShared(gitdir, name) : undefined);
    return { found, read: index };
  } catch (error) {
    if (!(error instanceof NotesError)) throw error;
    found.push(refusal("index", error.message));
  }
  return { found, read: null };
}

function attributes(wish: PreflightWish, read: GitIndex | null): Refusal[] {
  const { file } = noteFilter(wish.roots);
  const folders = new Set(wish.paths.map(folderOf));
  for (const folder of read?.folders(".md") ?? []) folders.add(folder);
  const check: AttributeCheck = {
    ...wish,
    folders,
    get paths() {
      const tracked = read === null ? [] : Array.from(read.entries(), ({ path }) => path);
      return [...tracked.filter((path) => file(path)), ...wish.paths];
    },
  };
  return attributeRefusals(check).map(({ message }) => refusal("attributes", message));
}

function owner({ root, gitdir, uid }: PreflightWish): Refusal[] {
  if (uid === null) return [];
  return [...new Set([root, gitdir])]
    .filter((folder) => statSync(folder).uid !== uid)
    .map((folder) =>
      refusal(
        "owner",
        `${folder} belongs to another user (id ${statSync(folder).uid}, and this is ${uid}). Run notesd as its owner, or change the owner with chown -R.`,
      ),
    );
}

/** Files are put in place by hard link and rename, so Git directory and notes share a file system that has both. */
function placing({ root, gitdir, roots }: PreflightWish): Refusal[] {
  const device = statSync(gitdir).dev;
  const folders = ["", ...roots].map((folder) => join(root, folder)).filter((folder) => existsSync(folder));
  const apart = [...new Set(folders)].filter((folder) => statSync(folder).dev !== device);
  if (apart.length > 0)
    return apart.map((folder) =>
      refusal("device", `${folder} is on another file system than ${gitdir}. Move the one to the other's.`),
    );
  const probe = `.notesd-probe-${randomBytes(6).toString("hex")}`;
  try {
    writeFileSync(join(gitdir, probe), "", { flag: "wx" });
    linkSync(join(gitdir, probe), join(root, probe));
  } catch (error) {
    if (!["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EXDEV", "EMLINK"].includes(errnoOf(error) ?? ""))
      throw asStorageError(error, "trying a hard link");
    return [
      refusal(
        "hard-links",
        `The file system of ${root} has no hard links. Move the repository to one that has.`,
      ),
    ];
  } finally {
    for (const folder of [gitdir, root]) orAbsent(() => unlinkSync(join(folder, probe)));
  }
  return [];
}

/**
 * Everything that stands in the way of serving this repository; empty when nothing does.
 * @throws NotesError STORAGE the folders can't be read or written
 * @cost one parse of the Git index, one hard link made and removed, one look into each folder with notes
 * @see spec: storage, sections 1 and 3 (Start)
 */
export async function preflight(wish: PreflightWish): Promise<Refusal[]> {
  const config = new Map(await readGitConfig(join(wish.gitdir, "config")));
  if (isTrue(last(config, "extensions.worktreeconfig")))
    for (const [name, values] of await readGitConfig(join(wish.gitdir, "config.worktree")))
      config.set(name, values);
  const unfit = [...formats(config), ...layout(wish, config), ...owner(wish)];
  // The rest reads what an unknown format may not have.
  if (unfit.length > 0) return unfit;
  const { found, read } = index(wish, config);
  return [...objects(wish), ...found, ...placing(wish), ...attributes(wish, read)];
}
