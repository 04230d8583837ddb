import { createHash } from "node:crypto";

const MAGIC = 0xfeedfacf;
const HEADER = 32;
const SEGMENT = 0x19;
const CODE_SIGNATURE = 0x1d;
/** Length of the load command that says where the signature is. */
const COMMAND = 16;
/** The size of a page in memory, on both processors. */
const MEMORY_PAGE = 0x4000;

/** What is hashed at a time. */
const PAGE_BITS = 12;
const PAGE = 1 << PAGE_BITS;
const HASH = 32;
const SHA256 = 2;
const EMBEDDED_SIGNATURE = 0xfade0cc0;
const CODE_DIRECTORY = 0xfade0c02;
const DIRECTORY_VERSION = 0x20400;
const DIRECTORY = 88;
const INDEX = 20;
/** Without a certificate, and may be replaced by any other signature. */
const ADHOC_BY_LINKER = 0x20002;
const MAIN_BINARY = 1n;

interface Command {
  type: number;
  at: number;
  size: number;
}

interface Segment {
  /** Where its command is. */
  at: number;
  offset: number;
  size: number;
}

const roundUp = (value: number, to: number) => Math.ceil(value / to) * to;

function commandsOf(file: Buffer): Command[] {
  if (file.readUInt32LE(0) !== MAGIC) throw new Error("not a Mach-O file of one 64-bit processor");
  let at = HEADER;
  return Array.from({ length: file.readUInt32LE(16) }, () => {
    const command = { type: file.readUInt32LE(at), at, size: file.readUInt32LE(at + 4) };
    at += command.size;
    return command;
  });
}

function segmentOf(file: Buffer, commands: readonly Command[], name: string): Segment {
  const found = commands.find(
    ({ type, at }) => type === SEGMENT && file.toString("latin1", at + 8, at + 24).replace(/\0+$/, "") === name,
  );
  if (!found) throw new Error(`the program has no segment ${name}`);
  const { at } = found;
  return { at, offset: Number(file.readBigUInt64LE(at + 40)), size: Number(file.readBigUInt64LE(at + 48)) };
}

/** The first byte of content after the load commands: where no command may reach. */
function firstContent(file: Buffer, commands: readonly Command[]): number {
  const offsets = commands.flatMap(({ type, at }) => {
    const sections = type === SEGMENT ? file.readUInt32LE(at + 64) : 0;
    return Array.from({ length: sections }, (_, index) => file.readUInt32LE(at + 72 + index * 80 + 48));
  });
  return Math.min(...offsets.filter((offset) => offset > 0));
}

/** Makes room for a command at the end of the load commands, and returns its place. */
function addCommand(file: Buffer, commands: readonly Command[]): number {
  const size = file.readUInt32LE(20);
  if (HEADER + size + COMMAND > firstContent(file, commands)) throw new Error("no room for a signature");
  file.writeUInt32LE(commands.length + 1, 16);
  file.writeUInt32LE(size + COMMAND, 20);
  return HEADER + size;
}

/**
 * Signs a macOS program ad hoc, as a linker does: macOS starts nothing on ARM without it. The signature has no
 * certificate; it holds the hash of every page. A former signature is replaced.
 */
export function signAdHoc(program: Buffer, identifier: string): Buffer {
  const head = Buffer.from(program);
  const commands = commandsOf(head);
  const former = commands.find(({ type }) => type === CODE_SIGNATURE);
  const at = former?.at ?? addCommand(head, commands);
  const end = former ? head.readUInt32LE(at + 8) : program.length;
  const start = roundUp(end, 16);
  const name = Buffer.from(`${identifier}\0`);
  const pages = Math.ceil(start / PAGE);
  const size = INDEX + DIRECTORY + name.length + pages * HASH;

  const linkedit = segmentOf(head, commands, "__LINKEDIT");
  const linked = start + size - linkedit.offset;
  head.writeBigUInt64LE(BigInt(linked), linkedit.at + 48);
  if (head.readBigUInt64LE(linkedit.at + 32) < BigInt(linked)) {
    head.writeBigUInt64LE(BigInt(roundUp(linked, MEMORY_PAGE)), linkedit.at + 32);
  }
  for (const [index, value] of [CODE_SIGNATURE, COMMAND, start, size].entries()) {
    head.writeUInt32LE(value, at + index * 4);
  }
  const code = Buffer.concat([head.subarray(0, end), Buffer.alloc(start - end)]);
  const text = segmentOf(head, commands, "__TEXT");
  return Buffer.concat([code, index(size), directory(code, text, name), ...hashes(code)]);
}

/** The frame of the signature: one part, the code directory. */
function index(size: number): Buffer {
  const block = Buffer.alloc(INDEX);
  for (const [at, value] of [EMBEDDED_SIGNATURE, size, 1, 0, INDEX].entries()) block.writeUInt32BE(value, at * 4);
  return block;
}

function directory(code: Buffer, text: Segment, name: Buffer): Buffer {
  const block = Buffer.alloc(DIRECTORY);
  const pages = Math.ceil(code.length / PAGE);
  const hashesAt = DIRECTORY + name.length;
  const numbers = [
    CODE_DIRECTORY,
    hashesAt + pages * HASH,
    DIRECTORY_VERSION,
    ADHOC_BY_LINKER,
    hashesAt,
    DIRECTORY,
    0,
    pages,
    code.length,
  ];
  for (const [at, value] of numbers.entries()) block.writeUInt32BE(value, at * 4);
  block.set([HASH, SHA256, 0, PAGE_BITS], 36);
  block.writeBigUInt64BE(BigInt(text.offset), 64);
  block.writeBigUInt64BE(BigInt(text.size), 72);
  block.writeBigUInt64BE(MAIN_BINARY, 80);
  return Buffer.concat([block, name]);
}

const hashes = (code: Buffer): Buffer[] =>
  Array.from({ length: Math.ceil(code.length / PAGE) }, (_, page) =>
    createHash("sha256")
      .update(code.subarray(page * PAGE, (page + 1) * PAGE))
      .digest(),
  );
