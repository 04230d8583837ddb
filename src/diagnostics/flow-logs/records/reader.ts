import { createLineReader, LINE_END } from "./line.ts";
import type { FlowRecord } from "./record.ts";

export interface RecordSink {
  /** The record is valid only during the call: see `FlowRecord`. */
  record(record: FlowRecord): void;
  /** Called for a line that is not a record. Lines count from 1. */
  bad(line: number, reason: string): void;
}

/** Parses one object after the other. */
export interface RecordReader {
  push(chunk: Buffer): void;
  /** The object is complete. A last line without a line break counts. */
  end(): void;
  /** The object is incomplete. Its last, incomplete line does not count. */
  abandon(): void;
}

/** A longer line is not a record and is not buffered. */
export const LONGEST_LINE = 4096;
const tooLong = `it is longer than ${LONGEST_LINE} bytes`;

/**
 * Parses the text of objects in chunks of any size. Every line is a record or is reported as bad; no line throws or is
 * skipped.
 */
export function createRecordReader(sink: RecordSink): RecordReader {
  const { record, read, problem } = createLineReader();
  // The start of an incomplete line, with room for one more byte, its line break.
  const held = Buffer.alloc(LONGEST_LINE + 1);
  let holding = 0;
  let lines = 0;

  /** Parses the lines up to this position, which follows a line break. */
  const readLines = (bytes: Buffer, until: number): void => {
    for (let from = 0; from < until; ) {
      lines += 1;
      let to = read(bytes, from);
      if (to >= 0 && to - from <= LONGEST_LINE) {
        sink.record(record);
      } else {
        to = bytes.indexOf(LINE_END, from);
        sink.bad(lines, to - from > LONGEST_LINE ? tooLong : problem(to));
      }
      from = to + 1;
    }
  };
  const hold = (chunk: Buffer, from: number, to: number) => {
    if (holding <= LONGEST_LINE) chunk.copy(held, holding, from, to);
    holding += to - from;
  };
  const release = () => {
    if (holding > LONGEST_LINE) {
      sink.bad(++lines, tooLong);
    } else {
      held[holding] = LINE_END;
      readLines(held, holding + 1);
    }
    holding = 0;
  };

  return {
    push(chunk) {
      let rest = chunk;
      if (holding > 0) {
        const first = chunk.indexOf(LINE_END);
        hold(chunk, 0, first < 0 ? chunk.length : first);
        if (first < 0) return;
        release();
        rest = chunk.subarray(first + 1);
      }
      const until = rest.lastIndexOf(LINE_END) + 1;
      readLines(rest, until);
      hold(rest, until, rest.length);
    },
    end() {
      if (holding > 0) release();
      lines = 0;
    },
    abandon() {
      holding = 0;
      lines = 0;
    },
  };
}
