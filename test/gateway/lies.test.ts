import { beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { createMemoryLedger, type Ledger } from "../../src/gateway/access/ledger.ts";
import { chatModel, startGateway } from "./running.ts";
import { type Answer, scriptedPlatform } from "./scripted-platform.ts";

/** Produces as many tokens as it may, without a maximum of its own. */
const produces: Answer = (_, response, body) => {
  const { max_tokens, max_completion_tokens } = JSON.parse(body);
  const usage = { prompt_tokens: 10, completion_tokens: max_completion_tokens ?? max_tokens ?? 20_000 };
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ choices: [], usage }));
};
const platform = await scriptedPlatform(produces);
beforeEach(() => {
  platform.answer = produces;
  platform.seen.length = 0;
});

/** The price of 10,000 tokens. */
const BUDGET = 0.003;
const poor = { namespace: "poor", name: "chat", models: [chatModel], eurPerDay: BUDGET };
const rich = { namespace: "rich", name: "chat", models: [chatModel], eurPerDay: 1 };
const bounded = { ...rich, namespace: "bounded", tokensPerCall: 300 };
const free = { namespace: "free", name: "chat", models: [chatModel] };
const open = async (ledger: Ledger = createMemoryLedger()) => {
  const gateway = await startGateway({
    upstream: platform.upstream,
    credentials: async () => ({ authorization: "Bearer platform-secret" }),
    accesses: [poor, rich, bounded, free],
    ledger,
  });
  onTestFinished(() => gateway.stop());
  return gateway;
};
type Gateway = Awaited<ReturnType<typeof open>>;

interface Call {
  namespace: string;
  path?: string;
  body?: object;
  signal?: AbortSignal;
}
const ask = ({ url }: Gateway, { namespace, path = "chat/completions", body = {}, signal }: Call) =>
  fetch(`${url}/v1/${path}`, {
    method: "POST",
    headers: { authorization: `Bearer token-of-${namespace}`, "content-type": "application/json" },
    body: JSON.stringify({ model: chatModel, messages: [], ...body }),
    ...(signal && { signal }),
  });
const statusOf = async (gateway: Gateway, call: Call): Promise<number> => {
  const response = await ask(gateway, call);
  await response.text();
  return response.status;
};
const counted = async (gateway: Gateway): Promise<number> => {
  const line = (await gateway.metric("tokens_total")).find((each) => each.includes('direction="output"'));
  return Number(line?.split(" ").at(-1) ?? 0);
};

describe("the reservation of a call", () => {
  it.each([
    ["in messages", "chat/completions", 8, { type: "image_url", image_url: { url: "https://x/a.png" } }],
    ["in the input of a response", "responses", 8, { type: "input_image", image_url: "https://x/a.png" }],
  ])("is more for a link to an image than its bytes: %s", async (_, path, count, image) => {
    const gateway = await open();
    const body = (images: number) => {
      const messages = [{ role: "user", content: Array(images).fill(image) }];
      return path === "responses" ? { input: messages, max_output_tokens: 1 } : { messages, max_tokens: 1 };
    };
    expect(await statusOf(gateway, { namespace: "poor", path, body: body(count) })).toBe(429);
    expect(platform.seen).toEqual([]);
    expect(await statusOf(gateway, { namespace: "poor", path, body: body(1) })).toBe(200);
  });

  it.each([
    ["the larger of two maximums", "chat/completions", { max_completion_tokens: 5, max_tokens: 20_000 }],
    ["whichever of them it is", "chat/completions", { max_completion_tokens: 20_000, max_tokens: 5 }],
    ["one by a name of other platforms", "chat/completions", { max_tokens: 5, max_new_tokens: 20_000 }],
    ["times n", "chat/completions", { max_tokens: 1000, n: 20 }],
    ["times best_of", "completions", { prompt: "a", max_tokens: 1000, best_of: 20 }],
    ["times both", "completions", { prompt: "a", max_tokens: 100, n: 10, best_of: 20 }],
    ["times the prompts", "completions", { prompt: Array(20).fill("a"), max_tokens: 1000 }],
    ["times the prompts as tokens", "completions", { prompt: Array(20).fill([1, 2]), max_tokens: 1000 }],
    ["a maximum that this path does not know", "completions", { prompt: "a", max_completion_tokens: 20_000 }],
  ])("is %s", async (_, path, body) => {
    const gateway = await open();
    expect(await statusOf(gateway, { namespace: "poor", path, body })).toBe(429);
    expect(platform.seen).toEqual([]);
    // Nothing of the budget was used.
    expect(await statusOf(gateway, { namespace: "poor", body: { max_tokens: 9000 } })).toBe(200);
  });

  it.each([
    { max_tokens: -1 },
    { max_tokens: 0 },
    { max_tokens: "20000" },
    { max_completion_tokens: 1.5 },
    { n: -1 },
    { n: 0 },
    { n: "20" },
    { best_of: 0.5 },
    // It may make a long prompt out of few bytes.
    { chat_template: "{% for i in range(99999) %}a {% endfor %}" },
  ])("is not reckoned from %j", async (body) => {
    const gateway = await open();
    expect(await statusOf(gateway, { namespace: "poor", body })).toBe(422);
    expect(platform.seen).toEqual([]);
  });

  it.each([
    ["max_tokens", "chat/completions", { max_tokens: 1e15 }],
    ["max_tokens", "chat/completions", { max_tokens: 1e300 }],
    ["max_tokens", "chat/completions", { max_tokens: 10_000_001 }],
    ["max_completion_tokens", "chat/completions", { max_completion_tokens: 1e15 }],
    ["max_new_tokens", "chat/completions", { max_tokens: 5, max_new_tokens: 1e15 }],
    ["max_output_tokens", "responses", { input: "a", max_output_tokens: 1e15 }],
    ["n", "chat/completions", { max_tokens: 10_000_000, n: 2 }],
    ["n, best_of", "completions", { prompt: "a", n: 1024, best_of: 1024 }],
    ["best_of, prompt", "completions", { prompt: ["a", "b"], max_tokens: 5_000_000, best_of: 2 }],
    ["prompt", "completions", { prompt: Array(10_000).fill("a") }],
  ])("is at most 10 million tokens, also without a budget: %s", async (field, path, body) => {
    const gateway = await open();
    const response = await ask(gateway, { namespace: "free", path, body });
    expect(response.status).toBe(422);
    const { error } = Object(await response.json());
    expect(error.message).toMatch(new RegExp(`^${field}: .*10000000`));
    expect(platform.seen).toEqual([]);
    expect(await counted(gateway)).toBe(0);
  });

  it("may be 10 million tokens", async () => {
    const gateway = await open();
    expect(await statusOf(gateway, { namespace: "free", body: { max_tokens: 5_000_000, n: 2 } })).toBe(200);
  });

  it("is at least a token for each byte of the prompt", async () => {
    const gateway = await open();
    // At 0.1 EUR per million, 60,000 tokens of input cost twice the budget.
    const messages = [{ role: "user", content: "x".repeat(60_000) }];
    expect(await statusOf(gateway, { namespace: "poor", body: { max_tokens: 1, messages } })).toBe(429);
  });
});

describe("a call that names no maximum", () => {
  const sent = () => JSON.parse(platform.seen.at(-1)?.body ?? "{}");

  it("gets one, of the namespace or of the model, and is kept to it", async () => {
    const gateway = await open();
    expect(await statusOf(gateway, { namespace: "rich" })).toBe(200);
    expect(sent()).toMatchObject({ max_tokens: 4096 });
    expect(await statusOf(gateway, { namespace: "rich", body: { max_tokens: null } })).toBe(200);
    expect(sent()).toMatchObject({ max_tokens: 4096 });
    expect(await statusOf(gateway, { namespace: "bounded" })).toBe(200);
    expect(sent()).toMatchObject({ max_tokens: 300 });
    const completion = { namespace: "bounded", path: "completions", body: { prompt: "a", max_completion_tokens: 1 } };
    expect(await statusOf(gateway, completion)).toBe(200);
    expect(sent()).toMatchObject({ max_tokens: 300 });
  });

  it("that names one keeps it; more than the namespace may have is refused", async () => {
    const gateway = await open();
    expect(await statusOf(gateway, { namespace: "bounded", body: { max_completion_tokens: 20 } })).toBe(200);
    expect(sent()).not.toHaveProperty("max_tokens");
    expect(await statusOf(gateway, { namespace: "bounded", body: { max_tokens: 301 } })).toBe(422);
    expect(await statusOf(gateway, { namespace: "rich", body: { max_tokens: 5000 } })).toBe(200);
  });

  it("does not exceed the budget, whatever the platform would produce", async () => {
    const gateway = await open();
    let eur = 0;
    for (let nth = 0; nth < 20; nth += 1) {
      const response = await ask(gateway, { namespace: "poor" });
      const { usage } = Object(await response.json());
      eur += ((usage?.prompt_tokens ?? 0) * 0.1 + (usage?.completion_tokens ?? 0) * 0.3) / 1e6;
    }
    expect(eur).toBeGreaterThan(0);
    expect(eur).toBeLessThanOrEqual(BUDGET);
  });
});

describe("a call that the client leaves", () => {
  const event = (more: object = {}) =>
    `data: ${JSON.stringify({ choices: [{ delta: { content: "x" } }], ...more })}\n\n`;
  const events = { "content-type": "text/event-stream" };

  /** Disconnects after this many events. */
  async function leaveAfter(gateway: Gateway, body: object, text: string): Promise<void> {
    const leaving = new AbortController();
    platform.answer = (_, response) => void response.writeHead(200, events).write(text);
    const response = await ask(gateway, { namespace: "rich", body, signal: leaving.signal });
    let read = 0;
    for await (const chunk of response.body ?? []) {
      read += chunk.length;
      if (read >= text.length) break;
    }
    leaving.abort();
    await vi.waitUntil(() => gateway.server.open() === 0);
  }

  it("before anything comes costs what was kept back for it", async () => {
    const gateway = await open();
    platform.answer = () => {};
    const leaving = new AbortController();
    const left = ask(gateway, { namespace: "rich", body: { max_tokens: 800 }, signal: leaving.signal });
    await vi.waitUntil(() => platform.seen.length === 1);
    leaving.abort();
    await expect(left).rejects.toThrow();
    await vi.waitUntil(() => gateway.server.open() === 0);
    expect(await counted(gateway)).toBe(800);
  });

  it("before it was sent costs nothing", async () => {
    const gateway = await open();
    gateway.shares.pause(60_000);
    const leaving = new AbortController();
    const left = ask(gateway, { namespace: "rich", body: { max_tokens: 800 }, signal: leaving.signal });
    await vi.waitUntil(() => gateway.shares.waiting === 1);
    leaving.abort();
    await expect(left).rejects.toThrow();
    await vi.waitUntil(() => gateway.server.open() === 0);
    expect(await counted(gateway)).toBe(0);
  });

  it("in the middle of a stream costs the same, also when the platform has told of less by then", async () => {
    const gateway = await open();
    const usage = { prompt_tokens: 10, completion_tokens: 0 };
    await leaveAfter(gateway, { stream: true, max_tokens: 800 }, event().repeat(5) + event({ usage }));
    expect(await counted(gateway)).toBe(800);
  });

  it("costs what was seen where that is more", async () => {
    const gateway = await open();
    await leaveAfter(gateway, { stream: true, max_tokens: 5 }, event().repeat(50));
    expect(await counted(gateway)).toBeGreaterThanOrEqual(50);
  });

  it("after the platform told what it has used costs that", async () => {
    const gateway = await open();
    const usage = { prompt_tokens: 10, completion_tokens: 5 };
    const stream_options = { include_usage: true };
    const all = event().repeat(5) + event({ choices: [], usage });
    await leaveAfter(gateway, { stream: true, max_tokens: 800, stream_options }, all);
    expect(await counted(gateway)).toBe(5);
  });

  it("costs what was kept back if the platform went on after it told what it has used", async () => {
    const gateway = await open();
    const usage = { prompt_tokens: 10, completion_tokens: 1 };
    const stream_options = { include_usage: true };
    const all = event() + event({ choices: [], usage }) + event().repeat(5);
    await leaveAfter(gateway, { stream: true, max_tokens: 800, stream_options }, all);
    expect(await counted(gateway)).toBe(800);
  });

  it("is in the budget: who leaves every call has no more calls than others", async () => {
    const gateway = await open();
    platform.answer = () => {};
    for (let nth = 0; nth < 3; nth += 1) {
      const leaving = new AbortController();
      const left = ask(gateway, { namespace: "poor", body: { max_tokens: 3000 }, signal: leaving.signal });
      await vi.waitUntil(() => platform.seen.length === nth + 1);
      leaving.abort();
      await expect(left).rejects.toThrow();
      await vi.waitUntil(() => gateway.server.open() === 0);
    }
    platform.answer = produces;
    expect(await statusOf(gateway, { namespace: "poor", body: { max_tokens: 3000 } })).toBe(429);
  });
});

it("a call whose connection breaks before an answer, each time that it is sent, costs what was kept back", async () => {
  const gateway = await open();
  platform.answer = (request) => void request.socket.destroy();
  expect(await statusOf(gateway, { namespace: "rich", body: { max_tokens: 800 } })).toBe(502);
  expect([platform.seen.length, await counted(gateway)]).toEqual([4, 800]);
});

describe("replicas that share a budget", () => {
  it("lose nothing of it by a refused call with a huge maximum", async () => {
    const ledger = createMemoryLedger();
    const [first, second] = [await open(ledger), await open(ledger)];
    expect(await statusOf(first, { namespace: "poor", body: { max_tokens: 10_000_000 } })).toBe(429);
    expect(await statusOf(second, { namespace: "poor", body: { max_tokens: 9000 } })).toBe(200);
  });

  it("get back what a call did not use when it ends, also when its replica is killed after that", async () => {
    const ledger = createMemoryLedger();
    const [first, second] = [await open(ledger), await open(ledger)];
    platform.answer = (_, response) =>
      void response
        .writeHead(200, { "content-type": "application/json" })
        .end(JSON.stringify({ usage: { prompt_tokens: 10, completion_tokens: 10 } }));
    expect(await statusOf(first, { namespace: "poor", body: { max_tokens: 9000 } })).toBe(200);
    // The first one never answers again and gives nothing back.
    const again = () => statusOf(second, { namespace: "poor", body: { max_tokens: 9000 } });
    await expect.poll(again, { timeout: 10_000 }).toBe(200);
  });
});
