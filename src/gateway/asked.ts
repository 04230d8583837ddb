import { z } from "zod";
import type { Usage } from "../kinds/inference/prices.ts";
import { type Bound, boundOf, countOf, mediaIn } from "./answer/bound.ts";
import { MOST_TOKENS } from "./answer/usage.ts";
import { shapeOf } from "./json-shape.ts";
import { Refused } from "./refused.ts";

/** Limits far above the needs of tools and schemas. */
const MOST = { depth: 100, count: 100_000, fields: 100 };

const answers = z.int().min(1).max(1024).nullish();
const wholeTokens = `must be a whole number from 1 to ${MOST_TOKENS}`;
/** A maximum of tokens. */
export const tokens = z.int(wholeTokens).min(1, wholeTokens).max(MOST_TOKENS, wholeTokens).nullish();
const unsupported = z.null("is not supported: leave it out").optional();
const fields = z.looseObject({
  model: z.string().min(1).max(256),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  n: answers,
  best_of: answers,
  max_tokens: tokens,
  max_completion_tokens: tokens,
  // Its loops make a prompt of any length out of a few bytes.
  chat_template: z.null("is not supported: leave it out; the model has its own template").optional(),
  // A part of the prompt that the gateway does not count.
  documents: unsupported,
  prompt_embeds: unsupported,
  // They change how the platform works on the call: before those of others, with another cache, with more tokens of an image.
  priority: unsupported,
  kv_transfer_params: unsupported,
  mm_processor_kwargs: unsupported,
});

/** A parsed body. */
export interface Body {
  fields: z.output<typeof fields>;
  size: number;
}

/** A call as the gateway understands it. */
export interface Asked {
  model: string;
  isStream: boolean;
  /** The client did not ask for usage, so the usage event is not passed on. */
  hidesUsage: boolean;
  /** Maximum usage of the call. */
  atMost: Usage;
  /** Maximum of the answer. */
  bound: Bound;
  /** The body to send, serialized again, so that the platform reads the same values as the gateway. */
  body: string;
}

/** The maximum tokens of an answer. */
export interface TokenLimit {
  /** A call with a larger maximum is refused. */
  most?: number | undefined;
  /** The maximum for a call that sets none. */
  usual: number;
  /** Maximum tokens of the model, prompt and answer together. */
  context?: number | undefined;
}

const invalid = (what: string) => new Refused(422, "invalid_value", what);

export const bodyIn = (bytes: Buffer): Body => bodyOf(jsonIn(bytes), bytes.length);

/** Parses the bytes of a body. */
export function jsonIn(bytes: Buffer): unknown {
  const { depth, count } = shapeOf(bytes, MOST);
  if (depth > MOST.depth) throw invalid(`body: more than ${MOST.depth} objects and arrays within each other`);
  if (count > MOST.count) throw invalid(`body: more than ${MOST.count} objects and arrays`);
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString("utf8"));
  } catch {
    throw new Refused(422, "invalid_json", "the body is not valid JSON");
  }
  return value;
}

/** `size` is the length of the body in bytes. */
export function bodyOf(value: unknown, size: number): Body {
  if (Object.keys(Object(value)).length > MOST.fields) throw invalid(`body: more than ${MOST.fields} fields`);
  const parsed = fields.safeParse(value);
  if (parsed.success) return { fields: parsed.data, size };
  const [issue] = parsed.error.issues;
  throw invalid(`${issue?.path.join(".") || "body"}: ${issue?.message ?? "is not valid"}`);
}

/** All field names that a platform may use for the maximum. The gateway cannot know which of them applies. */
const isMaximum = (name: string) => /^max_(\w+_)?(tokens|length)$/.test(name);

/** The fields that certainly set a maximum, by path. */
const maximums: Readonly<Record<string, readonly ("max_tokens" | "max_completion_tokens")[]>> = {
  "/v1/chat/completions": ["max_tokens", "max_completion_tokens"],
  "/v1/completions": ["max_tokens"],
};

/** The call in a body. If the body sets no maximum, the gateway sets one. */
export function askedIn({ fields, size }: Body, path: string, limit: TokenLimit): Asked {
  const lacksMaximum = maximums[path]?.every((name) => typeof fields[name] !== "number") ?? false;
  const most = Math.max(largestIn(fields, limit), lacksMaximum ? limit.usual : 0);
  const isStream = fields.stream === true;
  const atMost = { input: inputOf(fields, size, limit), output: most * answersIn(fields, most) };
  return {
    model: fields.model,
    isStream,
    hidesUsage: isStream && fields.stream_options?.include_usage !== true,
    atMost,
    bound: boundOf(path, fields, atMost, limit.context),
    body: JSON.stringify({
      ...fields,
      ...(lacksMaximum && { max_tokens: limit.usual }),
      // Without usage, the cost of a stream is unknown.
      ...(isStream && { stream_options: { ...fields.stream_options, include_usage: true } }),
    }),
  };
}

/** More than a model makes of one image. */
const MEDIA_TOKENS = 16_384;

/** The maximum tokens of a prompt. A token of a text has at least one byte; all together are at most the model's context. */
function inputOf(fields: Body["fields"], size: number, { context = Number.POSITIVE_INFINITY }: TokenLimit): number {
  return Math.max(size, Math.min(size + MEDIA_TOKENS * mediaIn(fields), context));
}

/** The largest maximum under any name; 0 if there is none. */
function largestIn(fields: Body["fields"], { most }: TokenLimit): number {
  let largest = 0;
  for (const [name, value] of Object.entries(fields)) {
    if (!isMaximum(name) || value === null) continue;
    const { data } = tokens.safeParse(value);
    if (typeof data !== "number") throw invalid(`${name}: ${wholeTokens}`);
    if (most !== undefined && data > most) {
      throw invalid(`${name}: the namespace may have up to ${most} tokens in an answer`);
    }
    largest = Math.max(largest, data);
  }
  return largest;
}

/** The maximum number of answers. Throws if all of them, with up to `most` tokens each, have too many tokens. */
function answersIn(fields: Body["fields"], most: number): number {
  const counts = { n: fields.n ?? 1, best_of: fields.best_of ?? 1, prompt: countOf(fields.prompt) };
  const count = counts.n * counts.best_of * counts.prompt;
  if (most * count <= MOST_TOKENS) return count;
  const several = Object.entries(counts).flatMap(([name, each]) => (each > 1 ? [name] : []));
  throw invalid(
    `${several.join(", ")}: ${count} answers of up to ${most} tokens; a call may have up to ${MOST_TOKENS} tokens in all`,
  );
}
