import { expect, test } from "vitest";
import { NotesError } from "../../src/domain/errors.ts";
import { asStorageError, withStorageErrors } from "../../src/store/storage-error.ts";

const systemError = (code: string) => Object.assign(new Error(code), { code });

test.each(["ENOSPC", "EDQUOT", "EROFS", "EACCES", "EIO"])(
  "%s is STORAGE with the errno and a way out",
  (code) => {
    const error = asStorageError(systemError(code), "writing the pack");
    expect(error).toBeInstanceOf(NotesError);
    expect(error).toMatchObject({ code: "STORAGE", data: { errno: code } });
    expect(String(error)).toMatch(/^NotesError: writing the pack failed: .+; .+/);
  },
);

test("an error that no disk caused stays what it is", async () => {
  const bug = new TypeError("x");
  expect(asStorageError(bug, "anything")).toBe(bug);
  const missing = systemError("ENOENT");
  await expect(withStorageErrors("reading", () => Promise.reject(missing))).rejects.toBe(missing);
});
