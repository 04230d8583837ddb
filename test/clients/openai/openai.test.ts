import OpenAI from "openai";
import { zodResponseFormat } from "openai/helpers/zod";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { platformForFile } from "../../simulator/platform.ts";

/** The public client that most programs use, unchanged. */

const platform = await platformForFile();
const unlimited = { inference: { perSecond: 10_000, burst: 10_000 } };
beforeEach(() => platform.steer("PUT", "limits", unlimited));
afterEach(() => platform.faults());

const clientWith = (options: object = {}) =>
  new OpenAI({ apiKey: platform.ready.token, baseURL: `${platform.ready.endpoints.inference}/v1`, ...options });
const client = clientWith({ maxRetries: 0 });

const chatModel = "mistralai/Mistral-Small-24B-Instruct";
const user = (content: string) => ({ role: "user" as const, content });
async function collected<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const each of stream) all.push(each);
  return all;
}

const chat = { model: chatModel, max_completion_tokens: 200, messages: [user("Where is the harbour?")] };

describe("the openai client", () => {
  it("lists the models and reads one", async () => {
    const { data } = await client.models.list();
    expect(data.map(({ id }) => id)).toEqual(
      expect.arrayContaining([chatModel, "openai/gpt-oss-120b", "BAAI/bge-m3", "black-forest-labs/FLUX.1-schnell"]),
    );
    expect(await client.models.retrieve(chatModel)).toMatchObject({
      object: "model",
      owned_by: "mistralai",
      context_window: 128_000,
      pricing: { currency: "EUR", input_per_million_tokens: 0.1, output_per_million_tokens: 0.3 },
    });
  });

  it("gets a chat answer that shows the prompt, and pays for what it shows", async () => {
    const messages = [{ role: "system" as const, content: "Be brief." }, ...chat.messages];
    const { choices, usage, ...answer } = await client.chat.completions.create({ ...chat, messages });
    expect(answer).toMatchObject({ id: expect.any(String), object: "chat.completion", model: chatModel });
    expect(choices).toHaveLength(1);
    expect(choices[0]).toMatchObject({ index: 0, finish_reason: "stop", message: { role: "assistant" } });
    const content = choices[0]?.message.content ?? "";
    for (const part of ["Where is the harbour?", "Be brief.", "1 system, 1 user", chatModel]) {
      expect(content).toContain(part);
    }
    expect(usage?.total_tokens).toBe((usage?.prompt_tokens ?? 0) + (usage?.completion_tokens ?? 0));
    expect(usage?.completion_tokens).toBeGreaterThan(20);
  });

  it("gets a whole answer unless it asks for less, ends at a stop word, and has as many choices as it wants", async () => {
    const { model, messages } = chat;
    const whole = await client.chat.completions.create({ model, messages });
    expect(whole).toMatchObject({ choices: [{ finish_reason: "stop" }] });
    expect(whole.usage?.completion_tokens).toBeGreaterThan(16);
    const short = await client.chat.completions.create({ model, messages, max_tokens: 16 });
    expect(short).toMatchObject({ choices: [{ finish_reason: "length" }], usage: { completion_tokens: 16 } });
    const stopped = await client.chat.completions.create({ ...chat, stop: [" is"], n: 3 });
    expect(stopped.choices.map(({ message }) => message.content)).toEqual(Array(3).fill("You wrote: Where"));
  });

  it.each([true, false])("streams the same words; usage in the last chunk: %s", async (include_usage) => {
    const whole = await client.chat.completions.create(chat);
    const stream = await client.chat.completions.create({ ...chat, stream: true, stream_options: { include_usage } });
    const chunks = await collected(stream);
    expect(chunks.length).toBeGreaterThan(20);
    expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("")).toBe(
      whole.choices[0]?.message.content,
    );
    expect(chunks.findLast(({ choices }) => choices.length > 0)?.choices[0]?.finish_reason).toBe("stop");
    expect(chunks.at(-1)?.usage ?? undefined).toEqual(include_usage ? whole.usage : undefined);
  });

  it("leaves in the middle of a stream, and the platform stops", async () => {
    await platform.faults({ fault: "slow-stream", seconds: 0.01 });
    const stream = await client.chat.completions.create({ ...chat, stream: true });
    for await (const _ of stream) break;
    expect(stream.controller.signal.aborted).toBe(true);
  });

  it("gets JSON that its own schema accepts", async () => {
    const place: z.ZodType = z.object({
      name: z.string().min(3).max(20),
      kind: z.enum(["harbour", "beach"]),
      depth: z.number().min(2).max(2.5),
      berths: z.array(z.object({ number: z.int().min(100).max(110), free: z.boolean(), since: z.iso.date() })).min(3),
      boss: z.string().nullable(),
    });
    const response_format = zodResponseFormat(place, "place");
    const { choices } = await client.chat.completions.parse({ ...chat, response_format });
    expect(choices[0]?.message.parsed).toMatchObject({ name: "Where is the harbour" });
  });

  it("gets an object of no special form when it asks for any JSON", async () => {
    const response_format = { type: "json_object" as const };
    const { choices } = await client.chat.completions.create({ ...chat, response_format });
    expect(JSON.parse(choices[0]?.message.content ?? "")).toMatchObject({ you_wrote: "Where is the harbour?" });
  });

  const parameters = {
    type: "object",
    properties: { city: { type: "string" }, days: { type: "integer", minimum: 1, maximum: 7 } },
    required: ["city", "days"],
  };
  const tools = ["get_weather", "get_tides"].map((name) => ({
    type: "function" as const,
    function: { name, parameters },
  }));
  const weather = { ...chat, tools, messages: [user("Please use get_weather for Kiel")] };
  const answered = z.object({ city: z.string(), days: z.int().min(1).max(7) });

  it("has the tool called that the prompt names, also in a stream, and brings the answer back", async () => {
    const { choices } = await client.chat.completions.create(weather);
    expect(choices[0]).toMatchObject({ finish_reason: "tool_calls", message: { content: null } });
    const [call, ...others] = choices[0]?.message.tool_calls ?? [];
    if (call?.type !== "function") throw new Error("no tool was called");
    expect(others).toEqual([]);
    expect(call.function.name).toBe("get_weather");
    expect(answered.parse(JSON.parse(call.function.arguments)).city).toBe("Please use get_weather for Kiel");

    const streamed = await client.chat.completions.stream(weather).finalChatCompletion();
    expect(streamed.choices[0]?.message.tool_calls).toMatchObject([{ function: call.function }]);

    const messages = [
      ...weather.messages,
      { role: "assistant" as const, content: null, tool_calls: [call] },
      { role: "tool" as const, tool_call_id: call.id, content: "Rain." },
    ];
    const last = await client.chat.completions.create({ ...weather, messages });
    expect(last.choices[0]?.message.content).toContain("The tool answered: Rain.");
  });

  it("chooses no tool, any or a certain one", async () => {
    const called = async (tool_choice: OpenAI.ChatCompletionToolChoiceOption, messages = chat.messages) => {
      const { choices } = await client.chat.completions.create({ ...chat, tools, messages, tool_choice });
      return choices[0]?.message.tool_calls?.map((each) => each.type === "function" && each.function.name);
    };
    expect(await called("none", weather.messages)).toBeUndefined();
    expect(await called("auto")).toBeUndefined();
    expect(await called("required")).toEqual(["get_weather"]);
    expect(await called({ type: "function", function: { name: "get_tides" } })).toEqual(["get_tides"]);
  });

  it("completes plain text, also in a stream", async () => {
    const asked = { model: chatModel, prompt: "Once upon", max_tokens: 50 };
    const { choices, usage } = await client.completions.create(asked);
    expect(choices[0]?.text).toContain("Once upon");
    expect(usage?.completion_tokens).toBeGreaterThan(0);
    const chunks = await collected(await client.completions.create({ ...asked, stream: true }));
    expect(chunks.map((chunk) => chunk.choices[0]?.text).join("")).toBe(choices[0]?.text);
  });

  it("gets embeddings of 1024 numbers: the same for the same text, closer for similar ones", async () => {
    const input = ["the ship is in the harbour", "a ship in the harbour", "quarterly tax report"];
    const vectors = async (encoding_format: "float" | "base64" | undefined) => {
      const options = { model: "BAAI/bge-m3", input, ...(encoding_format && { encoding_format }) };
      return (await client.embeddings.create(options)).data.map(({ embedding }) => [...embedding]);
    };
    // Without a format the client asks for base64 and decodes it.
    const [ship = [], similar = [], other = []] = await vectors(undefined);
    expect(await vectors("float")).toEqual([ship, similar, other]);
    expect(ship).toHaveLength(1024);
    const product = (a: number[], b: number[]) => a.reduce((sum, x, at) => sum + x * (b[at] ?? 0), 0);
    expect(product(ship, ship)).toBeCloseTo(1, 4);
    expect(product(ship, similar)).toBeGreaterThan(product(ship, other) + 0.3);
  });

  it("gets a picture that is a PNG of the size it wants", async () => {
    const asked = { model: "black-forest-labs/FLUX.1-schnell", prompt: "a lighthouse", size: "1024x1792" as const };
    const pictures = await Promise.all([1, 2].map(() => client.images.generate(asked)));
    const [first, second] = pictures.map(({ data }) => Buffer.from(data?.[0]?.b64_json ?? "", "base64"));
    expect(first).toEqual(second);
    expect(first?.subarray(0, 8)).toEqual(Buffer.from("\x89PNG\r\n\x1a\n", "latin1"));
    expect([first?.readUInt32BE(16), first?.readUInt32BE(20)]).toEqual([1024, 1792]);
  });
});

describe("errors are the ones the openai client has classes for", () => {
  it("a model that does not exist is NotFoundError with the nearest name", async () => {
    const asked = client.chat.completions.create({ ...chat, model: "mistralai/Mistral-Small" });
    await expect(asked).rejects.toThrow(OpenAI.NotFoundError);
    await expect(asked).rejects.toMatchObject({
      code: "model_not_found",
      param: "model",
      type: "invalid_request_error",
    });
    await expect(asked).rejects.toThrow(`did you mean ${chatModel}?`);
  });

  it("a token that has expired or was never one is AuthenticationError", async () => {
    const { body } = await platform.call("GET", "/auth/v1/tokens/generate?ttl=3600");
    const { token } = z.object({ token: z.string() }).parse(body);
    const short = clientWith({ apiKey: token, maxRetries: 0 });
    expect((await short.models.list()).data.length).toBeGreaterThan(0);
    await platform.advance(3601);
    const expired = short.models.list();
    await expect(expired).rejects.toThrow(OpenAI.AuthenticationError);
    await expect(expired).rejects.toMatchObject({ code: "invalid_api_key", message: expect.stringMatching("expired") });
    await expect(clientWith({ apiKey: "nonsense" }).models.list()).rejects.toThrow(OpenAI.AuthenticationError);
  });

  it("more than the context window is BadRequestError", async () => {
    const messages = [user("x".repeat(4 * 127_900))];
    const asked = client.chat.completions.create({ ...chat, messages });
    await expect(asked).rejects.toThrow(OpenAI.BadRequestError);
    await expect(asked).rejects.toMatchObject({ code: "context_length_exceeded" });
  });

  it.each<[string, object]>([
    ["model", { model: undefined }],
    ["messages", { messages: [] }],
    ["messages.0.role", { messages: [{ role: "captain", content: "x" }] }],
    ["max_completion_tokens", { max_completion_tokens: 0 }],
    ["top_logprobs", { top_logprobs: 2 }],
    ["top_logprobs", { logprobs: true, top_logprobs: 21 }],
    ["stop", { stop: ["a", "b", "c", "d", "e"] }],
    ["response_format.json_schema", { response_format: { type: "json_schema" } }],
  ])("a wrong %s is UnprocessableEntityError that names it", async (param, wrong) => {
    const asked = client.chat.completions.create({ ...chat, ...wrong });
    await expect(asked).rejects.toThrow(OpenAI.UnprocessableEntityError);
    await expect(asked).rejects.toMatchObject({ param });
  });

  it("the eleventh call at once is RateLimitError, which says when to come again", async () => {
    const other = await platform.contract();
    const stranger = clientWith({ apiKey: other.ready.token, maxRetries: 0 });
    const { response } = await stranger.models.list().withResponse();
    const reported = ["limit", "burst", "remaining"].map((name) => response.headers.get(`x-ratelimit-${name}`));
    expect(reported).toEqual(["5", "10", "9"]);
    // So slow that no request becomes available again, even on a slow machine.
    await other.steer("PUT", "limits", { inference: { perSecond: 0.01 } });
    const results = await Promise.allSettled(Array.from({ length: 11 }, () => stranger.models.list().withResponse()));
    const refused = results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
    expect(refused.length).toBeGreaterThanOrEqual(1);
    for (const error of refused) {
      expect(error).toBeInstanceOf(OpenAI.RateLimitError);
      expect(error).toMatchObject({ code: "rate_limit_exceeded" });
      expect(Number(error.headers.get("retry-after"))).toBeGreaterThan(0);
      expect(error.headers.get("x-ratelimit-remaining")).toBe("0");
    }
    // Another contract has its own limit.
    expect((await client.models.list()).data.length).toBeGreaterThan(0);
  });

  it("its own retries get over 429 and 503", async () => {
    await platform.faults(
      { fault: "status", status: 429, retryAfter: 0, count: 1 },
      { fault: "status", status: 503, retryAfter: 0, count: 1 },
    );
    await platform.steer("POST", "calls/reset");
    const { choices } = await clientWith({ maxRetries: 2 }).chat.completions.create(chat);
    expect(choices).toHaveLength(1);
    expect(await platform.steer("GET", "calls")).toMatchObject({ total: 3 });
  });

  it("an answer without content is 200, as on the platform", async () => {
    await platform.faults({ fault: "empty-content", route: "POST /inference/v1/chat/completions", count: 1 });
    expect(await client.chat.completions.create(chat)).toMatchObject({
      choices: [{ message: { content: "" }, finish_reason: "stop" }],
      usage: { completion_tokens: 0 },
    });
  });

  it("a stream that breaks off is an error, not an end", async () => {
    await platform.faults({ fault: "cut-stream", after: 3, count: 1 });
    const stream = await client.chat.completions.create({ ...chat, stream: true });
    await expect(collected(stream)).rejects.toThrow();
  });
});
