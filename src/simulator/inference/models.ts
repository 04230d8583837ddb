import { nearest, refusal } from "./refusal.ts";

/** The task of a model; a chat model also completes plain text. */
export type Task = "chat" | "embedding" | "image";

export interface Model {
  id: string;
  task: Task;
  /** Tokens that a call may have, prompt and answer together. */
  context: number;
  /** EUR per million tokens; absent: the platform publishes none. */
  price?: { input: number; output: number };
}

export const dimensions = 1024;

export const models: readonly Model[] = [
  { id: "mistralai/Mistral-Small-24B-Instruct", task: "chat", context: 128_000, price: { input: 0.1, output: 0.3 } },
  { id: "openai/gpt-oss-120b", task: "chat", context: 128_000, price: { input: 0.15, output: 0.65 } },
  { id: "meta-llama/Llama-3.3-70B-Instruct", task: "chat", context: 128_000, price: { input: 0.65, output: 0.65 } },
  { id: "BAAI/bge-m3", task: "embedding", context: 8_192, price: { input: 0.02, output: 0 } },
  { id: "BAAI/bge-large-en-v1.5", task: "embedding", context: 512, price: { input: 0.02, output: 0 } },
  { id: "black-forest-labs/FLUX.1-schnell", task: "image", context: 512 },
];

/** A model as `/v1/models` shows it: the usual fields, then context window and prices. */
export const shown = ({ id, context, price }: Model) => ({
  id,
  object: "model",
  created: 1_735_689_600,
  owned_by: id.split("/")[0],
  context_window: context,
  ...(price !== undefined && {
    pricing: { currency: "EUR", input_per_million_tokens: price.input, output_per_million_tokens: price.output },
  }),
});

/** The model with this id. */
export function modelOf(id: string, task?: Task): Model {
  const model = models.find((each) => each.id === id);
  if (model === undefined) {
    const names = models.map((each) => each.id);
    const near = nearest(id, names);
    const others = near === undefined ? `there are ${names.join(", ")}` : `did you mean ${near}?`;
    throw refusal(404, "model_not_found", `The model ${id} does not exist; ${others}`, "model");
  }
  if (task !== undefined && model.task !== task) {
    throw refusal(400, "model_not_supported", `The model ${id} is for ${model.task}, not for ${task}`, "model");
  }
  return model;
}

export function checkContext({ context }: Model, prompt: number, completion: number, param: string): void {
  if (prompt + completion <= context) return;
  throw refusal(
    400,
    "context_length_exceeded",
    `This model's maximum context length is ${context} tokens, and ${prompt + completion} were asked for: ` +
      `${prompt} of the prompt and ${completion} of the completion`,
    param,
  );
}

/** A text cut into tokens of up to four letters; joined, they are the text again. */
export const tokensOf = (text: string): string[] => text.match(/\s*\S{1,4}|\s+$/gu) ?? [];

export const countTokens = (text: string): number => tokensOf(text).length;

export interface Ending {
  stop: readonly string[];
  maxTokens: number;
}

/** The tokens of a text, cut at a stop word or at the maximum, and why it ends there. */
export function ended(text: string, { stop, maxTokens }: Ending): { tokens: string[]; finish: "stop" | "length" } {
  const places = stop.map((word) => text.indexOf(word)).filter((at) => at >= 0);
  const tokens = tokensOf(text.slice(0, Math.min(text.length, ...places)));
  return tokens.length > maxTokens
    ? { tokens: tokens.slice(0, maxTokens), finish: "length" }
    : { tokens, finish: "stop" };
}

export const usageOf = (prompt: number, completion: number) => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: prompt + completion,
});
