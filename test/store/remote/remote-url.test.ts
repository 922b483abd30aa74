import { expect, test } from "vitest";
import { parseRemoteUrl } from "../../../src/store/remote/remote-url.ts";

test.each([
  "https://pat%0ahost=other.example@git.example/notes.git",
  "https://pat:a%0d%0ab@git.example/notes.git",
  "https://pat%00@git.example/notes.git",
  "https://git.example/notes%0a.git",
  "https://git.exa\nmple/notes.git",
  "https://git.example/no\ttes.git",
  "https://50%@git.example/notes.git",
  "https://git%0aexample/notes.git",
  "https://",
])("%j is refused, and no login of it is shown", (text) => {
  const refused = (() => {
    try {
      return parseRemoteUrl(text);
    } catch (error) {
      return error;
    }
  })();
  expect(refused).toMatchObject({ code: "INVALID_PARAMS" });
  expect(String(refused)).not.toMatch(/pat|50%@/);
});

test.each(["https://git.example/notes.git", "https://p%40t:s%25@git.example:8443/a%20b.git"])(
  "%s is one",
  (url) => {
    expect(parseRemoteUrl(url)).toEqual({ kind: "http", url });
  },
);
