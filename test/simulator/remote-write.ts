/** A sender's side of the remote-write protocol, written from its message definition. */

export interface SentSeries {
  labels: [string, string][];
  samples: [value: number, timestamp: number][];
}

export function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  return Buffer.from([...bytes, Number(rest)]);
}

export const message = (number: number, content: Uint8Array) =>
  Buffer.concat([varint(number * 8 + 2), varint(content.length), content]);
export const text = (number: number, content: string) => message(number, Buffer.from(content));
export const integer = (number: number, value: number) => Buffer.concat([varint(number * 8), varint(value)]);

export function double(number: number, value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return Buffer.concat([varint(number * 8 + 1), bytes]);
}

export const series = ({ labels, samples }: SentSeries, ...more: Uint8Array[]) =>
  message(
    1,
    Buffer.concat([
      ...labels.map(([name, value]) => message(1, Buffer.concat([text(1, name), text(2, value)]))),
      ...samples.map(([value, timestamp]) => message(2, Buffer.concat([double(1, value), integer(2, timestamp)]))),
      ...more,
    ]),
  );

export const writeRequest = (...all: SentSeries[]) => Buffer.concat(all.map((each) => series(each)));

/** A good series with further labels. */
export function one(labels: SentSeries["labels"] = []): SentSeries {
  return { labels: [["__name__", "good"], ...labels], samples: [[1, 1]] };
}
