import { z } from "zod";
import { unlessThrown } from "../../runtime/unless-thrown.ts";
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
  /** The open items by their place in the output: the text, or a tool call by its place in `begun.calls`. */
  const open = new Map<"text" | number, number>();
  /** Places in `begun.calls` by the index that the platform gives a tool call. */
  const calls = new Map<number, number>();
  /** Number of items so far, open ones included. */
  let items = 0;
  let ended = false;

  const event = (type: string, fields: object) =>
    `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequenceNumber++, ...fields })}\n\n`;

  function close(said: Said, which: "text" | number): string {
    const at = open.get(which);
    if (at === undefined) return "";
    open.delete(which);
    const item = which === "text" ? messageItem(said, "completed") : callItem(said, which, "completed");
    const place = { item_id: item.id, output_index: at };
    const last =
      which === "text"
        ? event("response.output_text.done", { ...place, content_index: 0, text: said.text, logprobs: [] }) +
          event("response.content_part.done", { ...place, content_index: 0, part: textPart(said.text) })
        : event("response.function_call_arguments.done", { ...place, ...argumentsOf(item) });
    return last + event("response.output_item.done", { output_index: at, item });
  }

  /** All text is one item, which is open to the end: text may follow a tool call. */
  function addText(said: Said, delta: string): string {
    let events = "";
    const item = messageItem(said, "in_progress");
    const place = { item_id: item.id, output_index: open.get("text") ?? items, content_index: 0 };
    if (!open.has("text")) {
      open.set("text", items++);
      events += event("response.output_item.added", { output_index: place.output_index, item });
      events += event("response.content_part.added", { ...place, part: textPart("") });
    }
    begun = { ...said, text: said.text + delta };
    return events + event("response.output_text.delta", { ...place, delta, logprobs: [] });
  }

  /** Tool calls may come in turns, so each is open to the end. */
  function addCall(said: Said, index: number, given: { id: string; name: string; arguments: string }): string {
    let events = "";
    let now = said;
    const nth = calls.get(index) ?? said.calls.length;
    if (!calls.has(index)) {
      calls.set(index, nth);
      now = { ...said, calls: [...said.calls, { ...given, arguments: "" }] };
      const item = callItem(now, nth, "in_progress");
      events += event("response.output_item.added", { output_index: items, item });
      open.set(nth, items++);
    }
    const withArguments = (each: Said["calls"][number]) => ({ ...each, arguments: each.arguments + given.arguments });
    begun = { ...now, calls: now.calls.map((each, at) => (at === nth ? withArguments(each) : each)) };
    if (given.arguments === "") return events;
    const place = { item_id: callItem(now, nth, "in_progress").id, output_index: open.get(nth) };
    return events + event("response.function_call_arguments.delta", { ...place, delta: given.arguments });
  }

  return {
    take(data) {
      if (data === "") return "";
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
      const said = begun;
      const closing = [...open.keys()].map((which) => close(said, which)).join("");
      const response = responseOf(call, begun, "ended");
      return closing + event(`response.${response.status}`, { response });
    },
  };
}

const argumentsOf = (item: object) => ({ arguments: Reflect.get(item, "arguments"), name: Reflect.get(item, "name") });

const json = (text: string): unknown => unlessThrown(() => JSON.parse(text));
