import { pipeline, type Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import type { Filter } from "./filter.ts";
import { inOrder } from "./in-order.ts";
import type { StoredObject } from "./listing.ts";
import { createRecordReader } from "./records/reader.ts";
import type { FlowRecord } from "./records/record.ts";

export interface FlowLogReadOptions {
  objects: AsyncIterable<StoredObject>;
  open: (key: string, signal: AbortSignal) => Promise<Readable>;
  filter: Filter;
  signal: AbortSignal;
  /**
   * Called for each record that passes the filter, in the order of the objects. The record is valid only during the
   * call.
   */
  record(record: FlowRecord): void;
  badLine(key: string, line: number, reason: string): void;
  badObject(key: string, error: Error): void;
  /** Called between two chunks, to wait for a slow output. False stops the read. */
  between(totals: Totals): Promise<boolean>;
}

export interface Totals {
  objects: number;
  /** All records read, and those that passed the filter. */
  records: number;
  matched: number;
  badLines: number;
  badObjects: number;
  /** Objects, that is intervals, in which the platform skipped records. */
  incomplete: number;
}

/**
 * Objects to fetch and decompress ahead: a bucket answers each request late, so many small ones are asked for at once.
 */
const AHEAD = 32;
/** Bytes to fetch ahead. An object counts as at most, and if its size is unknown as, a fourth of them. */
const AHEAD_BYTES = 4 * 1024 * 1024;
const CHUNK_BYTES = 64 * 1024;
/** Buffered bytes per object. */
const READY_BYTES = 1024 * 1024;

/**
 * Reads all records of the objects, in order and with bounded memory. A bad line or object is reported, and the read
 * continues. Rejects if the list fails or the signal aborts.
 */
export async function readFlowLogs(options: FlowLogReadOptions): Promise<Totals> {
  const { filter, signal } = options;
  const totals: Totals = { objects: 0, records: 0, matched: 0, badLines: 0, badObjects: 0, incomplete: 0 };
  let current = "";
  let skipped = false;
  const reader = createRecordReader({
    record(record) {
      totals.records += 1;
      if (!filter.concerns(record)) return;
      if (record.status === "SKIPDATA") skipped = true;
      if (!filter.matches(record)) return;
      totals.matched += 1;
      options.record(record);
    },
    bad(line, reason) {
      totals.badLines += 1;
      options.badLine(current, line, reason);
    },
  });
  const open = async ({ key }: StoredObject) => unpack(await options.open(key, signal));

  for await (const { item, result } of inOrder(options.objects, hasRoom, open, (stream) => stream.destroy())) {
    current = item.key;
    skipped = false;
    totals.objects += 1;
    let more = true;
    try {
      if (result.status === "rejected") throw result.reason;
      for await (const chunk of result.value) {
        reader.push(chunk);
        more = await options.between(totals);
        if (!more) break;
      }
      if (more) reader.end();
      else reader.abandon();
    } catch (error) {
      signal.throwIfAborted();
      reader.abandon();
      totals.badObjects += 1;
      options.badObject(current, error instanceof Error ? error : new Error(String(error)));
    }
    if (skipped) totals.incomplete += 1;
    if (!more) break;
  }
  return totals;
}

function hasRoom(ahead: readonly StoredObject[]): boolean {
  const largest = AHEAD_BYTES / 4;
  const bytes = ahead.reduce((sum, { size }) => sum + (size < largest ? size : largest), 0);
  return ahead.length < AHEAD && bytes < AHEAD_BYTES;
}

/** Decompresses on another thread, while this one parses. */
function unpack(compressed: Readable): Readable {
  const sizes = { chunkSize: CHUNK_BYTES, readableHighWaterMark: READY_BYTES };
  // The reader gets the error; without this listener an early error would be uncaught.
  const gunzip = createGunzip(sizes).on("error", () => {});
  return pipeline(compressed, gunzip, () => {});
}
