import { gzipSync } from "node:zlib";
import { beforeEach, describe, expect, it } from "vitest";
import { askedIn, bodyIn } from "../../../src/gateway/asked.ts";
import { chatModel, gatewayForFile } from "../running.ts";
import { type Answer, scriptedPlatform } from "../scripted-platform.ts";

const MIB = 1_048_576;
const platform = await scriptedPlatform((_, response) => void response.end());
const models = [chatModel, "BAAI/bge-m3", "black-forest-labs/FLUX.1-schnell"];
const gateway = await gatewayForFile({
  upstream: platform.upstream,
  credentials: async () => ({ authorization: "Bearer platform-secret" }),
  accesses: [{ namespace: "shop", name: "chat", models }],
});
beforeEach(() => {
  platform.answer = (_, response) => void response.end();
});

const json = { "content-type": "application/json" };
const events = { "content-type": "text/event-stream" };

/** Answers with a beginning and then the same piece again and again, up to a size that no answer may have. */
const endless =
  (headers: Record<string, string>, first: string, piece: string, status = 200): Answer =>
  (_, response) => {
    const chunk = piece.repeat(Math.ceil(65_536 / piece.length));
    let sent = 0;
    const flood = () => {
      while (sent < 3 * MIB && !response.destroyed) {
        sent += chunk.length;
        if (!response.write(chunk)) return void response.once("drain", flood);
      }
      response.end();
    };
    response.writeHead(status, headers).write(first);
    flood();
  };

async function tokens(): Promise<number[]> {
  const lines = await gateway.metric("tokens_total");
  const sum = (direction: string) =>
    lines
      .filter((line) => line.includes(`"${direction}"`))
      .reduce((all, line) => all + Number(line.split(" ").at(-1)), 0);
  return [sum("input"), sum("output")];
}

/** Makes a call, and returns what came back and what was booked for it. */
async function call(fields: object, path = "chat/completions") {
  const body = JSON.stringify({ model: chatModel, ...fields });
  const before = await tokens();
  const headers = { authorization: "Bearer token-of-shop", ...json };
  const response = await fetch(`${gateway.url}/v1/${path}`, { method: "POST", headers, body });
  const received: Uint8Array[] = [];
  let isCut = false;
  try {
    for await (const chunk of response.body ?? []) received.push(chunk);
  } catch {
    isCut = true;
  }
  await expect.poll(() => gateway.server.open()).toBe(0);
  const [input = 0, output = 0] = (await tokens()).map((each, nth) => each - (before[nth] ?? 0));
  const text = Buffer.concat(received).toString("latin1");
  return { status: response.status, text, isCut, input, output, sent: body.length };
}

const few = { messages: [{ role: "user", content: "x" }], max_tokens: 20 };

describe("an answer without end", () => {
  const usage = '"usage":{"prompt_tokens":1,"completion_tokens":1}';
  it.each<[string, Answer]>([
    ["a text", endless(json, `{${usage},"choices":[{"message":{"content":"`, "x")],
    ["choices", endless(json, `{${usage},"choices":[`, '{"message":{"content":"x"}},')],
    ["an event", endless(events, 'data: {"choices":[{"delta":{"content":"', "x")],
    ["comments", endless(events, "", ": x\n\n")],
    ["comments after its usage", endless(events, `data: {"choices":[],${usage}}\n\n`, ": x\n\n")],
    ["empty lines", endless(events, "", "\n")],
    ["events", endless(events, "", 'data: {"choices":[]}\n\n')],
  ])("is cut off, and more than its reservation is booked: %s", async (_, answer) => {
    platform.answer = answer;
    const { text, isCut, input, output, sent } = await call({ ...few, stream: true });
    expect(isCut).toBe(true);
    expect(text.length).toBeLessThan(MIB);
    expect(input).toBe(sent);
    expect(output).toBeGreaterThan(20);
  });

  it("is cut off for a response as well", async () => {
    platform.answer = endless(events, "", ": x\n\n");
    const { isCut, output } = await call({ input: "x", stream: true, max_output_tokens: 20 }, "responses");
    expect(isCut).toBe(true);
    expect(output).toBeGreaterThan(20);
  });

  it("is cut off if it has embeddings", async () => {
    platform.answer = endless(json, '{"data":[', "0,");
    const { isCut, input, sent } = await call({ model: "BAAI/bge-m3", input: ["a", "b"] }, "embeddings");
    expect(isCut).toBe(true);
    expect(input).toBe(sent);
  });

  it("is cut off if it is a refusal, which costs nothing", async () => {
    platform.answer = endless(json, '{"error":"', "x", 400);
    const { isCut, input, output, status } = await call(few);
    expect({ isCut, input, output, status }).toEqual({ isCut: true, input: 0, output: 0, status: 400 });
  });
});

describe("an answer passes as it is", () => {
  const passes = async (answer: string, fields: object, path?: string) => {
    platform.answer = (_, response) => void response.writeHead(200, json).end(answer);
    const { text, isCut } = await call(fields, path);
    expect(isCut).toBe(false);
    expect(text.length).toBe(answer.length);
  };
  const top = Array(20).fill({ token: "x".repeat(16), logprob: -12.345678825378418, bytes: Array(16).fill(120) });
  const probable = {
    token: "x".repeat(16),
    logprob: -0.345678825378418,
    bytes: Array(16).fill(120),
    top_logprobs: top,
  };

  it("with the probabilities of all its tokens", async () => {
    const choice = { message: { content: "x" }, logprobs: { content: Array(2000).fill(probable) } };
    const fields = { ...few, max_tokens: 2000, logprobs: true, top_logprobs: 20 };
    await passes(JSON.stringify({ choices: [choice] }), fields);
  });

  it("with the prompt, and the probabilities of its tokens", async () => {
    const prompt = "x".repeat(100_000);
    await passes(
      JSON.stringify({ choices: [{ text: prompt.repeat(8) }] }),
      { prompt, max_tokens: 1, echo: true, n: 8 },
      "completions",
    );
    const prompt_logprobs = Array(500).fill(probable);
    await passes(JSON.stringify({ prompt_logprobs }), { ...few, prompt_logprobs: 20, user: "x".repeat(500) });
  });

  it("up to its maximum length, if it is a refusal that quotes the request", async () => {
    platform.answer = (_, response, body) =>
      void response.writeHead(422, json).end(JSON.stringify({ detail: [{ msg: "no", input: body }] }));
    const answered = await call({ ...few, messages: [{ role: "user", content: '"x" '.repeat(200_000) }] });
    expect([answered.status, answered.isCut, answered.text.length]).toEqual([422, false, 65_536]);
  });

  it("with many embeddings", async () => {
    const data = Array(100).fill({ embedding: Array(4096).fill(-0.012_345_678_901_234_567) });
    const input = Array(100).fill("x");
    await passes(JSON.stringify({ data }), { model: "BAAI/bge-m3", input }, "embeddings");
  });

  it("with several images", async () => {
    const data = Array(2).fill({ b64_json: "x".repeat(2 * MIB) });
    await passes(
      JSON.stringify({ data }),
      { model: "black-forest-labs/FLUX.1-schnell", prompt: "x", n: 2 },
      "images/generations",
    );
  });
});

describe("an answer with a coding that was not asked for", () => {
  const text = JSON.stringify({ choices: [], usage: { prompt_tokens: 1, completion_tokens: 1 } });
  it.each<[string, Record<string, string>, number, boolean]>([
    ["gzip", { "content-encoding": "gzip" }, 200, true],
    ["deflate", { "content-encoding": "deflate" }, 200, true],
    ["br", { "content-encoding": "br" }, 200, true],
    ["two codings", { "content-encoding": "identity, GZIP" }, 200, true],
    ["a coding of the transfer", { "transfer-encoding": "gzip, chunked" }, 200, true],
    ["a refusal", { "content-encoding": "gzip" }, 400, false],
  ])("is an error, and is booked if it is no refusal: %s", async (_, headers, status, isBooked) => {
    platform.answer = (__, response) => void response.writeHead(status, { ...json, ...headers }).end(gzipSync(text));
    const answered = await call(few);
    expect(answered.status).toBe(502);
    expect(JSON.parse(answered.text).error).toMatchObject({ code: "upstream_error", type: "server_error" });
    expect([answered.input, answered.output]).toEqual(isBooked ? [answered.sent, 20] : [0, 0]);
  });

  it("is an error at once, even if it never ends", async () => {
    platform.answer = (_, response) =>
      void response.writeHead(200, { ...json, "content-encoding": "gzip" }).write(gzipSync(text));
    expect((await call(few)).status).toBe(502);
  });

  it("passes if the coding is none", async () => {
    platform.answer = (_, response) =>
      void response.writeHead(200, { ...json, "content-encoding": "identity" }).end(text);
    const { text: passed, input, output } = await call(few);
    expect([passed, input, output]).toEqual([text, 1, 1]);
  });
});

describe("the prompt that an answer reports", () => {
  const reports = (count: number, isStream = false) => {
    const usage = { prompt_tokens: count, completion_tokens: 3 };
    const text = JSON.stringify({ choices: [], usage });
    platform.answer = (_, response) =>
      void response.writeHead(200, isStream ? events : json).end(isStream ? `data: ${text}\n\n` : text);
  };
  const image = { type: "image_url", image_url: { url: "https://x/y.png" } };
  const seen = [{ role: "user", content: [{ type: "text", text: "x" }, image] }];
  const parts = [{ role: "user", content: [{ type: "text", text: "x" }] }];

  it.each<[string, number, object, string?]>([
    ["a short text", 9_999_999, few],
    ["a short text", 5000, few],
    ["a short text in parts", 5000, { ...few, messages: parts }],
    ["a text longer than the context", 140_000, { ...few, messages: [{ role: "user", content: "x".repeat(150_000) }] }],
    ["embeddings", 5000, { model: "BAAI/bge-m3", input: "x" }, "embeddings"],
  ])("is not booked if it cannot be, but the reservation: %s, %i", async (_, count, fields, path) => {
    for (const stream of path === undefined ? [false, true] : [false]) {
      reports(count, stream);
      const { input, output, sent } = await call(path === undefined ? { ...fields, stream } : fields, path);
      expect([input, output]).toEqual([sent, path === undefined ? 20 : 0]);
    }
  });

  it("is not booked if it is larger than the context, but the reservation, which is more with an image", async () => {
    reports(140_000);
    const { input, sent } = await call({ ...few, messages: seen });
    expect(input).toBe(sent + 16_384);
  });

  it.each<[string, number, object, string?]>([
    ["a short text in a long template", 1000, few],
    ["a text as long as the context", 131_000, { ...few, messages: [{ role: "user", content: "x".repeat(150_000) }] }],
    ["an image", 100_000, { ...few, messages: seen }],
    [
      "an image of a response",
      100_000,
      { input: [{ role: "user", content: [{ type: "input_image", image_url: "https://x/y.png" }] }] },
      "responses",
    ],
    ["several prompts", 200_000, { prompt: ["x".repeat(100_000), "x".repeat(100_000)], max_tokens: 5 }, "completions"],
  ])("is booked if it may be so: %s, %i", async (_, count, fields, path) => {
    reports(count);
    const { input, output } = await call(fields, path);
    expect([input, output]).toEqual([count, 3]);
  });
});

describe("the answer that a usage reports", () => {
  const booked = async (count: number, fields: object) => {
    const usage = { prompt_tokens: 1, completion_tokens: count };
    platform.answer = (_, response) => void response.writeHead(200, json).end(JSON.stringify({ choices: [], usage }));
    return (await call({ ...few, ...fields })).output;
  };

  it("is not booked if it is larger than the context and the reservation, but the reservation", async () => {
    expect(await booked(9_999_999, {})).toBe(20);
    expect(await booked(300_000, { n: 2 })).toBe(40);
  });

  it("is booked if it is larger than the reservation, but may be so", async () => {
    expect(await booked(900, {})).toBe(900);
    expect(await booked(250_000, { n: 2 })).toBe(250_000);
    expect(await booked(300_000, { max_tokens: 200_000 })).toBe(300_000);
  });
});

it("the bound of an answer grows with what was asked for", () => {
  const bytesOf = (fields: object, path = "/v1/chat/completions") =>
    askedIn(bodyIn(Buffer.from(JSON.stringify({ model: chatModel, ...fields }))), path, { usual: 4096 }).bound.bytes;
  expect(bytesOf({ max_tokens: 2000 })).toBeGreaterThan(bytesOf({ max_tokens: 1000 }));
  expect(bytesOf({ max_tokens: 1000, n: 2 })).toBe(bytesOf({ max_tokens: 2000, n: 1 }));
  expect(bytesOf({ input: ["a", "b"] }, "/v1/embeddings")).toBeGreaterThan(bytesOf({ input: "a" }, "/v1/embeddings"));
  expect(bytesOf({ n: 2 }, "/v1/images/generations")).toBeGreaterThan(bytesOf({}, "/v1/images/generations"));
});
