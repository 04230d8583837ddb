import { Readable } from "node:stream";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { createGzip } from "node:zlib";
import { expect, test } from "vitest";
import { createFilter } from "../../../src/diagnostics/flow-logs/filter.ts";
import { readFlowLogs } from "../../../src/diagnostics/flow-logs/read.ts";
import { createTally } from "../../../src/diagnostics/flow-logs/top.ts";
import { createTraffic } from "./traffic.ts";

const MB = 1024 * 1024;
const PIECE_MB = 1;

/** A stream of this many megabytes that is never in memory as a whole. */
function packed(piece: Buffer, megabytes: number): Readable {
  const pieces = Array.from({ length: megabytes / PIECE_MB }, () => piece);
  return Readable.from(pieces).pipe(createGzip({ level: 1 }));
}

setFlagsFromString("--expose-gc");
/** Memory in use after a garbage collection: the amount of garbage is random. */
function memoryInUse(): number {
  runInNewContext("gc()");
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
const SAMPLES = 20;

/** Reads two objects of half the size each. Returns the peak of memory in use and the number of records. */
async function read(piece: Buffer, megabytes: number) {
  const tally = createTally("srcaddr", "bytes");
  let peak = 0;
  let turns = 0;
  const { records } = await readFlowLogs({
    objects: Readable.from([1, 2].map((n) => ({ key: `${n}.log.gz`, lastModified: 0, size: Number.NaN }))),
    open: async () => packed(piece, megabytes / 2),
    filter: createFilter({ ports: new Set() }),
    signal: new AbortController().signal,
    record: tally.add,
    badLine: (key, line, reason) => expect.fail(`${key}:${line}: ${reason}`),
    badObject: (_, error) => expect.fail(error.message),
    async between() {
      if (turns++ % (megabytes * 2) === 0 || turns < SAMPLES) peak = Math.max(peak, memoryInUse());
      return true;
    },
  });
  return { records, peak, flows: tally.top(1).total.flows };
}

test("memory does not grow with the logs: 64 MB need hardly more than 4 MB", { timeout: 120_000 }, async () => {
  const piece = createTraffic().lines(PIECE_MB * MB);
  await read(piece, 4);
  const small = await read(piece, 4);
  const large = await read(piece, 64);
  expect(large.records).toBe(16 * small.records);
  expect(large.flows).toBe(large.records);
  expect(large.peak / small.peak).toBeLessThan(2);
});
