import type { Usage } from "../../kinds/inference/prices.ts";
import { dataOf, endOfEvents, eventsIn } from "./events.ts";
import { createTopFields } from "./top-fields.ts";
import { hasUsage, mayHaveUsage, usageIn } from "./usage.ts";

/** Measures the usage in an answer, and returns the part that the client gets. */
export interface Meter {
  isStream: boolean;
  push(chunk: Buffer): Buffer;
  end(): Buffer;
  /** The largest usage that the platform reported so far, if any. */
  usage(): Usage | undefined;
  /** The platform reported a usage that does not say for sure what the call costs. */
  isUnclear(): boolean;
  /** Whether the usage is complete, even if the answer is not. */
  isFinal(): boolean;
  /** The answer has neither text nor a tool call, so far. */
  isEmpty(): boolean;
  /** Number of events so far. One event is about one token. */
  readonly events: number;
}

const none = Buffer.alloc(0);
/** Text of a message, or a tool call. */
const content = /"(?:content|text|reasoning_content|refusal|name)"\s*:\s*"[^"]/;
/** Whether there is an event other than the mark of the end. After it, an earlier usage is not the last one. */
const isData = (text: string): boolean => /^data:(?! ?\[DONE\])/m.test(text);
/** A longer event is passed on before it is complete. */
const LONGEST_EVENT = 1_048_576;
/** A longer answer is not empty. */
const LONGEST_EMPTY = 16_384;

/** The larger value of each count. */
export const larger = (a: Usage | undefined, b: Usage): Usage => ({
  input: Math.max(a?.input ?? 0, b.input),
  output: Math.max(a?.output ?? 0, b.output),
});

/** A meter that measures like another one, and passes on something else. */
export const wrapping = (meter: Meter, { push, end }: Pick<Meter, "push" | "end">): Meter => ({
  isStream: meter.isStream,
  usage: meter.usage,
  isUnclear: meter.isUnclear,
  isFinal: meter.isFinal,
  isEmpty: meter.isEmpty,
  get events() {
    return meter.events;
  },
  push,
  end,
});

/** Maximum length of a refusal that is passed on. */
const LONGEST_REFUSAL = 65_536;

/** Collects a refusal of the platform up to the maximum length, and passes it on at the end. */
export function refusalMeter(): Meter {
  const whole = wholeMeter();
  let text: Buffer = none;
  return {
    ...whole,
    isStream: true,
    push(chunk) {
      whole.push(chunk);
      if (text.length < LONGEST_REFUSAL) text = Buffer.concat([text, chunk]).subarray(0, LONGEST_REFUSAL);
      return none;
    },
    end: () => text,
  };
}

/** Measures an answer that is not a stream, without holding it in memory. */
export function wholeMeter(): Meter {
  const fields = createTopFields(["usage"]);
  let text = "";
  let size = 0;
  return {
    isStream: false,
    push(chunk) {
      const next = chunk.toString("latin1");
      fields.push(next);
      size += next.length;
      text = size > LONGEST_EMPTY ? "" : text + next;
      return chunk;
    },
    end: () => none,
    events: 0,
    usage: () => usageIn(fields).usage,
    isUnclear: () => usageIn(fields).isUnclear,
    // The answer may end before a second usage, which would contradict the first one.
    isFinal: () => false,
    isEmpty: () => size <= LONGEST_EMPTY && !content.test(text),
  };
}

/** Measures a stream. The last event has the usage; it is dropped if the client did not ask for it. */
export function streamMeter(hidesUsage: boolean): Meter {
  let rest: Buffer = none;
  let usage: Usage | undefined;
  let isUnclear = false;
  let isFinal = false;
  let isEmpty = true;
  let count = 0;

  /** Reads the usage of an event. Returns whether the client gets the event. */
  function isPassed(event: string): boolean {
    const fields = createTopFields(["usage", "choices"]);
    fields.push(dataOf(event));
    if (isData(event)) isFinal = false;
    if (!hasUsage(fields)) return true;
    const reported = usageIn(fields);
    const isLast = /^\[\s*\]$/.test((fields.get("choices") ?? "[]").trim());
    if (reported.usage) usage = larger(usage, reported.usage);
    isUnclear ||= reported.isUnclear;
    isFinal = isLast;
    return !(hidesUsage && isLast);
  }

  /** The part of events that is passed on. */
  function passed(bytes: Buffer): Buffer {
    // Each byte is one character in latin1: nothing else of the stream changes.
    const text = bytes.toString("latin1");
    count += text.match(/^data:/gm)?.length ?? 0;
    isEmpty &&= !content.test(text);
    if (!mayHaveUsage(text)) {
      if (isData(text)) isFinal = false;
      return bytes;
    }
    const events = eventsIn(text);
    const kept = events.filter(isPassed);
    return kept.length === events.length ? bytes : Buffer.from(kept.join(""), "latin1");
  }

  return {
    isStream: true,
    push(chunk) {
      const all = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      const complete = endOfEvents(all);
      if (complete === 0 && all.length > LONGEST_EVENT) {
        rest = none;
        isEmpty = false;
        return all;
      }
      rest = all.subarray(complete);
      return complete === 0 ? none : passed(all.subarray(0, complete));
    },
    end() {
      const last = rest;
      rest = none;
      return last.length === 0 ? none : passed(last);
    },
    usage: () => usage,
    isUnclear: () => isUnclear,
    isFinal: () => isFinal,
    isEmpty: () => isEmpty,
    get events() {
      return count;
    },
  };
}
