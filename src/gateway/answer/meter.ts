import { z } from "zod";
import type { Usage } from "../../kinds/inference/prices.ts";

/** Reads along what an answer has used, and gives on what the client is to have. */
export interface Meter {
  isStream: boolean;
  push(chunk: Buffer): Buffer;
  end(): Buffer;
  /** What the platform told; undefined: it did not. */
  usage(): Usage | undefined;
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
      const text = tail.toString("utf8");
      const at = text.search(hasUsage);
      const told = text.slice(at);
      const input = Number(inputTokens.exec(told)?.[1]);
      return at < 0 || Number.isNaN(input) ? undefined : { input, output: Number(outputTokens.exec(told)?.[1] ?? 0) };
    },
  };
}

/** Of a stream an event of its own tells it, the last one; who did not ask for it does not get it. */
export function streamMeter(hidesUsage: boolean): Meter {
  let rest: Buffer = none;
  let usage: Usage | undefined;
  let count = 0;

  /** What of whole events goes on. */
  function passed(events: Buffer): Buffer {
    const text = events.toString("utf8");
    count += text.match(/^data:/gm)?.length ?? 0;
    if (!hasUsage.test(text)) return events;
    const kept = text.split(/(?<=\r?\n\r?\n)/).filter((event) => {
      const read = eventShape.safeParse(json(/^data: ?(.*)$/m.exec(event)?.[1]));
      if (!read.success) return true;
      usage = spent(read.data.usage);
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
