import { expect, test } from "vitest";
import { FLUSH, pktLine, readPackets } from "../../src/lib/pkt-line.ts";

async function* cut(text: string, size: number) {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}
const read = async (text: string, size: number) => {
  const found: unknown[] = [];
  for await (const packet of readPackets(cut(text, size))) found.push(packet);
  return found;
};

test("packets come back as they were written, however the stream is cut", async () => {
  const text = `${pktLine("version=1\0atomic")}${FLUSH}${pktLine("ok refs/für/main")}${FLUSH}`;
  expect(text.slice(0, 4)).toBe("0015");
  for (const size of [1, 3, 5, 100])
    expect(await read(text, size)).toEqual(["version=1\0atomic", null, "ok refs/für/main", null]);
});

test("what is no length is refused", async () => {
  await expect(read("0003", 4)).rejects.toThrow(/"0003"/);
  await expect(read("zzzz", 4)).rejects.toThrow(/pkt-line/);
});

test("a stream that ends inside a packet is refused", async () => {
  await expect(read("0009abc", 100)).rejects.toThrow(/cut short/);
  await expect(read("00", 1)).rejects.toThrow(/cut short/);
});
