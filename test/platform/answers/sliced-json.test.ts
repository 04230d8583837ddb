import fc from "fast-check";
import { expect, test } from "vitest";
import { parseInSlices } from "../../../src/platform/answers/sliced-json.ts";

const parse = (text: string) =>
  parseInSlices(text, () => undefined, String, 8).then(
    ({ body }) => value(body),
    () => "no JSON",
  );
const value = (parsed: unknown) => ({ parsed });

function plainly(text: string) {
  try {
    return value(JSON.parse(text));
  } catch {
    return "no JSON";
  }
}

test("text that is parsed in pieces has the value that it has as a whole", async () => {
  await fc.assert(
    fc.asyncProperty(fc.json({ maxDepth: 6 }), fc.nat(4), async (text, indent) => {
      const spaced = JSON.stringify(JSON.parse(text), undefined, indent);
      expect(await parse(spaced)).toEqual(plainly(spaced));
    }),
    { numRuns: 1_500 },
  );
});

test("invalid JSON is invalid in pieces, too", async () => {
  const damage = fc.record({
    at: fc.nat(60),
    cut: fc.nat(3),
    put: fc.constantFrom("", ",", "]", "}", "[", "{", '"', ":", "1", "\\"),
  });
  await fc.assert(
    fc.asyncProperty(fc.json({ maxDepth: 4 }), fc.array(damage, { maxLength: 2 }), async (text, damages) => {
      const broken = damages.reduce((left, { at, cut, put }) => left.slice(0, at) + put + left.slice(at + cut), text);
      expect(await parse(broken)).toEqual(plainly(broken));
    }),
    { numRuns: 3_000 },
  );
});

test("blanks between brackets are no members", async () => {
  for (const text of [
    "[          ]",
    "{          }",
    "[ {        } ]",
    '[[{"":{}     }      ]   ]',
    '{"a" : [1]          }',
  ])
    expect(await parse(text)).toEqual(plainly(text));
});

test("a field named __proto__ is a field", async () => {
  const text = '{"__proto__":{"admin":true},"padding":"0123456789"}';
  const { parsed } = Object(await parse(text));
  expect(Object.keys(parsed)).toEqual(["__proto__", "padding"]);
  expect(Object.getPrototypeOf(parsed)).toBe(Object.prototype);
});
