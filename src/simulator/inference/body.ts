import { z } from "zod";
import { refusal } from "./refusal.ts";

const text = z.string().max(1_000_000);
const parts = z
  .array(
    z.discriminatedUnion("type", [
      z.looseObject({ type: z.literal("text"), text }),
      z.looseObject({ type: z.literal("image_url"), image_url: z.looseObject({ url: z.string() }) }),
    ]),
  )
  .min(1);
const content = z.union([text, parts]);
const call = z.looseObject({
  id: z.string(),
  type: z.literal("function"),
  function: z.looseObject({ name: z.string(), arguments: z.string() }),
});

const message = z.discriminatedUnion("role", [
  z.looseObject({ role: z.literal("system"), content }),
  z.looseObject({ role: z.literal("developer"), content }),
  z.looseObject({ role: z.literal("user"), content }),
  z.looseObject({ role: z.literal("assistant"), content: content.nullish(), tool_calls: z.array(call).optional() }),
  z.looseObject({ role: z.literal("tool"), content, tool_call_id: z.string() }),
]);
export type Message = z.infer<typeof message>;

const name = z.string().regex(/^[\w-]{1,64}$/, "must be up to 64 letters, digits, _ and -");
const jsonSchema = z.record(z.string(), z.unknown());
const tool = z.looseObject({
  type: z.literal("function"),
  function: z.looseObject({ name, parameters: jsonSchema.optional() }),
});
export type Tool = z.infer<typeof tool>;

const maxTokens = z.int().min(1);
/** The fields that calls for text share. */
const generation = {
  model: z.string(),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().nullish(),
  n: z.int().min(1).max(16).default(1),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().optional() }).nullish(),
  stop: z.union([z.string(), z.array(z.string()).max(4)]).nullish(),
  max_tokens: maxTokens.nullish(),
};

const topLogprobs = z.int().min(0).max(20);

const chatFields = z.looseObject({
  ...generation,
  logprobs: z.boolean().nullish(),
  top_logprobs: topLogprobs.nullish(),
  messages: z.array(message).min(1),
  max_completion_tokens: maxTokens.nullish(),
  response_format: z
    .discriminatedUnion("type", [
      z.looseObject({ type: z.literal("text") }),
      z.looseObject({ type: z.literal("json_object") }),
      z.looseObject({
        type: z.literal("json_schema"),
        json_schema: z.looseObject({ name, strict: z.boolean().nullish(), schema: jsonSchema }),
      }),
    ])
    .nullish(),
  tools: z.array(tool).max(128).nullish(),
  tool_choice: z
    .union([
      z.enum(["none", "auto", "required"]),
      z.looseObject({ type: z.literal("function"), function: z.looseObject({ name }) }),
    ])
    .nullish(),
});
export const chatBody = chatFields.refine(({ logprobs, top_logprobs: top }) => logprobs === true || !top, {
  path: ["top_logprobs"],
  message: "needs logprobs: true",
});
export type ChatBody = z.infer<typeof chatBody>;

export const completionBody = z.looseObject({
  ...generation,
  logprobs: topLogprobs.nullish(),
  prompt: z.union([text, z.array(text).min(1).max(16)]),
});
export type CompletionBody = z.infer<typeof completionBody>;

export const embeddingBody = z.looseObject({
  model: z.string(),
  input: z.union([text.min(1), z.array(text.min(1)).min(1).max(2048)]),
  encoding_format: z.enum(["float", "base64"]).default("float"),
  dimensions: z.int().optional(),
});

export const imageBody = z.looseObject({
  model: z.string(),
  prompt: text.min(1),
  n: z.int().min(1).max(10).nullish(),
  size: z.enum(["1024x1024", "1024x1792", "1792x1024"]).nullish(),
  response_format: z.literal("b64_json", "this platform answers with b64_json only").nullish(),
});

/** The body as the schema reads it; 422 names the first parameter that is wrong. */
export function bodyOf<T>(schema: z.ZodType<T>, body: string): T {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    throw refusal(422, "invalid_json", "The body is not valid JSON");
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const param = issue?.path.map(String).join(".") || null;
  throw refusal(422, "invalid_value", `${param ?? "body"}: ${issue?.message ?? "is not valid"}`, param);
}

/** The text of a message. */
export function textOf({ content }: Message): string {
  if (typeof content === "string") return content;
  return (content ?? []).map((part) => (part.type === "text" ? part.text : "[image]")).join(" ");
}
