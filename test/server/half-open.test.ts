import { once } from "node:events";
import { globSync, readFileSync } from "node:fs";
import http from "node:http";
import https from "node:https";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { listen } from "../../src/gateway/server.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import { openServer } from "../../src/server/open-server.ts";
import { serve } from "../../src/server/serve.ts";
import { selfSigned } from "../../src/server/serving-certificate.ts";
import { serveHttp } from "../../src/tools/serve/http.ts";
import { root } from "../processes.ts";

const ANYWHERE = { host: "127.0.0.1", port: 0 };
/** Two pods: every address of 127.0.0.0/8 is this machine. */
const [ONE, OTHER] = ["127.0.0.2", "127.0.0.3"];
/** The start of a TLS record whose rest never comes. */
const HALF = Buffer.from("160301020001", "hex");
const WITHIN = { timeout: 30_000 };
const tls = await selfSigned(Date.now());

const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

function dial(url: string, localAddress: string): Socket {
  const { port, hostname } = new URL(url);
  const socket = connect({ port: Number(port), host: hostname, localAddress });
  socket.on("error", () => {}).resume();
  sockets.push(socket);
  return socket;
}

/** Opens connections that do not finish their handshake. Returns those that are still open, the oldest first. */
async function halfOpen(url: string, count: number, localAddress: string, bytes = HALF): Promise<Set<Socket>> {
  const open = new Set<Socket>();
  for (let nth = 0; nth < count; nth += 1) {
    const socket = dial(url, localAddress);
    open.add(socket);
    socket.once("close", () => open.delete(socket));
    await once(socket, "connect");
    socket.write(bytes);
  }
  return open;
}

/** One request on a connection of its own. Returns its status. */
function ask(url: string, localAddress: string): Promise<number | undefined> {
  const { get } = url.startsWith("https") ? https : http;
  return new Promise((resolve, reject) => {
    get(url, { localAddress, agent: false, rejectUnauthorized: false }, async (response) => {
      await text(response);
      resolve(response.statusCode);
    }).on("error", reject);
  });
}

/** Nothing ends by a timeout unless a test says so. */
const never = 600_000;
const patient = { handshakeTimeout: never, headersTimeout: never, requestTimeout: never, keepAliveTimeout: never };

async function opened(options: Parameters<typeof openServer>[3], secure = true) {
  const server = await openServer(ANYWHERE, (_, response) => void response.end("ok"), secure ? tls : undefined, {
    ...patient,
    ...options,
  });
  onTestFinished(
    () =>
      new Promise<void>((resolve) => {
        server.server.close(() => resolve());
        server.closeConnections();
      }),
  );
  return server;
}

describe.each(["https", "http"])("connections over %s that send no request", (scheme) => {
  const secure = scheme === "https";
  const bytes = secure ? HALF : Buffer.from("GET / HT");

  it("of one peer take a quarter of the places; the oldest goes first", async () => {
    const { url } = await opened({ mostConnections: 40 }, secure);
    const open = await halfOpen(url, 30, ONE, bytes);
    const all = sockets.slice();
    await vi.waitUntil(() => open.size === 10, WITHIN);
    expect([...open]).toEqual(all.slice(-10));
    expect(await ask(url, ONE)).toBe(200);
    expect(await ask(url, OTHER)).toBe(200);
    expect(open.size).toBeGreaterThanOrEqual(9);
  });

  it("of many peers take half of the places; the peer with most of them loses one to a peer with fewer", async () => {
    const { url } = await opened({ mostConnections: 40 }, secure);
    const first = await halfOpen(url, 10, "127.0.0.10", bytes);
    const second = await halfOpen(url, 8, "127.0.0.11", bytes);
    const third = await halfOpen(url, 5, "127.0.0.12", bytes);
    await vi.waitUntil(() => first.size === 7, WITHIN);
    expect([second.size, third.size]).toEqual([8, 5]);
    expect(await ask(url, OTHER)).toBe(200);
  });
});

describe("a handshake that is not finished in time", () => {
  it("ends its connection, also when a byte comes now and then", async () => {
    const { url, server } = await opened({ handshakeTimeout: 300 });
    const open = await halfOpen(url, 5, ONE);
    const [slow] = open;
    const dribbling = setInterval(() => slow?.write(Buffer.from([0])), 50);
    onTestFinished(() => clearInterval(dribbling));
    await vi.waitUntil(() => open.size === 0, WITHIN);
    expect(await new Promise((resolve) => server.getConnections((_, count) => resolve(count)))).toBe(0);
    expect(await ask(url, ONE)).toBe(200);
  });

  it("does not hold up a server that stops", async () => {
    const { url, server, closeConnections } = await opened({});
    const open = await halfOpen(url, 5, ONE);
    const closed = once(server, "close");
    server.close();
    closeConnections();
    await closed;
    await vi.waitUntil(() => open.size === 0, WITHIN);
  });
});

describe("connections that have sent requests", () => {
  const idle = async (url: string, localAddress: string) => {
    const socket = dial(url, localAddress);
    socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    await once(socket, "data");
    return socket;
  };

  it("of one peer take half of the places, and new ones replace the one that is idle for longest", async () => {
    const { url } = await opened({ mostConnections: 8 }, false);
    const kept = await idle(url, ONE);
    const second = await idle(url, ONE);
    const more = [await idle(url, ONE), await idle(url, ONE)];
    kept.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    await once(kept, "data");
    const closed = once(second, "close");
    more.push(await idle(url, ONE));
    await closed;
    expect([kept, ...more].map(({ destroyed }) => destroyed)).toEqual([false, false, false, false]);
  });

  it("keep their places when others send none", async () => {
    const { url } = await opened({ mostConnections: 8 }, false);
    const kept = [await idle(url, ONE), await idle(url, ONE)];
    for (const address of [ONE, OTHER, "127.0.0.4"]) await halfOpen(url, 10, address, Buffer.from("GET / HT"));
    for (const socket of kept) {
      socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
      expect(String(await once(socket, "data"))).toMatch(/^HTTP\/1\.1 200 /);
    }
  });
});

const health = { ready: () => true, problem: () => undefined };

describe("half-open TLS connections, 700 of one pod, keep nobody out", () => {
  const servers: Record<string, () => Promise<{ url: string; close(): Promise<void> }>> = {
    operator: () => serve(ANYWHERE, { contentType: "text/plain", scrape: () => [] }, health, { tls }),
    gateway: async () => {
      const { url, drain } = await listen(ANYWHERE, async (_, response) => void response.end("ok"), tls);
      return { url, close: () => drain(AbortSignal.abort()) };
    },
    tools: async () => {
      const unused = () => {
        throw new Error("nobody has a token");
      };
      const common = { bearers: () => [], hosts: [], origins: [], open: unused, clock: systemClock, onError: () => {} };
      const { url, close } = await serveHttp({ listen: ANYWHERE, tls, ...common });
      return { url: url.replace("/mcp", ""), close };
    },
  };

  it.each(Object.keys(servers))("%s", async (name) => {
    const { url, close } = (await servers[name]?.()) ?? expect.unreachable();
    onTestFinished(close);
    const open = await halfOpen(url, 700, ONE);
    await vi.waitUntil(() => open.size <= 500, WITHIN);
    expect(await ask(`${url}/healthz`, ONE)).toBe(200);
    expect(await ask(`${url}/healthz`, OTHER)).toBe(200);
  });
});

describe("honest connections of one address, as behind an ingress", () => {
  it("are all served, 250 that come at once", async () => {
    const { url } = await opened({});
    const statuses = await Promise.all(Array.from({ length: 250 }, () => ask(url, ONE)));
    expect(statuses.filter((status) => status !== 200)).toEqual([]);
  });
});

it("no server of Mooring listens by itself: all have these limits", () => {
  const files = globSync("src/!(simulator|server)/**/*.ts", { cwd: root });
  expect(files.length).toBeGreaterThan(100);
  const own = /import \{[^}]*\bcreate(Secure)?Server\b[^}]*\} from "node:(http|https|http2|tls)"/;
  expect(files.filter((file) => own.test(readFileSync(join(root, file), "utf8")))).toEqual([]);
});
