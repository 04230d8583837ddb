import type { IncomingMessage, ServerResponse } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { chatModel, gatewayForFile, startGateway } from "./running.ts";
import { scriptedPlatform } from "./scripted-platform.ts";

const ok = (_: IncomingMessage, response: ServerResponse) =>
  void response.writeHead(200, { "content-type": "application/json", "set-cookie": "a=b" }).end('{"ok":true}');
const platform = await scriptedPlatform(ok);
const { seen, upstream } = platform;
const options = {
  upstream,
  credentials: async () => ({ authorization: "Bearer platform-secret" }),
  accesses: [{ namespace: "shop", name: "chat", models: [chatModel] }],
};
const gateway = await gatewayForFile(options);
const { port, hostname } = new URL(gateway.url);

beforeEach(() => {
  platform.answer = ok;
  seen.length = 0;
});

const authorization = "Bearer token-of-shop";
const json = JSON.stringify({ model: chatModel, messages: [] });
const post = (body: string, headers: Record<string, string> = {}, path = "/v1/chat/completions") =>
  fetch(gateway.url + path, {
    method: "POST",
    body,
    headers: { authorization, "content-type": "application/json", ...headers },
  });

/** Sends bytes and returns everything that comes back until the connection ends. */
async function talk(...parts: (string | Buffer)[]): Promise<string> {
  const socket = connect(Number(port), hostname);
  socket.on("error", () => {});
  for (const part of parts) socket.write(part);
  return text(socket).catch(() => "reset");
}

const head = (more: string, path = "/v1/chat/completions") =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\nContent-Type: application/json\r\nConnection: close\r\n${more}\r\n\r\n`;

describe("only what is known is passed on", () => {
  it.each([
    "/",
    "/v1/../auth/v1/tokens",
    "/v1/%2e%2e/auth/v1/tokens",
    "/v1/chat/completions/../../../auth/v1/tokens",
    "/v1/chat/completions/",
    "/v1//chat/completions",
    "//v1/chat/completions",
    "/v1/chat/completions;x",
    "/V1/chat/completions",
    "/v1/files",
    "http://elsewhere/v1/chat/completions",
  ])("not the path %s", async (path) => {
    expect(await talk(head(`Content-Length: ${json.length}`, path) + json)).toMatch(/^HTTP\/1\.1 404 /);
    expect(seen).toEqual([]);
  });

  it("not a query, and no header but the gateway's own", async () => {
    const sent = { "x-forwarded-for": "1.2.3.4", cookie: "a=b", "x-contract-number": "1", "openai-organization": "x" };
    const response = await post(json, sent, "/v1/chat/completions?beta=true&path=../../");
    expect(response.status).toBe(200);
    expect([...response.headers.keys()]).not.toContain("set-cookie");
    expect(seen[0]).toMatchObject({ method: "POST", url: "/inference/v1/chat/completions" });
    expect(Object.keys(seen[0]?.headers ?? {}).sort()).toEqual(
      "accept accept-encoding authorization connection content-length content-type host user-agent".split(" "),
    );
    expect(seen[0]?.headers.authorization).toBe("Bearer platform-secret");
  });

  it("not a second model that another parser would read", async () => {
    const twice = `{"model": "openai/gpt-oss-120b", "messages": [], "model": "${chatModel}"}`;
    expect((await post(twice)).status).toBe(200);
    expect(seen[0]?.body.match(/model/g)).toHaveLength(1);
    const hidden = `{"model": "${chatModel}", "messages": [], "model": "openai/gpt-oss-120b"}`;
    expect((await post(hidden)).status).toBe(403);
  });

  it.each([
    ["two lengths", "Content-Length: 5\r\nContent-Length: 6"],
    ["a length and chunks", `Content-Length: ${json.length}\r\nTransfer-Encoding: chunked`],
    ["a bare line feed", "X: a\nContent-Length: 5"],
    ["an unknown coding", "Transfer-Encoding: chunked, identity"],
  ])("not a request with %s", async (_, lines) => {
    expect(await talk(head(lines) + json)).toMatch(/^(HTTP\/1\.1 4\d\d |reset)/);
    expect(seen.map(({ body }) => body)).not.toContain(json);
  });
});

describe("bodies and headers have bounds", () => {
  it("a body that says it is too large is refused before it is read", async () => {
    expect(await talk(head("Content-Length: 99999999999"))).toMatch(/^HTTP\/1\.1 413 /);
  });

  it("one that never ends is refused when it is too large", async () => {
    const socket = connect(Number(port), hostname);
    socket.on("error", () => {});
    socket.write(head("Transfer-Encoding: chunked"));
    const chunk = `10000\r\n${"x".repeat(65_536)}\r\n`;
    const flood = () => {
      while (socket.writable && socket.write(chunk));
    };
    socket.on("drain", flood);
    flood();
    expect(await text(socket).catch(() => "reset")).toMatch(/^(HTTP\/1\.1 413 |reset)/);
    expect(seen).toEqual([]);
  });

  it.each([
    ["no JSON", "{", 422],
    ["no object", "[]", 422],
    ["no model", "{}", 422],
    ["a model that is none", '{"model": {"a": 1}}', 422],
  ])("%s is refused", async (_, body, status) => {
    expect((await post(body)).status).toBe(status);
  });

  it.each([
    ["deep arrays", (most: number) => "[".repeat(most) + "]".repeat(most)],
    ["deep objects", (most: number) => `${'{"a":'.repeat(most)}1${"}".repeat(most)}`],
    ["brackets that are not closed", (most: number) => "[".repeat(most)],
    [
      "deep arrays after a text with brackets and quotes",
      (most: number) => `["[\\"", ${"[".repeat(most)}${"]".repeat(most)}]`,
    ],
    ["empty arrays without number", (most: number) => `[${"[],".repeat(most)}[]]`],
  ])("%s are refused, and nothing breaks", async (_, deep) => {
    expect((await post(`{"model": "${chatModel}", "messages": ${deep(500_000)}}`)).status).toBe(422);
    expect(gateway.lines.join("")).not.toContain("a call failed");
    expect(seen).toEqual([]);
  });

  it("fields without number are refused, and nothing breaks", async () => {
    const many = Object.fromEntries(Array.from({ length: 5000 }, (_, nth) => [`max_a${nth}_tokens`, 1]));
    expect((await post(JSON.stringify({ model: chatModel, ...many }))).status).toBe(422);
    expect(seen).toEqual([]);
  });

  it("brackets in texts, and what tools and schemas need, are not refused", async () => {
    const schema = (depth: number): object => (depth === 0 ? {} : { properties: { "a[{": schema(depth - 1) } });
    const content = `\\"${"[".repeat(5000)}`;
    const response_format = { type: "json_schema", json_schema: { name: "x", schema: schema(40) } };
    const body = { model: chatModel, messages: [{ role: "user", content }], response_format };
    expect((await post(JSON.stringify(body))).status).toBe(200);
    expect(JSON.parse(seen[0]?.body ?? "")).toMatchObject(body);
  });

  it("another type or coding is refused", async () => {
    expect((await post(json, { "content-type": "text/plain" })).status).toBe(415);
    expect((await post(json, { "content-encoding": "gzip" })).status).toBe(415);
  });

  it("headers without end are refused", async () => {
    expect(await talk(head(`X: ${"x".repeat(40_000)}`))).toMatch(/^HTTP\/1\.1 431 /);
  });
});

describe("streams", () => {
  const events = { "content-type": "text/event-stream" };
  const chunk = `data: ${JSON.stringify({ choices: [{ delta: { content: "x".repeat(1000) } }] })}\n\n`;

  it("of a client that leaves end on the platform too", async () => {
    const ended = Promise.withResolvers<void>();
    platform.answer = (_, response) => {
      response.writeHead(200, events).write(chunk);
      response.once("close", () => ended.resolve());
    };
    const leaving = new AbortController();
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      body: JSON.stringify({ model: chatModel, stream: true, messages: [] }),
      headers: { authorization, "content-type": "application/json" },
      signal: leaving.signal,
    });
    await response.body?.getReader().read();
    leaving.abort();
    await ended.promise;
    await vi.waitUntil(() => gateway.server.open() === 0);
  });

  it("of a client that reads nothing do not fill the gateway", async () => {
    let sent = 0;
    platform.answer = (_, response) => {
      response.writeHead(200, events);
      const flood = () => {
        while (sent < 200_000_000 && !response.destroyed) {
          sent += chunk.length;
          if (!response.write(chunk)) return void response.once("drain", flood);
        }
      };
      flood();
    };
    const socket = connect(Number(port), hostname);
    socket.on("error", () => {});
    socket.pause();
    const body = JSON.stringify({ model: chatModel, stream: true, messages: [] });
    socket.write(head(`Content-Length: ${body.length}`) + body);
    let before = -1;
    await vi.waitUntil(
      () => {
        const stands = sent > 0 && sent === before;
        before = sent;
        return stands;
      },
      { interval: 300, timeout: 30_000 },
    );
    // Sockets have buffers; the answer has 200 MB.
    expect(sent).toBeLessThan(50_000_000);
    socket.destroy();
    await vi.waitUntil(() => gateway.server.open() === 0);
  });

  it("may end when the gateway is stopped; new calls are refused", async () => {
    const own = await startGateway(options);
    const go = Promise.withResolvers<void>();
    platform.answer = async (_, response) => {
      response.writeHead(200, events).write(chunk);
      await go.promise;
      response.end("data: [DONE]\n\n");
    };
    const response = await fetch(`${own.url}/v1/chat/completions`, {
      method: "POST",
      body: JSON.stringify({ model: chatModel, stream: true, messages: [] }),
      headers: { authorization, "content-type": "application/json" },
    });
    const drained = own.server.drain(new AbortController().signal);
    await expect(fetch(`${own.url}/v1/models`)).rejects.toThrow();
    go.resolve();
    expect(await response.text()).toMatch(/\[DONE\]\n\n$/);
    await drained;
  });

  it("that do not end are broken off when the time is over", async () => {
    const own = await startGateway(options);
    platform.answer = (_, response) => void response.writeHead(200, events).write(chunk);
    const response = await fetch(`${own.url}/v1/chat/completions`, {
      method: "POST",
      body: JSON.stringify({ model: chatModel, stream: true, messages: [] }),
      headers: { authorization, "content-type": "application/json" },
    });
    const overdue = new AbortController();
    const drained = own.server.drain(overdue.signal);
    overdue.abort();
    await drained;
    await expect(response.text()).rejects.toThrow();
  });
});

it("ten thousand namespaces and models do not make as many metrics", async () => {
  const { createGatewayMetrics } = await import("../../src/gateway/metrics.ts");
  const metrics = createGatewayMetrics(100);
  for (let nth = 0; nth < 10_000; nth += 1) metrics.served(`n${nth}`, chatModel, 200);
  let lines = "";
  for await (const piece of metrics.scrape()) lines += piece;
  expect(lines.match(/^mooring_gateway_requests_total\{/gm)).toHaveLength(101);
});

describe("an answer that breaks off", () => {
  const served = async (code: string) =>
    (await gateway.metric("requests_total")).some((line) => line.includes(`code="${code}"`));

  it("is the platform's fault if the platform does it, and is logged", async () => {
    platform.answer = (_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" }).write("data: {}\n\n");
      setTimeout(() => response.destroy(), 20);
    };
    const response = await post(JSON.stringify({ model: chatModel, messages: [], stream: true }));
    await expect(response.text()).rejects.toThrow();
    await vi.waitFor(async () => expect(await served("502")).toBe(true));
    expect(gateway.lines.join("")).toContain("an answer of the platform broke off");
  });

  it("is the client's if it leaves", async () => {
    platform.answer = (_, response) =>
      void response.writeHead(200, { "content-type": "text/event-stream" }).write("data: {}\n\n");
    const leaving = new AbortController();
    const body = JSON.stringify({ model: chatModel, messages: [], stream: true });
    const headers = { authorization, "content-type": "application/json" };
    await fetch(`${gateway.url}/v1/chat/completions`, { method: "POST", body, headers, signal: leaving.signal });
    leaving.abort();
    await vi.waitFor(async () => expect(await served("499")).toBe(true));
  });
});

it.each(["no JSON", '{"data": 5}'])("a list of models that reads %s is an error of the platform", async (text) => {
  platform.answer = (_, response) => void response.writeHead(200, { "content-type": "application/json" }).end(text);
  const own = await startGateway(options);
  const response = await fetch(`${own.url}/v1/models`, { headers: { authorization } });
  expect([response.status, await response.text()]).toEqual([
    502,
    expect.stringContaining("the platform's list of models cannot be read"),
  ]);
  await own.stop();
});
