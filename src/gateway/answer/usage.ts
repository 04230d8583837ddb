import { z } from "zod";
import type { Usage } from "../../kinds/inference/prices.ts";
import { createTopFields, type TopFields } from "./top-fields.ts";

/**
 * The maximum tokens of a call, asked for or reported. More is an error, and would make budgets and counters useless.
 * It is eighty times the context of the largest model, and a day of output at a hundred tokens per second.
 */
export const MOST_TOKENS = 10_000_000;

const tokens = z.int().min(0).max(MOST_TOKENS);
/** Embeddings have no output. */
const counts = z.object({ prompt_tokens: tokens, completion_tokens: tokens.default(0) });

/** The usage at the top level of an answer or event. */
export interface Reported {
  /** Undefined if there is none, or if it cannot be read. */
  usage: Usage | undefined;
  /** There is a usage, and it does not say for sure what the call costs. */
  isUnclear: boolean;
}

/** False if no field of a text is named usage, in whatever spelling. Most events of a stream need no other check. */
export const mayHaveUsage = (text: string): boolean => text.includes('"usage"') || text.includes("\\u00");

/** Whether there is a usage, readable or not. The events of a stream may have null instead. */
export const hasUsage = (answer: TopFields): boolean => (answer.get("usage") ?? "null").trim() !== "null";

/**
 * Reads the usage: two whole numbers in an object, each once. `answer` has the field `usage`. Text in the answer, or
 * usage deeper in it, is never mistaken for it.
 */
export function usageIn(answer: TopFields): Reported {
  if (!hasUsage(answer)) return { usage: undefined, isUnclear: false };
  const fields = createTopFields(Object.keys(counts.shape));
  fields.push(answer.get("usage") ?? "");
  const read = counts.safeParse({
    prompt_tokens: numberIn(fields.get("prompt_tokens")),
    completion_tokens: numberIn(fields.get("completion_tokens")),
  });
  if (!read.success || !fields.isWhole()) return { usage: undefined, isUnclear: true };
  const { prompt_tokens: input, completion_tokens: output } = read.data;
  return { usage: { input, output }, isUnclear: !answer.isWhole() };
}

/** A number of JSON, in whatever spelling; undefined if it is absent, null if it cannot be read. */
function numberIn(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
