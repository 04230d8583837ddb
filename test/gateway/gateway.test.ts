import OpenAI from "openai";
import { afterEach, describe, expect, it } from "vitest";
import { askedIn, bodyIn } from "../../src/gateway/asked.ts";
import { platformForFile } from "../simulator/platform.ts";
import { chatModel, gatewayForFile, startGateway } from "./running.ts";

const platform = await platformForFile();
await platform.steer("PUT", "limits", { inference: { perSecond: 10_000, burst: 10_000 } });
const embeddingModel = "BAAI/bge-m3";
const imageModel = "black-forest-labs/FLUX.1-schnell";
const accesses = [
  { namespace: "shop", name: "chat", models: [chatModel, imageModel, "openai/gpt-oss-12b"] },
  { namespace: "shop", name: "search", models: [embeddingModel] },
  { namespace: "poor", name: "pennies", models: [chatModel, imageModel], eurPerDay: 0.00005 },
];
let token = platform.ready.token;
const credentials = async () => ({ authorization: `Bearer ${token}` });
const upstream = platform.ready.endpoints.inference;
const gateway = await gatewayForFile({ upstream, credentials, accesses });
const shop = gateway.clientOf("shop");
afterEach(async () => {
  token = platform.ready.token;
  await platform.faults();
});

const chat = {
  model: chatModel,
  max_completion_tokens: 100,
  messages: [{ role: "user" as const, content: "Where is the harbour?" }],
};
const calls = async () => {
  const report = Object(await platform.steer("GET", "calls"));
  return Number(report.byRoute["POST /inference/v1/chat/completions"] ?? 0);
};

describe("the openai client behind the gateway", () => {
  it("chats, with a schema and with tools, as without it", async () => {
    const direct = new OpenAI({ apiKey: platform.ready.token, baseURL: `${upstream}/v1` });
    const response_format = {
      type: "json_schema" as const,
      json_schema: { name: "x", schema: { type: "object", properties: { a: { type: "integer" } }, required: ["a"] } },
    };
    const tools = [{ type: "function" as const, function: { name: "get_tides" } }];
    for (const more of [{}, { response_format }, { tools, tool_choice: "required" as const }]) {
      const [there, here] = await Promise.all(
        [direct, shop].map((client) => client.chat.completions.create({ ...chat, ...more })),
      );
      const said = (answer: typeof there) =>
        answer?.choices.map(({ message, finish_reason }) => [
          message.content,
          message.tool_calls?.map((call) => call.type === "function" && call.function),
          finish_reason,
        ]);
      expect(said(here)).toEqual(said(there));
      expect(here?.usage).toEqual(there?.usage);
    }
  });

  it.each([true, false])("streams event by event; usage asked for: %s", async (include_usage) => {
    const stream = await shop.chat.completions.create({ ...chat, stream: true, stream_options: { include_usage } });
    let text = "";
    const usages: unknown[] = [];
    for await (const chunk of stream) {
      // Programs rely on it: without usage, every chunk has a choice.
      if (!include_usage) expect(chunk.choices).toHaveLength(1);
      text += chunk.choices[0]?.delta.content ?? "";
      if (chunk.usage) usages.push(chunk.usage);
    }
    expect(text).toContain("Where is the harbour?");
    expect(usages).toHaveLength(include_usage ? 1 : 0);
  });

  it("passes each event on when it comes", async () => {
    await platform.faults({ fault: "slow-stream", seconds: 600 });
    const stream = await shop.chat.completions.create({ ...chat, stream: true });
    for await (const chunk of stream) {
      // The second one comes in ten minutes.
      expect(chunk.choices[0]?.delta).toMatchObject({ role: "assistant" });
      break;
    }
  });

  it("embeds, draws, and lists the models of its namespace only", async () => {
    const { data } = await shop.embeddings.create({ model: embeddingModel, input: "ship" });
    expect(data[0]?.embedding).toHaveLength(1024);
    const drawn = await shop.images.generate({ model: imageModel, prompt: "a ship" });
    expect(drawn.data?.[0]?.b64_json?.length).toBeGreaterThan(100);
    const listed = async (namespace: string) =>
      (await gateway.clientOf(namespace).models.list()).data.map(({ id }) => id);
    expect((await listed("shop")).sort()).toEqual([embeddingModel, imageModel, chatModel].sort());
    expect(await listed("nobody")).toEqual([]);
  });

  it("gets the platform's own refusals", async () => {
    const wrong = shop.chat.completions.create({ ...chat, max_completion_tokens: 200_000 });
    await expect(wrong).rejects.toThrow(OpenAI.BadRequestError);
    await expect(wrong).rejects.toMatchObject({ code: "context_length_exceeded" });
  });

  it("learns which models its namespace may use", async () => {
    const other = shop.chat.completions.create({ ...chat, model: "openai/gpt-oss-120b" });
    await expect(other).rejects.toThrow(OpenAI.PermissionDeniedError);
    await expect(other).rejects.toThrow(`may use ${chatModel}`);
    await expect(gateway.clientOf("nobody").chat.completions.create(chat)).rejects.toThrow("has no InferenceAccess");
  });

  it("is told the nearest names when its namespace was given a model that does not exist", async () => {
    const unknown = shop.chat.completions.create({ ...chat, model: "openai/gpt-oss-12b" });
    await expect(unknown).rejects.toThrow(OpenAI.NotFoundError);
    await expect(unknown).rejects.toThrow("has no model openai/gpt-oss-12b; nearest are openai/gpt-oss-120b");
  });

  it("is refused with a token that is not of a ServiceAccount or not for the gateway", async () => {
    for (const apiKey of ["nonsense", "token-of-a-person"]) {
      const client = new OpenAI({ apiKey, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
      await expect(client.models.list()).rejects.toThrow(OpenAI.AuthenticationError);
    }
  });
});

describe("tokens", () => {
  it("of workloads are asked about once in a while, wrong ones too", async () => {
    const before = gateway.reviews.asked.length;
    for (let nth = 0; nth < 3; nth += 1) {
      await gateway.clientOf("fresh").models.list();
      await expect(gateway.clientOf("fresh", { apiKey: "wrong" }).models.list()).rejects.toThrow(
        OpenAI.AuthenticationError,
      );
    }
    expect(gateway.reviews.asked.length - before).toBe(2);
  });

  it("of the platform are read again after a refusal", async () => {
    let reads = 0;
    const own = await startGateway({
      upstream,
      accesses,
      credentials: async (refused) => {
        reads += 1;
        return { authorization: `Bearer ${refused ? platform.ready.token : "old"}` };
      },
    });
    expect((await own.clientOf("shop").chat.completions.create(chat)).choices).toHaveLength(1);
    expect(reads).toBe(2);
    await own.stop();
  });

  it("of the platform never leave the gateway, also when the platform refuses them", async () => {
    token = `${platform.ready.token}x`;
    const refused = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: "Bearer token-of-shop", "content-type": "application/json" },
      body: JSON.stringify(chat),
    });
    expect(refused.status).toBe(502);
    const reported = JSON.stringify([await refused.text(), [...refused.headers], gateway.lines]);
    expect(reported).toContain("upstream_unauthorized");
    expect(reported).not.toContain(platform.ready.token);
    expect(reported).not.toContain("token-of-shop");
  });

  it("of the platform never leave the gateway, whatever else the platform refuses with them in its words", async () => {
    const [, , signature] = platform.ready.token.split(".");
    const message = `bad request of ${platform.ready.token}, signed ${signature}`;
    await platform.faults({ fault: "status", status: 400, message, route: "POST *", count: 1 });
    const refused = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: "Bearer token-of-shop", "content-type": "application/json" },
      body: JSON.stringify(chat),
    });
    expect(refused.status).toBe(400);
    const reported = await refused.text();
    expect(reported).toContain("bad request of [redacted], signed [redacted]");
    expect(reported).not.toContain(signature);
  });
});

describe("retries", () => {
  it("get over 429, 5xx and broken connections", async () => {
    const before = await calls();
    await platform.faults(
      { fault: "status", status: 429, retryAfter: 0, route: "POST *", count: 1 },
      { fault: "status", status: 503, retryAfter: 0, route: "POST *", count: 1 },
      { fault: "request-lost", route: "POST *", count: 1 },
    );
    expect((await shop.chat.completions.create(chat)).choices).toHaveLength(1);
    expect((await calls()) - before).toBe(4);
  });

  it("end, and the client hears the platform's last word", async () => {
    const before = await calls();
    await platform.faults({ fault: "status", status: 503, retryAfter: 0, route: "POST *" });
    await expect(shop.chat.completions.create(chat)).rejects.toMatchObject({ status: 503 });
    expect((await calls()) - before).toBe(4);
  });

  it("are left to the client when the platform asks for a long pause", async () => {
    await platform.faults({ fault: "status", status: 503, retryAfter: 600, route: "POST *" });
    const error = await shop.chat.completions.create(chat).catch((reason) => reason);
    expect(error).toMatchObject({ status: 503 });
    expect(error.headers.get("retry-after")).toBe("600");
  });

  it("do not happen after the first byte of a stream: it breaks off for the client as well", async () => {
    const before = await calls();
    await platform.faults({ fault: "cut-stream", after: 3, route: "POST *" });
    const stream = await shop.chat.completions.create({ ...chat, stream: true });
    const read = async () => {
      for await (const _ of stream);
    };
    await expect(read()).rejects.toThrow();
    expect((await calls()) - before).toBe(1);
  });
});

describe("usage and money", () => {
  it.each([
    ["chat/completions", { messages: chat.messages }],
    ["chat/completions", { messages: chat.messages, max_tokens: 7, n: 3 }],
    ["chat/completions", { messages: chat.messages, max_tokens: 7, max_completion_tokens: 30 }],
    ["completions", { prompt: "Where?" }],
    ["completions", { prompt: ["Where is it?", "Why?", "When?"], max_tokens: 5, n: 2 }],
    ["completions", { prompt: "\u{1F6A2}".repeat(200), max_tokens: 900 }],
  ])("of %s %j are never more than was kept back", async (path, body) => {
    const sent = Buffer.from(JSON.stringify({ model: chatModel, ...body }));
    const { atMost } = askedIn(bodyIn(sent), `/v1/${path}`, { usual: 4096 });
    const response = await fetch(`${gateway.url}/v1/${path}`, {
      method: "POST",
      headers: { authorization: "Bearer token-of-shop", "content-type": "application/json" },
      body: sent,
    });
    const { usage } = Object(await response.json());
    expect(usage.completion_tokens).toBeGreaterThan(0);
    expect(usage.completion_tokens).toBeLessThanOrEqual(atMost.output);
    expect(usage.prompt_tokens).toBeLessThanOrEqual(atMost.input);
  });

  it("an answer without content is passed on, and counted as one", async () => {
    const own = await startGateway({ upstream, credentials, accesses });
    const client = own.clientOf("shop");
    await client.chat.completions.create(chat);
    await platform.faults({ fault: "empty-content", route: "POST /inference/v1/chat/completions", count: 1 });
    const { choices } = await client.chat.completions.create(chat);
    expect(choices[0]?.message.content).toBe("");
    const labels = `namespace="shop",model="${chatModel}"`;
    expect(await own.metric("empty_answers_total")).toEqual([`mooring_gateway_empty_answers_total{${labels}} 1`]);
    await own.stop();
  });

  it("are counted by namespace and model, also of streams without usage", async () => {
    const own = await startGateway({ upstream, credentials, accesses });
    const client = own.clientOf("shop");
    const { usage } = await client.chat.completions.create(chat);
    const stream = await client.chat.completions.create({ ...chat, stream: true });
    for await (const _ of stream);
    const { prompt_tokens: input = 0, completion_tokens: output = 0 } = usage ?? {};
    const labels = `namespace="shop",model="${chatModel}"`;
    expect(await own.metric("tokens_total")).toEqual([
      `mooring_gateway_tokens_total{${labels},direction="input"} ${2 * input}`,
      `mooring_gateway_tokens_total{${labels},direction="output"} ${2 * output}`,
    ]);
    const [line = ""] = await own.metric("cost_eur_total");
    expect(Number(line.split(" ").at(-1))).toBeCloseTo((2 * (input * 0.1 + output * 0.3)) / 1e6, 12);
    expect(await own.metric("requests_total")).toEqual([`mooring_gateway_requests_total{${labels},code="200"} 2`]);
    await own.stop();
  });

  it("end at the budget of the day, which clients do not try to get over", async () => {
    const poor = gateway.clientOf("poor", { maxRetries: 2 });
    let spent = 0;
    let refused: unknown;
    for (let nth = 0; nth < 100 && refused === undefined; nth += 1) {
      try {
        const { usage } = await poor.chat.completions.create(chat);
        spent += ((usage?.prompt_tokens ?? 0) * 0.1 + (usage?.completion_tokens ?? 0) * 0.3) / 1e6;
      } catch (error) {
        refused = error;
      }
    }
    expect(refused).toBeInstanceOf(OpenAI.RateLimitError);
    expect(refused).toMatchObject({
      code: "insufficient_quota",
      message: expect.stringContaining("0.00005 EUR per day"),
    });
    expect(spent).toBeGreaterThan(0);
    expect(spent).toBeLessThanOrEqual(0.00005);
    const picture = poor.images.generate({ model: imageModel, prompt: "a coin" });
    await expect(picture).rejects.toThrow("price of black-forest-labs/FLUX.1-schnell is not known");
  });
});
