import { expect, test } from "vitest";
import { blobBatch, readAhead } from "../../../src/store/history/read-ahead.ts";
import { blobOf } from "../../support/drafts.ts";

const texts = ["a", "", "some text"];
const byId = new Map(texts.map((text) => [blobOf(text), Buffer.from(text)]));
const ids = [...byId.keys()];
const read = (id: (typeof ids)[number]) => {
  const found = byId.get(id);
  if (found === undefined) throw new Error("missing");
  return found;
};

test("what was read ahead is given once, whole, and not after its history was told", () => {
  const ahead = readAhead();
  const history = ahead.open();
  history.put(blobBatch([...ids, ...ids], read));
  expect(ids.map((id) => ahead.take(id)?.toString())).toEqual(texts);
  expect(ids.map((id) => ahead.take(id))).toEqual([undefined, undefined, undefined]);
  history.put(blobBatch(ids, read));
  history.close();
  expect(ahead.take(blobOf("a"))).toBeUndefined();
});

test("a blob that can't be read, and one too large to go along, is left to whoever wants it", () => {
  const large = blobOf("large");
  const batch = blobBatch([blobOf("absent"), large, ...ids], (id) =>
    id === large ? Buffer.alloc(2 << 20) : read(id),
  );
  expect(batch.ids).toEqual(ids);
});

test("only the last batches of a history are held", () => {
  const ahead = readAhead();
  const history = ahead.open();
  history.put(blobBatch([blobOf("a")], read));
  for (let n = 0; n < 4; n++) history.put(blobBatch([blobOf("some text")], read));
  expect(ahead.take(blobOf("a"))).toBeUndefined();
  expect(ahead.take(blobOf("some text"))?.toString()).toBe("some text");
});
