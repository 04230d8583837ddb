import { broken, type GivenLabel, type GivenSeries, unacceptable, utf8 } from "./series.ts";

/** One field of a protobuf message: bytes, or the number in a varint or a double. */
interface Field {
  number: number;
  value: number | Buffer;
}

/** Reads `prometheus.WriteRequest`: its time series; metadata and exemplars are passed over. */
export function decodeWriteRequest(bytes: Buffer): GivenSeries[] {
  const series: GivenSeries[] = [];
  for (const field of fieldsOf(bytes)) if (field.number === 1) series.push(decodeSeries(bytesIn(field)));
  return series;
}

function decodeSeries(bytes: Buffer): GivenSeries {
  const series: GivenSeries = { labels: [], samples: [] };
  for (const field of fieldsOf(bytes)) {
    if (field.number === 1) series.labels.push(decodeLabel(bytesIn(field)));
    if (field.number === 2) series.samples.push(decodeSample(bytesIn(field)));
    if (field.number === 4) throw unacceptable("native histograms are not accepted: send classic ones, with buckets");
  }
  return series;
}

function decodeLabel(bytes: Buffer): GivenLabel {
  const label = { name: "", value: "" };
  for (const field of fieldsOf(bytes)) {
    if (field.number === 1) label.name = utf8(bytesIn(field));
    if (field.number === 2) label.value = utf8(bytesIn(field));
  }
  return label;
}

function decodeSample(bytes: Buffer): GivenSeries["samples"][number] {
  const sample = { value: 0, timestamp: 0 };
  for (const field of fieldsOf(bytes)) {
    if (field.number === 1) sample.value = numberIn(field);
    if (field.number === 2) sample.timestamp = numberIn(field);
  }
  return sample;
}

function* fieldsOf(bytes: Buffer): Generator<Field> {
  let position = 0;
  const take = (size: number): Buffer => {
    if (position + size > bytes.length) throw fault("a field ends behind its message");
    position += size;
    return bytes.subarray(position - size, position);
  };
  /** Exact up to 2^53. A larger or negative number becomes too large for any timestamp. */
  const varint = (): number => {
    let value = 0;
    for (let index = 0; index < 10; index += 1) {
      const byte = take(1).readUInt8();
      value += (byte & 0x7f) * 2 ** (7 * index);
      if (byte < 0x80) return value;
    }
    throw fault("a number is longer than 64 bits");
  };
  while (position < bytes.length) {
    const tag = varint();
    const number = Math.floor(tag / 8);
    if (number === 0) throw fault("a field has the number 0");
    // The wire types: varint, 64 bits, bytes with their length, 32 bits.
    switch (tag % 8) {
      case 0:
        yield { number, value: varint() };
        break;
      case 1:
        yield { number, value: take(8).readDoubleLE() };
        break;
      case 2:
        yield { number, value: take(varint()) };
        break;
      case 5:
        yield { number, value: take(4).readFloatLE() };
        break;
      default:
        throw fault("a field has an unknown wire type");
    }
  }
}

function bytesIn({ number, value }: Field): Buffer {
  if (typeof value === "number") throw fault(`field ${number} is a number where a message or a text is expected`);
  return value;
}

function numberIn({ number, value }: Field): number {
  if (typeof value !== "number") throw fault(`field ${number} is no number`);
  return value;
}

const fault = (why: string) => broken(`the body is not a protobuf WriteRequest: ${why}`);
