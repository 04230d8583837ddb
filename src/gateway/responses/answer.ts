import { z } from "zod";
import type { ResponsesCall } from "./request.ts";

const usageShape = z.looseObject({ prompt_tokens: z.number(), completion_tokens: z.number().nullish() }).nullish();
const toolCall = z.looseObject({
  id: z.string().nullish(),
  function: z.looseObject({ name: z.string().nullish(), arguments: z.string().nullish() }).nullish(),
});
const completion = z.looseObject({
  id: z.string(),
  created: z.number(),
  model: z.string(),
  choices: z.array(
    z.looseObject({
      message: z.looseObject({ content: z.string().nullish(), tool_calls: z.array(toolCall).nullish() }),
      finish_reason: z.string().nullish(),
    }),
  ),
  usage: usageShape,
});

/** The content of an answer, from one body or from a stream. */
export interface Said {
  id: string;
  created: number;
  model: string;
  text: string;
  calls: readonly { id: string; name: string; arguments: string }[];
  finish: string | undefined;
  usage: z.output<typeof usageShape>;
}

/** The content of a chat completion; undefined if the value is not one. */
export function saidIn(value: unknown): Said | undefined {
  const parsed = completion.safeParse(value);
  if (!parsed.success) return undefined;
  const { id, created, model, choices, usage } = parsed.data;
  const { message, finish_reason: finish } = choices[0] ?? {};
  const calls = (message?.tool_calls ?? []).map(({ id: callId, function: asked }) => ({
    id: callId ?? "",
    name: asked?.name ?? "",
    arguments: asked?.arguments ?? "",
  }));
  return { id, created, model, text: message?.content ?? "", calls, finish: finish ?? undefined, usage };
}

/** Ids are made from the id of the chat completion and a prefix for their type. */
const idOf = (prefix: string, { id }: Pick<Said, "id">, nth?: number) =>
  `${prefix}_${id.replace(/^chatcmpl-/, "")}${nth === undefined ? "" : `-${nth}`}`;

export const messageItem = (said: Said, status: string) => ({
  type: "message",
  id: idOf("msg", said),
  status,
  role: "assistant",
  content: status === "in_progress" ? [] : [textPart(said.text)],
});

export const textPart = (text: string) => ({ type: "output_text", text, annotations: [], logprobs: [] });

export const callItem = (said: Said, nth: number, status: string) => {
  const { id, name, arguments: text } = said.calls[nth] ?? { id: "", name: "", arguments: "" };
  return { type: "function_call", id: idOf("fc", said, nth), call_id: id, name, arguments: text, status };
};

/** A response in the format of the Responses API. It repeats the parameters of the call. */
export function responseOf(call: ResponsesCall, said: Said, status: "in_progress" | "ended") {
  const isCut = said.finish === "length";
  // A stream may end without a finish reason.
  const isBroken = said.finish === undefined;
  const output = [
    ...(said.text !== "" || said.calls.length === 0 ? [messageItem(said, isCut ? "incomplete" : "completed")] : []),
    ...said.calls.map((_, nth) => callItem(said, nth, "completed")),
  ];
  const input = said.usage?.prompt_tokens ?? 0;
  const produced = said.usage?.completion_tokens ?? 0;
  const isOver = status === "ended";
  const finalStatus = isBroken ? "failed" : isCut ? "incomplete" : "completed";
  return {
    id: idOf("resp", said),
    object: "response",
    created_at: said.created,
    status: isOver ? finalStatus : status,
    error: isOver && isBroken ? { code: "server_error", message: "the platform ended the answer too early" } : null,
    incomplete_details: isOver && isCut ? { reason: "max_output_tokens" } : null,
    instructions: call.instructions ?? null,
    max_output_tokens: call.max_output_tokens ?? null,
    metadata: call.metadata ?? {},
    model: said.model,
    output: isOver ? output : [],
    parallel_tool_calls: call.parallel_tool_calls ?? true,
    previous_response_id: null,
    store: false,
    temperature: call.temperature ?? null,
    text: { format: call.text?.format ?? { type: "text" } },
    tool_choice: call.tool_choice ?? "auto",
    tools: call.tools ?? [],
    top_p: call.top_p ?? null,
    usage:
      isOver && said.usage
        ? {
            input_tokens: input,
            input_tokens_details: { cached_tokens: 0 },
            output_tokens: produced,
            output_tokens_details: { reasoning_tokens: 0 },
            total_tokens: input + produced,
          }
        : null,
  };
}
