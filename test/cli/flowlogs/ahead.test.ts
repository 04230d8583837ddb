import { Readable } from "node:stream";
import { setImmediate } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { createFilter } from "../../../src/diagnostics/flow-logs/filter.ts";
import { readListPage } from "../../../src/diagnostics/flow-logs/listing.ts";
import { readFlowLogs } from "../../../src/diagnostics/flow-logs/read.ts";
import { lineOf } from "./lines.ts";

const KB = 1024;
const packed = gzipSync(`${lineOf({})}\n`);

async function* listed(sizes: readonly number[]) {
  for (const [nth, size] of sizes.entries()) yield { key: `${nth}.log.gz`, lastModified: 0, size };
}

/** Reads objects of these sizes, as the list shows them. Returns how many there were, and the most that were fetched at once. */
async function read(sizes: number[]) {
  let [fetching, most] = [0, 0];
  const { records } = await readFlowLogs({
    objects: listed(sizes),
    open: async () => {
      most = Math.max(most, ++fetching);
      await setImmediate();
      fetching -= 1;
      return Readable.from([packed]);
    },
    filter: createFilter({ ports: new Set() }),
    signal: new AbortController().signal,
    record() {},
    badLine: (key, line, reason) => expect.fail(`${key}:${line}: ${reason}`),
    badObject: (_, error) => expect.fail(error.message),
    between: async () => true,
  });
  return { records, most };
}

const objects = (count: number, size: number) => Array.from({ length: count }, () => size);

describe("objects are fetched ahead", () => {
  it("many at once if they are small: a bucket with thousands of them answers each one late", async () => {
    expect(await read(objects(100, 10 * KB))).toEqual({ records: 100, most: 32 });
  });

  it("a few at once if they are large, or if the list does not tell their size", async () => {
    expect(await read(objects(20, 64 * KB * KB))).toEqual({ records: 20, most: 4 });
    expect(await read(objects(20, Number.NaN))).toEqual({ records: 20, most: 4 });
  });

  it("as many as hold four megabytes together", async () => {
    expect(await read(objects(40, 512 * KB))).toEqual({ records: 40, most: 8 });
  });
});

it("the size of an object is in the list of the bucket", () => {
  const entry = (size: string) => `<Contents><Key>a</Key><LastModified>x</LastModified>${size}</Contents>`;
  const sizes = (xml: string) =>
    readListPage(`<ListBucketResult>${xml}</ListBucketResult>`).objects.map(({ size }) => size);
  expect(sizes(entry("<Size>1024</Size>") + entry("<Size>many</Size>") + entry(""))).toEqual([
    1024,
    Number.NaN,
    Number.NaN,
  ]);
});
