import { z } from "zod";
import type { Usage } from "../kinds/inference/prices.ts";
import { Refused } from "./refused.ts";

const body = z.looseObject({
  model: z.string().min(1).max(256),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  n: z.number().nullish(),
  max_tokens: z.number().nullish(),
  max_completion_tokens: z.number().nullish(),
});

/** A call as the gateway understood it. */
export interface Asked {
  model: string;
  isStream: boolean;
  /** The client did not ask for usage: the event that tells it is not passed on. */
  hidesUsage: boolean;
  /** Not less than the call can use. */
  atMost: Usage;
  /** What is sent: as it was read, so that nobody reads it otherwise. */
  body: string;
}

/** The platform's own default. */
const USUAL_TOKENS = 16;

/** Without usage a stream cannot be paid for: it is always asked for. */
export function askedIn(bytes: Buffer): Asked {
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString("utf8"));
  } catch {
    throw new Refused(422, "invalid_json", "the body is not valid JSON");
  }
  const parsed = body.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new Refused(422, "invalid_value", `${issue?.path.join(".") || "body"}: ${issue?.message ?? "is not valid"}`);
  }
  const { data } = parsed;
  const isStream = data.stream === true;
  const tokens = data.max_completion_tokens ?? data.max_tokens ?? USUAL_TOKENS;
  return {
    model: data.model,
    isStream,
    hidesUsage: isStream && data.stream_options?.include_usage !== true,
    // A token has at least one byte; three are usual, and this is only kept back until the answer tells.
    atMost: { input: Math.ceil(bytes.length / 3), output: Math.max(1, tokens) * Math.max(1, data.n ?? 1) },
    body: JSON.stringify(
      isStream ? { ...data, stream_options: { ...data.stream_options, include_usage: true } } : data,
    ),
  };
}
