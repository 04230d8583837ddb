import type { Usage } from "../../kinds/inference/prices.ts";
import { type Meter, wrapping } from "./meter.ts";

/** The most that the answer to a call may have. The platform would have to ignore the call to exceed it. */
export interface Bound {
  /** A reported usage. */
  usage: Usage;
  /** Tokens that are reserved for the answer. */
  output: number;
  /** Bytes of the whole answer, whatever they are. */
  bytes: number;
}

/** The fields of a call that its bound depends on. */
export interface BoundFields {
  n?: number | null | undefined;
  best_of?: number | null | undefined;
  echo?: unknown;
  input?: unknown;
  messages?: unknown;
  prompt?: unknown;
  prompt_logprobs?: unknown;
}

const KIB = 1024;
/** For everything that is not a token: envelopes, comments, reports of filters, and refusals. */
const ENVELOPE = 256 * KIB;
/** A refusal may quote the request, and escapes make that longer. */
const PER_BYTE_SENT = 4;
/** An event with one token, and with twenty probable tokens in its place, has less. */
const PER_TOKEN = 4 * KIB;
/** An embedding of ten thousand numbers has less. */
const PER_EMBEDDING = 256 * KIB;
/** An image of 2048 by 2048 pixels in base64 has less. */
const PER_IMAGE = 32 * KIB * KIB;

/** The template of a model adds tokens to a prompt, and the real context is slightly larger than the published one. */
const MORE_TOKENS = 4096;

/** The maximum number of events for a number of tokens. A token may take several events; some events have no token. */
const mostEvents = (tokens: number): number => 2 * tokens + 100;

/** The bound of a call with these fields. `atMost` is its reservation, `context` the maximum tokens of its model. */
export function boundOf(path: string, fields: BoundFields, atMost: Usage, context = Number.POSITIVE_INFINITY): Bound {
  const repeats = Boolean(fields.echo) || (fields.prompt_logprobs ?? false) !== false;
  const texts = atMost.output + (repeats ? atMost.input * (fields.n ?? 1) : 0);
  const embeddings = path === "/v1/embeddings" ? countOf(fields.input) : 0;
  const images = path.startsWith("/v1/images/") ? (fields.n ?? 1) : 0;
  const mostInput = context * countOf(fields.prompt ?? fields.input);
  const mostOutput = context * countOf(fields.prompt) * (fields.n ?? 1) * (fields.best_of ?? 1);
  return {
    usage: {
      // A token of a text has at least one byte.
      input: (mediaIn(fields) === 0 ? Math.min(atMost.input, mostInput) : mostInput) + MORE_TOKENS,
      output: Math.max(mostEvents(atMost.output), mostOutput + MORE_TOKENS),
    },
    output: atMost.output,
    bytes:
      ENVELOPE + PER_BYTE_SENT * atMost.input + PER_TOKEN * texts + PER_EMBEDDING * embeddings + PER_IMAGE * images,
  };
}

/** The number of prompts. A prompt is a text or a list of tokens; a list of prompts is allowed. */
export const countOf = (prompt: unknown): number =>
  Array.isArray(prompt) && prompt.some((each) => typeof each !== "number") ? prompt.length : 1;

/** The parts of a prompt that are not text. A short link to an image takes many tokens. */
export const mediaIn = ({ messages, input }: BoundFields): number =>
  [input, ...(Array.isArray(messages) ? messages.map((each) => Object(each).content) : [])]
    .flat()
    .filter((part) => typeof part === "object" && part !== null && !Array.isArray(part) && Object(part).type !== "text")
    .length;

/**
 * A meter that throws when an answer exceeds its bound, whatever it consists of. Nothing above the bound is passed on.
 * The usage in such an answer is unclear, and so is one above the bound.
 */
export function bounded(meter: Meter, bound: Bound): Meter {
  let size = 0;
  let isOver = false;
  const checked = (passed: () => Buffer): Buffer => {
    isOver ||= size > bound.bytes;
    const bytes = isOver ? undefined : passed();
    isOver ||= meter.events > mostEvents(bound.output);
    if (isOver || !bytes) throw new Error("the platform produces more than it was asked for");
    return bytes;
  };
  const isTooMuch = () => {
    const { input, output } = meter.usage() ?? { input: 0, output: 0 };
    return input > bound.usage.input || output > bound.usage.output;
  };
  return {
    ...wrapping(meter, {
      push: (chunk) => {
        size += chunk.length;
        return checked(() => meter.push(chunk));
      },
      end: () => checked(meter.end),
    }),
    usage: () => (isTooMuch() ? undefined : meter.usage()),
    isUnclear: () => isOver || isTooMuch() || meter.isUnclear(),
    get events() {
      // The bytes above the bound are tokens that were not asked for.
      const more = size > bound.bytes ? bound.output + Math.ceil((size - bound.bytes) / PER_TOKEN) : 0;
      return Math.max(meter.events, more);
    },
  };
}
