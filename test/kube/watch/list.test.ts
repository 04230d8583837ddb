import fc from "fast-check";
import { expect, test } from "vitest";
import { readList } from "../../../src/kube/watch/list.ts";

async function* inChunks(bytes: Uint8Array, size: number) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function read(text: string, size: number) {
  const items: unknown[] = [];
  const shell = await readList<unknown>(inChunks(Buffer.from(text), size), (item) => items.push(item), "GET /x");
  return { shell, items };
}

test("any list reads the same in pieces as in one, wherever it is cut", async () => {
  const item = fc.oneof(fc.dictionary(fc.string({ unit: "grapheme" }), fc.jsonValue()), fc.jsonValue());
  const document = fc.record({
    kind: fc.string({ unit: "grapheme" }),
    before: fc.jsonValue(),
    items: fc.array(item),
    metadata: fc.record({ resourceVersion: fc.string(), items: fc.array(fc.jsonValue()) }),
  });
  await fc.assert(
    fc.asyncProperty(document, fc.integer({ min: 1, max: 40 }), fc.constantFrom(0, 2), async (list, size, indent) => {
      const { shell, items } = await read(JSON.stringify(list, null, indent), size);
      const expected = JSON.parse(JSON.stringify(list));
      expect(items).toEqual(expected.items);
      expect(shell).toEqual({ ...expected, items: [] });
    }),
    { numRuns: 300 },
  );
});

test("brackets, quotes and commas inside strings are text", async () => {
  const tricky = [{ a: '],}{["' }, { b: '\\",\\' }, { items: [1, { items: [] }] }, { é: "日本🚢" }];
  for (const size of [1, 2, 3, 7, 1000]) {
    expect((await read(JSON.stringify({ kind: '"items":[1]', items: tricky }), size)).items).toEqual(tricky);
  }
});

test("an empty list, or one without items, has none", async () => {
  expect((await read('{"items":[ ],"metadata":{"resourceVersion":"1"}}', 4)).items).toEqual([]);
  expect((await read('{"items":null}', 4)).items).toEqual([]);
});

test("a list that is cut off is an error that quotes nothing", async () => {
  const cut = read('{"items":[{"a":1},{"secret":"hunter2', 10);
  await expect(cut).rejects.toThrow("GET /x: the answer is not JSON, or was cut off");
  await expect(cut).rejects.not.toThrow("hunter2");
});
