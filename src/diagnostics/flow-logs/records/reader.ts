import { createLineReader, LINE_END } from "./line.ts";
import type { FlowRecord } from "./record.ts";

export interface RecordSink {
  /** Valid until it returns: see `FlowRecord`. */
  record(record: FlowRecord): void;
  /** A line that is no record. Lines count from 1. */
  bad(line: number, reason: string): void;
}

/** For one object after the other. */
export interface RecordReader {
  push(chunk: Buffer): void;
  /** The object ends here: a last line without a line end counts, too. */
  end(): void;
  /** The object broke off: the line it broke off in does not count. */
  abandon(): void;
}

/** A longer line is no record, and is not held in memory either. */
export const LONGEST_LINE = 4096;
const tooLong = `it is longer than ${LONGEST_LINE} bytes`;

/**
 * Reads the text of objects, in chunks that may end anywhere. Every line is either a record or bad: none throws, stops
 * the reading or is left out.
 */
export function createRecordReader(sink: RecordSink): RecordReader {
  const { record, read, problem } = createLineReader();
  // The beginning of a line whose end has not come yet; one byte more than the longest, for its end.
  const held = Buffer.alloc(LONGEST_LINE + 1);
  let holding = 0;
  let lines = 0;

  /** Reads the lines up to the place behind a line end. */
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
