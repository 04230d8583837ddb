import { once } from "node:events";
import http from "node:http";
import https from "node:https";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { listen } from "../../src/gateway/server.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import { selfSigned } from "../../src/server/serving-certificate.ts";
import { chatModel, startGateway } from "./running.ts";
import { type Answer, scriptedPlatform } from "./scripted-platform.ts";

const MIB = 1_048_576;
const ok: Answer = (_, response) =>
  void response.writeHead(200, { "content-type": "application/json" }).end('{"ok":true}');
const platform = await scriptedPlatform(ok);
const access = (namespace: string) => ({ namespace, name: "chat", models: [chatModel] });

/** Time that a test can let pass. */
let skipped = 0;
const clock = { ...systemClock, monotonic: () => systemClock.monotonic() + skipped };
const open = async (options: { mostConnections?: number } = {}) => {
  const gateway = await startGateway({
    upstream: platform.upstream,
    credentials: async () => ({ authorization: "Bearer platform-secret" }),
    accesses: [access("shop"), access("greedy")],
    clock,
    ...options,
  });
  onTestFinished(() => gateway.stop());
  return gateway;
};
type Gateway = Awaited<ReturnType<typeof open>>;

const sockets: Socket[] = [];
beforeEach(() => {
  platform.answer = ok;
  platform.seen.length = 0;
  skipped = 0;
});
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

/** Another pod than the one that fetches: every address of 127.0.0.0/8 is this machine. */
const OTHER_POD = "127.0.0.2";
function dial({ url }: Pick<Gateway, "url">, localAddress = OTHER_POD): Socket {
  const { port, hostname } = new URL(url);
  const socket = connect({ port: Number(port), host: hostname, localAddress });
  socket.on("error", () => {});
  sockets.push(socket);
  return socket;
}
const head = (namespace: string, ...more: string[]) =>
  [
    "POST /v1/chat/completions HTTP/1.1",
    "Host: x",
    `Authorization: Bearer token-of-${namespace}`,
    "Content-Type: application/json",
    ...more,
    "\r\n",
  ].join("\r\n");

async function chat({ url }: Gateway, namespace: string, size = 0): Promise<number> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer token-of-${namespace}`, "content-type": "application/json" },
    body: JSON.stringify({ model: chatModel, messages: [{ role: "user", content: "x".repeat(size) }] }),
  });
  await response.text();
  return response.status;
}

describe("bodies", () => {
  it("of callers without access are refused before a byte of the body is read", async () => {
    const gateway = await open();
    const reported = text(
      dial(gateway)
        .setEncoding("utf8")
        .on("connect", function (this: Socket) {
          this.write(head("stranger", `Content-Length: ${8 * MIB}`));
        }),
    );
    expect(await reported).toMatch(/^HTTP\/1\.1 403 /);
    expect(gateway.bodies.held).toBe(0);
  });

  it("of who has no access are not asked for either", async () => {
    const gateway = await open();
    const stranger = dial(gateway);
    stranger.write(head("stranger", "Content-Length: 100", "Expect: 100-continue"));
    expect(await text(stranger)).toMatch(/^HTTP\/1\.1 403 /);
    const shop = dial(gateway);
    const body = JSON.stringify({ model: chatModel, messages: [] });
    shop.write(head("shop", `Content-Length: ${body.length}`, "Expect: 100-continue", "Connection: close"));
    expect(String(await once(shop, "data"))).toMatch(/^HTTP\/1\.1 100 /);
    shop.write(body);
    expect(await text(shop)).toMatch(/^HTTP\/1\.1 200 /);
  });

  it("of one namespace, eight of 8 MiB that never end, leave room for small and large ones of another", async () => {
    const gateway = await open();
    const size = 8 * MIB - 1;
    let refused = 0;
    for (let nth = 0; nth < 8; nth += 1) {
      const socket = dial(gateway);
      socket.write(head("greedy", `Content-Length: ${8 * MIB}`));
      socket.write(Buffer.alloc(size, "x"));
      socket.once("data", () => {
        refused += 1;
      });
    }
    await vi.waitUntil(() => gateway.bodies.held + refused * size >= 8 * size, { timeout: 30_000 });
    expect(await chat(gateway, "shop")).toBe(200);
    expect(await chat(gateway, "shop", 7 * MIB)).toBe(200);
    expect(refused).toBeGreaterThan(0);
  });
});

describe("calls", () => {
  it("of one namespace that are not answered, 330 of them, do not keep another one waiting", async () => {
    const gateway = await open();
    platform.answer = (request, response, body) => {
      if (!body.includes("never")) ok(request, response, body);
    };
    const body = JSON.stringify({ model: chatModel, messages: [{ role: "user", content: "never" }] });
    let refused = 0;
    for (let nth = 0; nth < 330; nth += 1) {
      const socket = dial(gateway);
      socket.write(`${head("greedy", `Content-Length: ${body.length}`)}${body}`);
      socket.once("data", (bytes) => {
        expect(String(bytes)).toMatch(/^HTTP\/1\.1 429 /);
        refused += 1;
      });
    }
    await vi.waitUntil(() => gateway.server.open() + refused === 330, { timeout: 30_000 });
    await vi.waitUntil(() => platform.seen.length + refused >= 256, { timeout: 30_000 });
    expect(await chat(gateway, "shop")).toBe(200);
    // A freed place can be used again.
    for (const socket of sockets) socket.destroy();
    await vi.waitUntil(() => gateway.server.open() === 0, { timeout: 30_000 });
    expect(await chat(gateway, "greedy")).toBe(200);
  });
});

describe("connections", () => {
  it("of one pod that are idle, as many as it gets, leave some to another", async () => {
    const gateway = await open({ mostConnections: 200 });
    let [made, ended] = [0, 0];
    for (let nth = 0; nth < 250; nth += 1) {
      const socket = dial(gateway);
      socket.once("connect", () => {
        made += 1;
      });
      socket.once("close", () => {
        ended += 1;
      });
    }
    await vi.waitUntil(() => made === 250 && ended >= 50, { timeout: 30_000 });
    expect(await chat(gateway, "shop")).toBe(200);
    for (const socket of sockets) socket.destroy();
    await vi.waitUntil(() => ended === 250);
    expect(await chat(gateway, "shop")).toBe(200);
  });
});

it.each(["http", "https"])("a connection whose call is open is not the one that goes, over %s", async (scheme) => {
  const tls = scheme === "https" ? await selfSigned(clock.now()) : undefined;
  const go = Promise.withResolvers<void>();
  const server = await listen(
    { host: "127.0.0.1", port: 0 },
    async (request, response) => {
      response.write("begun");
      if (request.url === "/long") await go.promise;
      response.end(" and ended");
    },
    tls,
    8,
  );
  onTestFinished(() => server.drain(AbortSignal.abort()));
  const { get } = tls ? https : http;
  const ask = (path: string, localAddress: string) =>
    new Promise<http.IncomingMessage>((resolve, reject) => {
      const options = { localAddress, agent: false, rejectUnauthorized: false };
      get(server.url + path, options, resolve).on("error", reject);
    });
  // The oldest connection of the pod has an open call. The others have sent nothing, so one of them is closed.
  const long = await ask("/long", OTHER_POD);
  const idle = [dial(server), dial(server), dial(server)];
  await Promise.all(idle.map((socket) => once(socket, "connect")));
  const closed = Promise.race(idle.map((socket) => once(socket, "close")));
  expect(await text(await ask("/short", "127.0.0.1"))).toBe("begun and ended");
  await closed;
  go.resolve();
  expect(await text(long)).toBe("begun and ended");
});

describe("tokens", () => {
  /** Asks for the models with a token, from another pod. Returns the number of answers by status. */
  function ask(gateway: Gateway, tokens: string[]) {
    const statuses: number[] = [];
    for (const token of tokens) {
      const socket = dial(gateway);
      socket.write(`GET /v1/models HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`);
      socket.once("data", (bytes) => statuses.push(Number(String(bytes).slice(9, 12))));
    }
    return statuses;
  }
  const models: Answer = (_, response) =>
    void response.writeHead(200, { "content-type": "application/json" }).end('{"data":[]}');

  it("of 200 pods that all come right after a start are all reviewed, some after others", async () => {
    platform.answer = models;
    const gateway = await open();
    const go = Promise.withResolvers<void>();
    gateway.reviews.hold = () => go.promise;
    const statuses = ask(
      gateway,
      Array.from({ length: 200 }, (_, nth) => `token-of-pod-${nth}`),
    );
    await vi.waitUntil(() => gateway.server.open() + statuses.length === 200, { timeout: 30_000 });
    expect(gateway.reviews.asked.length).toBeLessThanOrEqual(16);
    go.resolve();
    await vi.waitUntil(() => statuses.length === 200, { timeout: 30_000 });
    expect(statuses.filter((status) => status === 200)).toHaveLength(200);
  });

  it("that are garbage, 400 of them, keep out neither a token that was good before nor a new pod", async () => {
    const gateway = await open();
    expect(await chat(gateway, "shop")).toBe(200);
    const over = Promise.withResolvers<void>();
    onTestFinished(() => over.resolve());
    gateway.reviews.hold = (token) => (token.startsWith("garbage") ? over.promise : undefined);
    // The cached review of the good token expires, so it has to be reviewed again.
    skipped = 61_000;
    const statuses = ask(
      gateway,
      Array.from({ length: 400 }, (_, nth) => `garbage-${nth}`),
    );
    await vi.waitUntil(() => gateway.server.open() + statuses.length === 400, { timeout: 30_000 });
    expect(await chat(gateway, "shop")).toBe(200);
    expect(await chat(gateway, "greedy")).toBe(200);
  });
});
