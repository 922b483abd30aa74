import { expect, test } from "vitest";
import { gitEnvironment } from "../../src/lib/git-environment.ts";

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
    GIT_CONFIG_COUNT: "3",
    GIT_CONFIG_KEY_0: "a.b",
    GIT_CONFIG_VALUE_0: "1",
    GIT_CONFIG_KEY_1: "c.d",
    GIT_CONFIG_VALUE_1: "x",
    GIT_CONFIG_KEY_2: "c.d",
    GIT_CONFIG_VALUE_2: "y",
  });
});
