import { expect, test } from "vitest";
import { FOR_REMOTES, gitEnvironment } from "../../src/lib/git-environment.ts";

test("only what a Git needs gets through, and settings come as pairs", () => {
  const env = {
    PATH: "/bin",
    HOME: "/h",
    GIT_DIR: "/x",
    NOTESD_TOKEN: "t",
    GIT_CONFIG_COUNT: "9",
    LC_ALL: "de",
  };
  expect(gitEnvironment(env, { "a.b": "1", "c.d": ["x", "y"] })).toEqual({
    PATH: "/bin",
    HOME: "/h",
    LC_ALL: "C",
    GIT_TERMINAL_PROMPT: "0",
    GIT_NO_REPLACE_OBJECTS: "1",
    GIT_CONFIG_COUNT: "3",
    GIT_CONFIG_KEY_0: "a.b",
    GIT_CONFIG_VALUE_0: "1",
    GIT_CONFIG_KEY_1: "c.d",
    GIT_CONFIG_VALUE_1: "x",
    GIT_CONFIG_KEY_2: "c.d",
    GIT_CONFIG_VALUE_2: "y",
  });
});

test("to reach a remote the agent and proxies get through, and nothing that runs a program or asks", () => {
  const reach = { PATH: "/bin", SSH_AUTH_SOCK: "/s", https_proxy: "http://p", NO_PROXY: "x" };
  const kept = { GIT_SSH_COMMAND: "evil", SSH_ASKPASS: "/ask", DISPLAY: ":0", NOTESD_REMOTE_TOKEN: "t" };
  const found = gitEnvironment({ ...reach, ...kept }, {}, FOR_REMOTES);
  expect(found).toMatchObject(reach);
  for (const name of Object.keys(kept)) expect(found).not.toHaveProperty(name);
});
