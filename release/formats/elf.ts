/** The dynamic linkage of a Linux program. */
export interface Linkage {
  /** The path of the dynamic loader. */
  interpreter: string | undefined;
  /** File names of libraries. */
  needed: string[];
}

const PT_LOAD = 1;
const PT_DYNAMIC = 2;
const PT_INTERP = 3;
const DT_NULL = 0;
const DT_NEEDED = 1;
const DT_STRTAB = 5;

interface Segment {
  type: number;
  offset: number;
  address: number;
  size: number;
}

/** Reads the linkage of a 64-bit little-endian ELF file, for any processor. */
export function linkageOf(file: Buffer): Linkage {
  if (file.readUInt32BE(0) !== 0x7f454c46 || file[4] !== 2 || file[5] !== 1) throw new Error("not an ELF file");
  const segments = segmentsOf(file);
  const dynamic = segments.find(({ type }) => type === PT_DYNAMIC);
  const interpreter = segments.find(({ type }) => type === PT_INTERP);
  const entries = dynamic ? dynamicOf(file, dynamic) : [];
  const stringsAddress = entries.find(([tag]) => tag === DT_STRTAB)?.[1] ?? 0;
  const segment = segments.find(
    ({ type, address, size }) => type === PT_LOAD && stringsAddress >= address && stringsAddress < address + size,
  );
  const text = (offset: number) => file.toString("utf8", offset, file.indexOf(0, offset));
  const stringsOffset = stringsAddress - (segment?.address ?? 0) + (segment?.offset ?? 0);
  return {
    interpreter: interpreter && text(interpreter.offset),
    needed: entries.filter(([tag]) => tag === DT_NEEDED).map(([, offset]) => text(stringsOffset + offset)),
  };
}

function segmentsOf(file: Buffer): Segment[] {
  const start = Number(file.readBigUInt64LE(32));
  const [size, count] = [file.readUInt16LE(54), file.readUInt16LE(56)];
  return Array.from({ length: count }, (_, index) => {
    const at = start + index * size;
    const long = (offset: number) => Number(file.readBigUInt64LE(at + offset));
    return { type: file.readUInt32LE(at), offset: long(8), address: long(16), size: long(32) };
  });
}

function dynamicOf(file: Buffer, { offset, size }: Segment): [number, number][] {
  const entries: [number, number][] = [];
  for (let at = offset; at < offset + size; at += 16) {
    const tag = Number(file.readBigInt64LE(at));
    if (tag === DT_NULL) break;
    entries.push([tag, Number(file.readBigUInt64LE(at + 8))]);
  }
  return entries;
}
