import { z } from "zod";
import { tokens } from "../asked.ts";
import { Refused } from "../refused.ts";

/** Fields of the Responses API that a chat completion cannot express, each with the reason. */
const untranslated: Readonly<Record<string, string>> = {
  previous_response_id: "the platform keeps no answers: send the earlier messages in input",
  conversation: "the platform keeps no answers: send the earlier messages in input",
  background: "the platform has no background answers: leave it out",
  prompt: "the platform keeps no prompts: send it in input and instructions",
  reasoning: "the platform has no such setting: leave it out",
  max_tool_calls: "tools are called by the client: leave it out",
  top_logprobs: "use /v1/chat/completions for it",
};

const part = z.discriminatedUnion("type", [
  z.looseObject({ type: z.literal("input_text"), text: z.string() }),
  z.looseObject({ type: z.literal("output_text"), text: z.string() }),
  z.looseObject({ type: z.literal("refusal"), refusal: z.string() }),
  z.looseObject({ type: z.literal("input_image"), image_url: z.string(), detail: z.string().nullish() }),
]);
const content = z.union([z.string(), z.array(part)]);
const role = z.enum(["system", "developer", "user", "assistant"]);
const item = z.union([
  z.looseObject({ type: z.literal("function_call"), call_id: z.string(), name: z.string(), arguments: z.string() }),
  z.looseObject({
    type: z.literal("function_call_output"),
    call_id: z.string(),
    output: z.union([z.string(), z.array(part)]),
  }),
  z.looseObject({ type: z.literal("message").optional(), role, content }),
]);
const tool = z.looseObject({
  type: z.literal("function", "only tools of type function are translated for the platform"),
  name: z.string(),
  description: z.string().nullish(),
  parameters: z.unknown().optional(),
  strict: z.boolean().nullish(),
});
const format = z.looseObject({
  type: z.enum(["text", "json_object", "json_schema"]),
  name: z.string().optional(),
  schema: z.unknown().optional(),
  strict: z.boolean().nullish(),
});
const choice = z.union([
  z.enum(["auto", "none", "required"]),
  z.looseObject({ type: z.literal("function"), name: z.string() }),
]);
const body = z.looseObject({
  model: z.string().min(1).max(256),
  input: z.union([z.string(), z.array(item)]),
  instructions: z.string().nullish(),
  max_output_tokens: tokens,
  temperature: z.number().nullish(),
  top_p: z.number().nullish(),
  stream: z.boolean().nullish(),
  tools: z.array(tool).nullish(),
  tool_choice: choice.nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  text: z.looseObject({ format: format.nullish() }).nullish(),
  metadata: z.record(z.string(), z.string()).nullish(),
  user: z.string().nullish(),
});

/** A parsed call of the Responses API. */
export type ResponsesCall = z.output<typeof body>;

export function responsesCallIn(value: unknown): ResponsesCall {
  for (const [name, why] of Object.entries(untranslated)) {
    const given: unknown = Reflect.get(Object(value), name);
    if (given !== undefined && given !== null && given !== false) {
      throw new Refused(422, "unsupported_value", `${name}: ${why}`);
    }
  }
  const parsed = body.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new Refused(422, "invalid_value", `${issue?.path.join(".") || "body"}: ${issue?.message ?? "is not valid"}`);
}

/** The chat completion that is equivalent to the call. */
export function chatBodyOf(call: ResponsesCall): object {
  const { model, input, instructions, max_output_tokens: most, tools, tool_choice: chosen, text } = call;
  const { temperature, top_p, user, parallel_tool_calls: parallel } = call;
  const items = typeof input === "string" ? [{ role: "user", content: input }] : messagesOf(input);
  const wanted = text?.format;
  return {
    model,
    messages: [...(instructions ? [{ role: "system", content: instructions }] : []), ...items],
    ...(most != null && { max_completion_tokens: most }),
    ...(temperature != null && { temperature }),
    ...(top_p != null && { top_p }),
    ...(user != null && { user }),
    ...(tools != null && tools.length > 0 && { tools: tools.map(toolOf) }),
    ...(chosen != null && {
      tool_choice: typeof chosen === "string" ? chosen : { type: "function", function: { name: chosen.name } },
    }),
    ...(parallel != null && tools?.length && { parallel_tool_calls: parallel }),
    ...(wanted != null && wanted.type !== "text" && { response_format: formatOf(wanted) }),
    // The last event of a stream has the usage.
    ...(call.stream === true && { stream: true, stream_options: { include_usage: true } }),
  };
}

function messagesOf(items: readonly z.output<typeof item>[]): object[] {
  const messages: object[] = [];
  let calls: object[] | undefined;
  for (const each of items) {
    if (each.type === "function_call") {
      const { call_id: id, name, arguments: text } = each;
      // Consecutive tool calls belong to one message.
      if (!calls) {
        calls = [];
        messages.push({ role: "assistant", content: null, tool_calls: calls });
      }
      calls.push({ id, type: "function", function: { name, arguments: text } });
      continue;
    }
    calls = undefined;
    if (each.type === "function_call_output") {
      messages.push({ role: "tool", tool_call_id: each.call_id, content: contentOf(each.output) });
    } else messages.push({ role: each.role, content: contentOf(each.content) });
  }
  return messages;
}

function contentOf(given: z.output<typeof content>): unknown {
  if (typeof given === "string") return given;
  if (given.every(({ type }) => type !== "input_image")) return given.map(textOf).join("");
  return given.map((each) =>
    each.type === "input_image"
      ? { type: "image_url", image_url: { url: each.image_url, ...(each.detail != null && { detail: each.detail }) } }
      : { type: "text", text: textOf(each) },
  );
}

function textOf(each: z.output<typeof part>): string {
  if (each.type === "input_image") return "";
  return each.type === "refusal" ? each.refusal : each.text;
}

const toolOf = ({ name, description, parameters, strict }: z.output<typeof tool>) => ({
  type: "function",
  function: {
    name,
    ...(description != null && { description }),
    ...(parameters != null && { parameters }),
    ...(strict != null && { strict }),
  },
});

const formatOf = ({ type, name, schema, strict }: z.output<typeof format>) =>
  type === "json_schema"
    ? { type, json_schema: { name: name ?? "answer", schema, ...(strict != null && { strict }) } }
    : { type };
