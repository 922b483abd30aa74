import { expect, test } from "vitest";
import { canonicalHash, canonicalJson } from "../../src/lib/canonical-json.ts";

test("members are ordered by UTF-16 code units and numbers are written as RFC 8785 says", () => {
  expect(
    canonicalJson({ "\u20ac": 1, "\r": 2, "1": [1e30, 4.5, 0.002, 1e-27, -0], b: { d: null, c: "é\n" } }),
  ).toBe('{"\\r":2,"1":[1e+30,4.5,0.002,1e-27,0],"b":{"c":"é\\n","d":null},"€":1}');
});

test("equal values have equal hashes whatever their order", () => {
  expect(canonicalHash({ a: 1, b: [2] })).toBe(canonicalHash({ b: [2], a: 1 }));
  expect(canonicalHash({ a: 1 })).not.toBe(canonicalHash({ a: "1" }));
  // SHA-256 of the two bytes {}
  expect(canonicalHash({})).toBe("44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a");
});
