import { expect, it } from "vitest";
import { progressTo } from "../../../src/cli/activity/progress.ts";

const clear = "\r\x1b[K";

/** Shows 92,000 entries in pages of 1,000, each page 50 ms after the one before. */
function shown(isTTY: boolean, total: number | undefined): string[] {
  const written: string[] = [];
  let now = 0;
  const progress = progressTo({ isTTY, write: (text) => written.push(text) }, () => now);
  for (let read = 1000; read <= 92_000; read += 1000, now += 50) progress.show(read, total);
  progress.clear();
  progress.clear();
  return written;
}

it("a long read shows how far it is, on one line of a terminal, five times a second", () => {
  const written = shown(true, 92_000);
  expect(written.slice(0, 2)).toEqual([
    `${clear}reading … 1,000 of 92,000 entries`,
    `${clear}reading … 5,000 of 92,000 entries`,
  ]);
  expect(written).toHaveLength(23 + 1);
  expect(written.at(-1)).toBe(clear);
});

it("a log that does not tell its size shows what was read", () => {
  expect(shown(true, undefined)[0]).toBe(`${clear}reading … 1,000 entries`);
});

it("there is no progress elsewhere", () => {
  expect(shown(false, 92_000)).toEqual([]);
});
