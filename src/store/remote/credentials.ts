/**
 * Who we are to a remote over HTTP: what main read from the environment, else Git's own credential helper. Kept in
 * memory for as long as it works, and never written or shown by us.
 */
import { type GitRun, runGit } from "./run-git.ts";

export interface Login {
  readonly username: string;
  readonly password: string;
}

export interface Credentials {
  /** A login to try after the remote asked for one; null: there is none. */
  ask(): Promise<Login | null>;
  worked(login: Login): Promise<void>;
  /** It was refused: the helper forgets it. */
  failed(login: Login): Promise<void>;
}

interface Around {
  readonly gitdir: string;
  readonly url: string;
  readonly given: Login | null;
  readonly env: Readonly<Record<string, string | undefined>>;
}

const LIMIT_MS = 20_000;

export function credentialsOf({ gitdir, url, given, env }: Around): Credentials {
  const asked = new URL(url);
  const inUrl: Login | null =
    asked.password === ""
      ? null
      : { username: decodeURIComponent(asked.username), password: decodeURIComponent(asked.password) };
  const fixed = given ?? inUrl;
  let helped: Login | null = null;

  async function helper(verb: "fill" | "approve" | "reject", login: Login | null): Promise<GitRun | null> {
    const lines = [
      `protocol=${asked.protocol.slice(0, -1)}`,
      `host=${asked.host}`,
      `path=${asked.pathname.slice(1)}`,
      ...(login === null
        ? asked.username === ""
          ? []
          : [`username=${decodeURIComponent(asked.username)}`]
        : [`username=${login.username}`, `password=${login.password}`]),
    ];
    try {
      return await runGit(gitdir, ["credential", verb], {
        env,
        limitMs: LIMIT_MS,
        input: `${lines.join("\n")}\n\n`,
      });
    } catch {
      // Trigger: no native Git, or a helper that hangs. Why: then there is no login. Outcome: the remote's refusal stands.
      return null;
    }
  }

  return {
    async ask() {
      if (fixed !== null) return fixed;
      if (helped !== null) return helped;
      const run = await helper("fill", null);
      const value = (key: string) => new RegExp(`^${key}=(.*)$`, "m").exec(run?.out ?? "")?.[1];
      const [username, password] = [value("username"), value("password")];
      return run?.code === 0 && username !== undefined && password !== undefined
        ? { username, password }
        : null;
    },
    async worked(login) {
      if (login === fixed || login === helped) return;
      helped = login;
      await helper("approve", login);
    },
    async failed(login) {
      if (login === fixed) return;
      helped = null;
      await helper("reject", login);
    },
  };
}
