import type OpenAI from "openai";
import { describe, expect, it } from "vitest";
import { streamMeter } from "../../src/gateway/answer/meter.ts";
import { createResponseEvents } from "../../src/gateway/responses/events.ts";
import { translating } from "../../src/gateway/responses/meter.ts";
import { platformForFile } from "../simulator/platform.ts";
import { chatModel, gatewayForFile } from "./running.ts";

const platform = await platformForFile();
await platform.steer("PUT", "limits", { inference: { perSecond: 10_000, burst: 10_000 } });
const credentials = async () => ({ authorization: `Bearer ${platform.ready.token}` });
const accesses = [
  { namespace: "shop", name: "chat", models: [chatModel], tokensPerCall: 500 },
  { namespace: "poor", name: "pennies", models: [chatModel], eurPerDay: 0.000001 },
];
const gateway = await gatewayForFile({ upstream: platform.ready.endpoints.inference, credentials, accesses });
const shop = gateway.clientOf("shop");
const asked = { model: chatModel, input: "Where is the harbour?", instructions: "Be brief." };
const tool = {
  type: "function" as const,
  name: "get_tides",
  description: "Tides of a harbour",
  parameters: { type: "object", properties: {} },
  strict: false,
};
const input: OpenAI.Responses.ResponseInput = [
  { role: "user", content: [{ type: "input_text", text: "Where is the harbour?" }] },
];

describe("the Responses API behind the gateway", () => {
  it("answers as the chat completion does, and tells what it has used", async () => {
    const messages = [
      { role: "system" as const, content: asked.instructions },
      { role: "user" as const, content: asked.input },
    ];
    const chat = await shop.chat.completions.create({ model: chatModel, messages });
    const response = await shop.responses.create(asked);
    expect(response.output_text).toBe(chat.choices[0]?.message.content);
    expect(response).toMatchObject({
      object: "response",
      status: "completed",
      model: chatModel,
      usage: { input_tokens: chat.usage?.prompt_tokens, output_tokens: chat.usage?.completion_tokens },
    });
    expect((await shop.responses.create({ ...asked, input })).output_text).toBe(response.output_text);
  });

  it("says when an answer was cut", async () => {
    const response = await shop.responses.create({ ...asked, max_output_tokens: 3 });
    expect(response).toMatchObject({ status: "incomplete", incomplete_details: { reason: "max_output_tokens" } });
    expect(response.usage?.output_tokens).toBe(3);
  });

  it("keeps to a schema, and calls tools whose result goes on", async () => {
    const schema = {
      type: "object",
      properties: { a: { type: "integer" } },
      required: ["a"],
      additionalProperties: false,
    };
    const format = { type: "json_schema" as const, name: "x", schema, strict: true };
    const shaped = await shop.responses.create({ ...asked, text: { format } });
    expect(JSON.parse(shaped.output_text)).toEqual({ a: expect.any(Number) });
    const called = await shop.responses.create({ ...asked, tools: [tool], tool_choice: "required" });
    const call = called.output.find(({ type }) => type === "function_call");
    if (call?.type !== "function_call") throw new Error("no tool was called");
    expect(call).toMatchObject({ name: "get_tides", call_id: expect.any(String), arguments: expect.any(String) });
    const output = { type: "function_call_output" as const, call_id: call.call_id, output: "high at noon" };
    const next = await shop.responses.create({ ...asked, input: [...input, call, output], tools: [tool] });
    expect(next.status).toBe("completed");
  });

  it("streams its text as events of the API, with the whole response at the end", async () => {
    const whole = await shop.responses.create(asked);
    const types: string[] = [];
    let text = "";
    let last: OpenAI.Responses.Response | undefined;
    for await (const event of await shop.responses.create({ ...asked, stream: true })) {
      expect(event.sequence_number).toBe(types.length);
      types.push(event.type);
      if (event.type === "response.output_text.delta") text += event.delta;
      if (event.type === "response.completed") last = event.response;
    }
    expect(text).toBe(whole.output_text);
    expect([...new Set(types)]).toEqual([
      "response.created",
      "response.in_progress",
      "response.output_item.added",
      "response.content_part.added",
      "response.output_text.delta",
      "response.output_text.done",
      "response.content_part.done",
      "response.output_item.done",
      "response.completed",
    ]);
    expect(last?.usage).toEqual(whole.usage);
  });

  it("streams calls of tools", async () => {
    const stream = shop.responses.stream({ ...asked, tools: [tool], tool_choice: "required" });
    const { output } = await stream.finalResponse();
    expect(output).toMatchObject([{ type: "function_call", name: "get_tides" }]);
  });

  it("streams calls of tools that come in turns, each in its own place", () => {
    const events = createResponseEvents({ model: chatModel, input: "x" } as never);
    const part = (index: number, id: string | null, text: string) => ({
      index,
      id,
      function: { name: id === null ? null : `do_${id}`, arguments: text },
    });
    const chunk = (...tool_calls: object[]) =>
      events.take(
        JSON.stringify({ id: "c", created: 1, model: chatModel, choices: [{ index: 0, delta: { tool_calls } }] }),
      );
    // The first index need not be 0.
    const said = [
      chunk(part(3, "a", "{")),
      chunk(part(5, "b", "[")),
      chunk(part(3, null, "}")),
      chunk(part(5, null, "]")),
    ];
    const shown = [...`${said.join("")}${events.end()}`.matchAll(/^data: (.*)$/gm)].map(([, data = ""]) =>
      JSON.parse(data),
    );
    const of = (type: string) => shown.filter((each) => each.type === `response.${type}`);
    expect(of("output_item.added").map(({ output_index, item }) => [output_index, item.name])).toEqual([
      [0, "do_a"],
      [1, "do_b"],
    ]);
    expect(of("function_call_arguments.delta").map(({ output_index, delta }) => [output_index, delta])).toEqual([
      [0, "{"],
      [1, "["],
      [0, "}"],
      [1, "]"],
    ]);
    expect(of("output_item.done").map(({ output_index, item }) => [output_index, item.arguments])).toEqual([
      [0, "{}"],
      [1, "[]"],
    ]);
  });

  it("streams a text with any character", () => {
    const meter = translating(streamMeter(true), { model: chatModel, input: "x" } as never);
    const content = "a\u2028b\u2029c\u0085d";
    const chunk = { id: "c", created: 1, model: chatModel, choices: [{ index: 0, delta: { content } }] };
    const events = meter.push(Buffer.from(`data: ${JSON.stringify(chunk)}\n\n`)).toString();
    expect(events).toContain(`"delta":${JSON.stringify(content)}`);
  });

  it("has the limits and budgets of chat completions", async () => {
    await expect(shop.responses.create({ ...asked, max_output_tokens: 501 })).rejects.toMatchObject({ status: 422 });
    const other = shop.responses.create({ ...asked, model: "openai/gpt-oss-120b" });
    await expect(other).rejects.toMatchObject({ status: 403, code: "model_not_allowed" });
    const poor = gateway.clientOf("poor").responses.create(asked);
    await expect(poor).rejects.toMatchObject({ status: 429 });
    const metrics = [];
    for await (const part of gateway.metrics.scrape()) metrics.push(part);
    expect(metrics.join("")).toMatch(/mooring_gateway_tokens_total\{[^}]*namespace="shop"[^}]*\} [1-9]/);
  });

  it("refuses what cannot be translated, with the reason", async () => {
    const earlier = shop.responses.create({ ...asked, previous_response_id: "resp_1" });
    await expect(earlier).rejects.toThrow("previous_response_id: the platform keeps no answers");
    const search = shop.responses.create({ ...asked, tools: [{ type: "web_search_preview" }] });
    await expect(search).rejects.toThrow("only tools of type function are translated");
  });
});

it("tells of one model, and why of another it does not", async () => {
  expect(await shop.models.retrieve(chatModel)).toMatchObject({ id: chatModel, object: "model" });
  const other = shop.models.retrieve("openai/gpt-oss-120b");
  await expect(other).rejects.toMatchObject({ status: 403, code: "model_not_allowed" });
  const unknown = shop.models.retrieve("openai/gpt-oss-121b");
  await expect(unknown).rejects.toMatchObject({ status: 404, code: "model_not_found" });
});

it("a completion without max_tokens ends by itself", async () => {
  const long = "word ".repeat(60);
  const { choices } = await shop.completions.create({ model: chatModel, prompt: long });
  expect(choices[0]).toMatchObject({ finish_reason: "stop", text: expect.stringContaining(long.trim()) });
});
