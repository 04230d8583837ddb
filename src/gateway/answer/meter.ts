import { z } from "zod";
import type { Usage } from "../../kinds/inference/prices.ts";

/** Reads along what an answer has used, and gives on what the client is to have. */
export interface Meter {
  isStream: boolean;
  push(chunk: Buffer): Buffer;
  end(): Buffer;
  /** The most that the platform told so far; undefined: nothing. */
  usage(): Usage | undefined;
  /** Whether that is all that the answer has used, also when it has not come to its end. */
  isFinal(): boolean;
  /** Events so far: each is about one token. */
  readonly events: number;
}

const none = Buffer.alloc(0);
const usageShape = z.object({ prompt_tokens: z.number().min(0), completion_tokens: z.number().min(0).default(0) });
const eventShape = z.looseObject({ usage: usageShape, choices: z.array(z.unknown()).default([]) });
const hasUsage = /"usage"\s*:\s*\{/;
const inputTokens = /"prompt_tokens"\s*:\s*(\d+)/;
const outputTokens = /"completion_tokens"\s*:\s*(\d+)/;
/** More of a single event is not waited for. */
const LONGEST_EVENT = 1_048_576;
const TAIL = 16_384;

const spent = ({ prompt_tokens, completion_tokens }: z.infer<typeof usageShape>): Usage => ({
  input: prompt_tokens,
  output: completion_tokens,
});

/** What is known to be more, of each. */
export const larger = (a: Usage | undefined, b: Usage): Usage => ({
  input: Math.max(a?.input ?? 0, b.input),
  output: Math.max(a?.output ?? 0, b.output),
});

/** So much of a refusal is given on. */
const LONGEST_REFUSAL = 65_536;

/** The beginning of a refusal, given on as a whole. */
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

/** Of a whole answer usage stands at the end; no text in it can look like that, because its quotes are escaped. */
export function wholeMeter(): Meter {
  let tail: Buffer = none;
  return {
    isStream: false,
    push(chunk) {
      tail = chunk.length >= TAIL ? chunk.subarray(-TAIL) : Buffer.concat([tail, chunk]).subarray(-TAIL);
      return chunk;
    },
    end: () => none,
    events: 0,
    usage() {
      let most: Usage | undefined;
      for (const told of tail.toString("utf8").split(hasUsage).slice(1)) {
        const input = Number(inputTokens.exec(told)?.[1]);
        if (!Number.isNaN(input)) most = larger(most, { input, output: Number(outputTokens.exec(told)?.[1] ?? 0) });
      }
      return most;
    },
    // A number may be cut.
    isFinal: () => false,
  };
}

/** Of a stream an event of its own tells it, the last one; who did not ask for it does not get it. */
export function streamMeter(hidesUsage: boolean): Meter {
  let rest: Buffer = none;
  let usage: Usage | undefined;
  let isFinal = false;
  let count = 0;

  /** What of whole events goes on. */
  function passed(events: Buffer): Buffer {
    const text = events.toString("utf8");
    count += text.match(/^data:/gm)?.length ?? 0;
    if (!hasUsage.test(text)) return events;
    const kept = text.split(/(?<=\r?\n\r?\n)/).filter((event) => {
      const read = eventShape.safeParse(json(/^data: ?(.*)$/m.exec(event)?.[1]));
      if (!read.success) return true;
      usage = larger(usage, spent(read.data.usage));
      isFinal ||= read.data.choices.length === 0;
      return !hidesUsage || read.data.choices.length > 0;
    });
    return Buffer.from(kept.join(""));
  }

  return {
    isStream: true,
    push(chunk) {
      const all = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      const whole = Math.max(...["\n\n", "\r\n\r\n"].map((mark) => endOf(all, mark)));
      if (whole === 0 && all.length > LONGEST_EVENT) {
        rest = none;
        return all;
      }
      rest = all.subarray(whole);
      return whole === 0 ? none : passed(all.subarray(0, whole));
    },
    end() {
      const last = rest;
      rest = none;
      return last;
    },
    usage: () => usage,
    isFinal: () => isFinal,
    get events() {
      return count;
    },
  };
}

/** Where the last mark ends; 0: there is none. */
function endOf(bytes: Buffer, mark: string): number {
  const at = bytes.lastIndexOf(mark);
  return at < 0 ? 0 : at + mark.length;
}

function json(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? "");
  } catch {
    return undefined;
  }
}
