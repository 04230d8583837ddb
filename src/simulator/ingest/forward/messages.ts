import { gunzipSync } from "node:zlib";
import { ExtData } from "@msgpack/msgpack";
import { z } from "zod";
import { BrokenInput, dataOf, plain, textOf, valuesIn } from "./messagepack.ts";

/** A sender of more than this in one message, packed or unpacked, is not served. */
export const largestMessage = 16 * 1024 * 1024;

export interface Entry {
  /** Milliseconds since the epoch. */
  at: number;
  record: Record<string, unknown>;
}

/** The content of one message of the forward protocol, in any of its four modes. */
export interface Batch {
  tag: string;
  entries: Entry[];
  /** The id of the chunk, if the sender asks for an acknowledgement. */
  chunk: string | undefined;
}

const bytes = z.instanceof(Uint8Array);
const text = bytes.transform(textOf);
const option = z.looseObject({ chunk: text.nullish(), compressed: text.nullish() }).nullish();
const record = z.record(z.string(), z.unknown());

/** Seconds as a number, or as the protocol's extension with nanoseconds; newer agents put both beside metadata. */
const plainTime = z.union([z.number(), z.bigint(), z.instanceof(ExtData)]);
const time = z.union([plainTime, z.tuple([plainTime, record]).transform(([instant]) => instant)]);
const entry = z.tuple([time, record], z.unknown());

const single = z.union([z.tuple([text, time, record]), z.tuple([text, time, record, option])]);
const several = z.union([z.tuple([text, z.array(entry)]), z.tuple([text, z.array(entry), option])]);
const packed = z.union([z.tuple([text, bytes]), z.tuple([text, bytes, option])]);

/** Reads a message of the transport phase; undefined: a heartbeat. */
export function batchIn(message: unknown): Batch | undefined {
  if (message === null) return undefined;
  const asSingle = single.safeParse(message);
  if (asSingle.success) {
    const [tag, instant, content, asked] = asSingle.data;
    return { tag, entries: [entryOf([instant, content])], chunk: asked?.chunk ?? undefined };
  }
  const asPacked = packed.safeParse(message);
  if (asPacked.success) {
    const [tag, content, asked] = asPacked.data;
    const entries = valuesIn(unpacked(content, asked?.compressed ?? "text"));
    return { tag, entries: readEntries(entries), chunk: asked?.chunk ?? undefined };
  }
  const asSeveral = several.safeParse(message);
  if (!asSeveral.success) throw new BrokenInput("the message has none of the four forms of the forward protocol");
  const [tag, entries, asked] = asSeveral.data;
  return { tag, entries: entries.map(entryOf), chunk: asked?.chunk ?? undefined };
}

function readEntries(values: unknown[]): Entry[] {
  const parsed = z.array(entry).safeParse(values);
  if (!parsed.success) throw new BrokenInput("a packed entry is not a time and a record");
  return parsed.data.map(entryOf);
}

function unpacked(content: Uint8Array, compression: string): Uint8Array {
  if (compression === "text") return content;
  if (compression !== "gzip") throw new BrokenInput(`the compression "${compression}" is not known`);
  try {
    return gunzipSync(content, { maxOutputLength: largestMessage });
  } catch (error) {
    throw new BrokenInput(`the entries cannot be unpacked: ${error instanceof Error ? error.message : error}`);
  }
}

function entryOf([instant, content]: [z.infer<typeof plainTime>, Record<string, unknown>, ...unknown[]]): Entry {
  const fields = Object.entries(content).map(([key, value]) => [key, plain(value)]);
  return { at: millisecondsOf(instant), record: Object.fromEntries(fields) };
}

/** The extension: type 0, seconds and nanoseconds as 32 bits each. */
function millisecondsOf(instant: z.infer<typeof plainTime>): number {
  if (!(instant instanceof ExtData)) return inRange(Number(instant) * 1000);
  const data = Buffer.from(dataOf(instant));
  if (instant.type !== 0 || data.length !== 8) throw new BrokenInput("a time is an extension of an unknown type");
  return data.readUInt32BE(0) * 1000 + Math.floor(data.readUInt32BE(4) / 1_000_000);
}

const latest = 8_640_000_000_000_000;

function inRange(instant: number): number {
  if (!(Math.abs(instant) <= latest)) throw new BrokenInput("a time lies outside of the calendar");
  return Math.floor(instant);
}
