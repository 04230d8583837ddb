import fc from "fast-check";
import { expect, test } from "vitest";
import { linesOf } from "../../../src/kube/watch/lines.ts";

async function linesIn(chunks: Iterable<Uint8Array>): Promise<string[]> {
  async function* source() {
    yield* chunks;
  }
  const lines: string[] = [];
  for await (const line of linesOf(source())) lines.push(line);
  return lines;
}

function* cut(bytes: Uint8Array, size: number) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

test("lines come out whole wherever the bytes were cut, even inside a character", async () => {
  const line = fc.string({ unit: "grapheme" }).filter((text) => text.isWellFormed() && !text.includes("\n"));
  await fc.assert(
    fc.asyncProperty(fc.array(line), fc.integer({ min: 1, max: 9 }), async (lines, size) => {
      const bytes = Buffer.from(lines.map((text) => `${text}\n`).join(""));
      expect(await linesIn(cut(bytes, size))).toEqual(lines.filter((text) => text !== ""));
    }),
  );
});

test("text after the last newline is a line, too", async () => {
  expect(await linesIn([Buffer.from("a\nb")])).toEqual(["a", "b"]);
});

test("a line of 64 MB in small pieces arrives in no time, which needs time in proportion to its length", async () => {
  const piece = Buffer.alloc(1024, "x");
  const pieces = Array.from({ length: 64 * 1024 }, () => piece);
  const [line] = await linesIn([...pieces, Buffer.from("\n")]);
  expect(line).toHaveLength(64 * 1024 * 1024);
});
