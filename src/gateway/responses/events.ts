import { z } from "zod";
import { callItem, messageItem, responseOf, type Said, textPart } from "./answer.ts";
import type { ResponsesCall } from "./request.ts";

const chunkShape = z.looseObject({
  id: z.string(),
  created: z.number(),
  model: z.string(),
  choices: z.array(
    z.looseObject({
      index: z.number().nullish(),
      delta: z.looseObject({
        content: z.string().nullish(),
        tool_calls: z
          .array(
            z.looseObject({
              index: z.number().nullish(),
              id: z.string().nullish(),
              function: z.looseObject({ name: z.string().nullish(), arguments: z.string().nullish() }).nullish(),
            }),
          )
          .nullish(),
      }),
      finish_reason: z.string().nullish(),
    }),
  ),
  usage: z.looseObject({ prompt_tokens: z.number(), completion_tokens: z.number().nullish() }).nullish(),
});

/** Translates the events of a chat completion into those of a response. */
export interface ResponseEvents {
  /** Takes the data of one event as the platform sent it. */
  take(data: string): string;
  end(): string;
}

export function createResponseEvents(call: ResponsesCall): ResponseEvents {
  let sequenceNumber = 0;
  /** The answer so far. */
  let begun: Said | undefined;
  /** The open item: the text, or a tool call by its index. */
  let open: "text" | number | undefined;
  /** Number of items so far, the open one included. */
  let items = 0;
  let ended = false;

  const event = (type: string, fields: object) =>
    `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequenceNumber++, ...fields })}\n\n`;

  function close(said: Said): string {
    if (open === undefined) return "";
    const at = items - 1;
    const isText = open === "text";
    const item = open === "text" ? messageItem(said, "completed") : callItem(said, open, "completed");
    const place = { item_id: item.id, output_index: at };
    open = undefined;
    const last = isText
      ? event("response.output_text.done", { ...place, content_index: 0, text: said.text, logprobs: [] }) +
        event("response.content_part.done", { ...place, content_index: 0, part: textPart(said.text) })
      : event("response.function_call_arguments.done", { ...place, ...argumentsOf(item) });
    return last + event("response.output_item.done", { output_index: at, item });
  }

  function addText(said: Said, delta: string): string {
    let events = "";
    if (open !== "text") {
      events += close(said);
      open = "text";
      items += 1;
      const item = messageItem(said, "in_progress");
      events += event("response.output_item.added", { output_index: items - 1, item });
      const place = { item_id: item.id, output_index: items - 1, content_index: 0 };
      events += event("response.content_part.added", { ...place, part: textPart("") });
    }
    begun = { ...said, text: said.text + delta };
    const place = { item_id: messageItem(said, "in_progress").id, output_index: items - 1, content_index: 0 };
    return events + event("response.output_text.delta", { ...place, delta, logprobs: [] });
  }

  function addCall(said: Said, nth: number, given: { id: string; name: string; arguments: string }): string {
    let events = "";
    const before = said.calls[nth];
    if (!before) {
      events += close(said);
      open = nth;
      items += 1;
      begun = { ...said, calls: [...said.calls, { ...given, arguments: "" }] };
      events += event("response.output_item.added", {
        output_index: items - 1,
        item: callItem(begun, nth, "in_progress"),
      });
    }
    const now = begun ?? said;
    begun = {
      ...now,
      calls: now.calls.map((each, at) =>
        at === nth ? { ...each, arguments: each.arguments + given.arguments } : each,
      ),
    };
    if (given.arguments === "") return events;
    const place = { item_id: callItem(now, nth, "in_progress").id, output_index: items - 1 };
    return events + event("response.function_call_arguments.delta", { ...place, delta: given.arguments });
  }

  return {
    take(data) {
      const parsed = chunkShape.safeParse(json(data));
      if (!parsed.success) return "";
      const { id, created, model, choices, usage } = parsed.data;
      let events = "";
      if (!begun) {
        begun = { id, created, model, text: "", calls: [], finish: undefined, usage: undefined };
        const response = responseOf(call, begun, "in_progress");
        events += event("response.created", { response }) + event("response.in_progress", { response });
      }
      for (const { delta, finish_reason } of choices) {
        if (delta.content) events += addText(begun, delta.content);
        for (const [nth, each] of (delta.tool_calls ?? []).entries()) {
          const given = {
            id: each.id ?? "",
            name: each.function?.name ?? "",
            arguments: each.function?.arguments ?? "",
          };
          events += addCall(begun, each.index ?? nth, given);
        }
        if (finish_reason != null) begun = { ...begun, finish: finish_reason };
      }
      if (usage != null) begun = { ...begun, usage };
      return events;
    },
    end() {
      if (!begun || ended) return "";
      ended = true;
      const closing = close(begun);
      const response = responseOf(call, begun, "ended");
      return closing + event(`response.${response.status}`, { response });
    },
  };
}

const argumentsOf = (item: object) => ({ arguments: Reflect.get(item, "arguments"), name: Reflect.get(item, "name") });

function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
