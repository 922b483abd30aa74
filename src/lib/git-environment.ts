/** The environment of a native Git that we start: nothing that someone set for another Git or for us. */

type Env = Readonly<Record<string, string | undefined>>;

/** What a Git that acts for somebody else gets to know of ours. */
const PASSED_ON = ["PATH", "HOME", "XDG_CONFIG_HOME", "TMPDIR", "TZ", "SYSTEMROOT"];

/**
 * What a Git needs besides to reach a remote as whoever runs us: the SSH agent, proxies, trusted certificates, and the
 * keyrings of credential helpers. Nothing that runs a program or asks at a screen (GIT_SSH_COMMAND, SSH_ASKPASS, DISPLAY):
 * `core.sshCommand` of Git's config is for that.
 */
export const FOR_REMOTES: readonly string[] = [
  ...["USER", "LOGNAME", "SSH_AUTH_SOCK", "SSH_AGENT_PID", "SSL_CERT_FILE", "SSL_CERT_DIR"],
  ...["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"],
  ...["XDG_RUNTIME_DIR", "XDG_DATA_HOME", "XDG_CACHE_HOME", "DBUS_SESSION_BUS_ADDRESS"],
  ...["GNUPGHOME", "PASSWORD_STORE_DIR", "GCM_CREDENTIAL_STORE", "APPDATA", "LOCALAPPDATA", "USERPROFILE"],
];

/**
 * A clean environment with settings that count before every config file.
 *
 * @param settings by their Git names, e.g. `core.hooksPath`; a list sets the key several times
 * @param also further names that are passed on, as `FOR_REMOTES`
 * @see git-config(1), GIT_CONFIG_COUNT; Git 2.31 and later
 */
export function gitEnvironment(
  env: Env,
  settings: Readonly<Record<string, string | readonly string[]>> = {},
  also: readonly string[] = [],
): Record<string, string> {
  // What refs/replace names would be seen instead of what is there.
  const clean: Record<string, string> = {
    LC_ALL: "C",
    GIT_TERMINAL_PROMPT: "0",
    GIT_NO_REPLACE_OBJECTS: "1",
  };
  for (const name of [...PASSED_ON, ...also]) {
    const value = env[name];
    if (value !== undefined) clean[name] = value;
  }
  const pairs = Object.entries(settings).flatMap(([key, value]) =>
    (typeof value === "string" ? [value] : value).map((one) => [key, one] as const),
  );
  clean["GIT_CONFIG_COUNT"] = String(pairs.length);
  for (const [i, [key, value]] of pairs.entries()) {
    clean[`GIT_CONFIG_KEY_${i}`] = key;
    clean[`GIT_CONFIG_VALUE_${i}`] = value;
  }
  return clean;
}
