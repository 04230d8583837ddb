import { z } from "zod";
import type { Usage } from "../../kinds/inference/prices.ts";

/** Measures the usage in an answer, and returns the part that the client gets. */
export interface Meter {
  isStream: boolean;
  push(chunk: Buffer): Buffer;
  end(): Buffer;
  /** The largest usage that the platform reported so far, if any. */
  usage(): Usage | undefined;
  /** Whether the usage is complete, even if the answer is not. */
  isFinal(): boolean;
  /** The answer has neither text nor a tool call, so far. */
  isEmpty(): boolean;
  /** Number of events so far. One event is about one token. */
  readonly events: number;
}

const none = Buffer.alloc(0);
const usageShape = z.object({ prompt_tokens: z.number().min(0), completion_tokens: z.number().min(0).default(0) });
const eventShape = z.looseObject({ usage: usageShape, choices: z.array(z.unknown()).default([]) });
const hasUsage = /"usage"\s*:\s*\{/;
const inputTokens = /"prompt_tokens"\s*:\s*([^,}\s]*)/;
const outputTokens = /"completion_tokens"\s*:\s*([^,}\s]*)/;
/** Text of a message, or a tool call. */
const content = /"(?:content|text|reasoning_content|refusal|name)"\s*:\s*"[^"]/;
/** A longer event is passed on before it is complete. */
const LONGEST_EVENT = 1_048_576;
const TAIL = 16_384;

/** A number of JSON, in whatever spelling. */
const numberIn = (text: string | undefined): unknown => (text === undefined ? undefined : json(text));

const usageOf = ({ prompt_tokens, completion_tokens }: z.infer<typeof usageShape>): Usage => ({
  input: prompt_tokens,
  output: completion_tokens,
});

/** The larger value of each count. */
export const larger = (a: Usage | undefined, b: Usage): Usage => ({
  input: Math.max(a?.input ?? 0, b.input),
  output: Math.max(a?.output ?? 0, b.output),
});

/** A meter that measures like another one, and passes on something else. */
export const wrapping = (meter: Meter, { push, end }: Pick<Meter, "push" | "end">): Meter => ({
  isStream: meter.isStream,
  usage: meter.usage,
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

/**
 * Measures an answer that is not a stream. Its usage is at the end. Text in the answer cannot be mistaken for it,
 * because quotes in text are escaped.
 */
export function wholeMeter(): Meter {
  let tail: Buffer = none;
  let size = 0;
  return {
    isStream: false,
    push(chunk) {
      size += chunk.length;
      tail = chunk.length >= TAIL ? chunk.subarray(-TAIL) : Buffer.concat([tail, chunk]).subarray(-TAIL);
      return chunk;
    },
    end: () => none,
    events: 0,
    usage() {
      let most: Usage | undefined;
      for (const fields of tail.toString("utf8").split(hasUsage).slice(1)) {
        const read = usageShape.safeParse({
          prompt_tokens: numberIn(inputTokens.exec(fields)?.[1]),
          completion_tokens: numberIn(outputTokens.exec(fields)?.[1]),
        });
        if (!read.success) return undefined;
        most = larger(most, usageOf(read.data));
      }
      return most;
    },
    // The last number may be truncated.
    isFinal: () => false,
    isEmpty: () => size <= TAIL && !content.test(tail.toString("utf8")),
  };
}

/** The maximum number of events for a number of tokens. A token may take several events; some events have no token. */
const mostEvents = (tokens: number): number => 2 * tokens + 100;

/**
 * Measures a stream. The last event has the usage; it is dropped if the client did not ask for it. Throws if the
 * platform does not stop after `mostTokens`.
 */
export function streamMeter(hidesUsage: boolean, mostTokens = Number.POSITIVE_INFINITY): Meter {
  let rest: Buffer = none;
  let usage: Usage | undefined;
  let isFinal = false;
  let isEmpty = true;
  let count = 0;

  /** The part of complete events that is passed on. */
  function passed(events: Buffer): Buffer {
    const text = events.toString("utf8");
    count += text.match(/^data:/gm)?.length ?? 0;
    if (count > mostEvents(mostTokens)) throw new Error("the platform produces more than it was asked for");
    isEmpty &&= !content.test(text);
    if (!hasUsage.test(text)) return events;
    const kept = text.split(/(?<=\r?\n\r?\n)/).filter((event) => {
      const read = eventShape.safeParse(json(/^data: ?(.*)$/m.exec(event)?.[1]));
      if (!read.success) return true;
      usage = larger(usage, usageOf(read.data.usage));
      isFinal ||= read.data.choices.length === 0;
      return !hidesUsage || read.data.choices.length > 0;
    });
    return Buffer.from(kept.join(""));
  }

  return {
    isStream: true,
    push(chunk) {
      const all = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      const complete = Math.max(...["\n\n", "\r\n\r\n"].map((separator) => endOf(all, separator)));
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
      return last;
    },
    usage: () => usage,
    isFinal: () => isFinal,
    isEmpty: () => isEmpty,
    get events() {
      return count;
    },
  };
}

/** The end of the last separator; 0 if there is none. */
function endOf(bytes: Buffer, separator: string): number {
  const at = bytes.lastIndexOf(separator);
  return at < 0 ? 0 : at + separator.length;
}

function json(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? "");
  } catch {
    return undefined;
  }
}
