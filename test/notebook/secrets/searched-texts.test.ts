import { expect, test } from "vitest";
import { findSecrets } from "../../../src/domain/secrets/secrets.ts";
import { searchedTexts } from "../../../src/notebook/secrets/searched-texts.ts";
import { secretSpecimens } from "../../support/secret-specimens.ts";

const KEY = new Uint8Array(32).fill(7);

test("a note that is searched in parts gives what the whole does, the first time and the next", async () => {
  const search = searchedTexts(KEY);
  for (const { text } of secretSpecimens()) {
    for (const note of [
      `---\ntitle: ${text}\nid: x\n---\n\nOne.\n\n${text}\n`,
      `---\r\ntitle: a\r\n---\r\n${text}\r\n---\r\n${text}`,
      `${text}\n---\n${text}\n`,
      `---\na: b\n---  \n${"word ".repeat(300)}\n${text}\n`,
      `---\n${text}\n---`,
      ...[1, 9, 25, 70].map((at) => `a\n${text.slice(0, at)}\n---\n${text.slice(at)}\n`),
    ]) {
      const whole = await findSecrets(note, KEY);
      expect([note, await search(note)]).toEqual([note, whole]);
      expect(await search(note)).toEqual(whole);
    }
  }
});
