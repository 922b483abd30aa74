/** The person who runs this: `user.name` and `user.email` of Git's config, else a name from the system. */
import { execFile } from "node:child_process";
import { homedir, userInfo } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Author } from "../domain/event.ts";
import { readGitConfig } from "../lib/git-config.ts";
import type { GitPlace } from "../lib/git-dir.ts";
import { parsePerson } from "./identities/parse-person.ts";

type Env = Readonly<Record<string, string | undefined>>;

/**
 * Who the person is. Native Git is asked when there is one, for it knows `includeIf`; without it the
 * repository's, the user's and the system's files are read.
 */
export async function personOf(place: GitPlace | null, env: Env): Promise<Author> {
  const values = (await askGit(place, env)) ?? (await readFiles(place, env));
  const user = systemUser();
  const name = values.get("user.name") ?? user;
  const email = values.get("user.email") ?? `${user}@localhost`;
  try {
    return parsePerson({ name, email });
  } catch {
    // Git takes names and addresses that would break a header, and cuts them; the system's name is safe.
    return { name: user, email: `${user}@localhost` };
  }
}

function systemUser(): string {
  let name = "";
  try {
    name = userInfo().username;
  } catch {
    // A container's user may have no entry in the system's list of users.
  }
  return name.replace(/[^\p{L}\p{N}._-]/gu, "") || "person";
}

async function askGit(place: GitPlace | null, env: Env): Promise<Map<string, string> | null> {
  try {
    const at = place ? ["-C", place.root] : [];
    const { stdout } = await promisify(execFile)(
      "git",
      [...at, "config", "--null", "--get-regexp", "^user\\.(name|email)$"],
      { env: { ...env, GIT_TERMINAL_PROMPT: "0" }, timeout: 5_000 },
    );
    const pairs = stdout.split("\0").filter((line) => line !== "");
    return new Map(
      pairs.map((line) => [line.slice(0, line.indexOf("\n")), line.slice(line.indexOf("\n") + 1)]),
    );
  } catch {
    // No Git, or none of the two keys: the files say the same.
    return null;
  }
}

async function readFiles(place: GitPlace | null, env: Env): Promise<Map<string, string>> {
  const home = env["HOME"] ?? homedir();
  const files = [
    "/etc/gitconfig",
    join(env["XDG_CONFIG_HOME"] ?? join(home, ".config"), "git", "config"),
    env["GIT_CONFIG_GLOBAL"] ?? join(home, ".gitconfig"),
    ...(place ? [join(place.gitDir, "config")] : []),
  ];
  const found = new Map<string, string>();
  for (const file of files) {
    // A file that can't be read or parsed names nobody; Git itself complains about it where it matters.
    const values = await readGitConfig(file).catch(() => new Map<string, string[]>());
    for (const key of ["user.name", "user.email"]) {
      const value = values.get(key)?.at(-1);
      if (value !== undefined) found.set(key, value);
    }
  }
  return found;
}
