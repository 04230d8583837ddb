import { X509Certificate } from "node:crypto";
import { request } from "node:http";
import { connect } from "node:tls";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterEach, describe, expect, it } from "vitest";
import { type Pair, selfSigned } from "../../src/server/serving-certificate.ts";
import { type HttpServing, serveHttp } from "../../src/tools/serve/http.ts";
import { createToolServer } from "../../src/tools/serve/server.ts";
import { type FakeClock, fakeClock } from "../fake-clock.ts";

const bearer = "a-bearer-token-of-a-test";
const another = "the-token-of-somebody-else";
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const out = async () => {
  throw new Error("out of reach");
};

async function serving(
  limits: { sessions?: number; ofOne?: number; idleMs?: number } = {},
  tls?: Pair,
): Promise<HttpServing & { clock: FakeClock }> {
  const clock = fakeClock();
  const server = await serveHttp({
    listen: { host: "127.0.0.1", port: 0 },
    bearers: () => [bearer, another],
    hosts: ["tools.example"],
    origins: ["https://inspector.example"],
    open: () =>
      createToolServer({ version: "1", mode: "eager", sources: { platform: out, cluster: out, now: clock.now } }),
    clock,
    limits,
    tls,
    onError: () => {},
  });
  closing.push(() => server.close());
  return { ...server, clock };
}

const initialize = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "1" } },
};

/** Only this client can set Host. */
function post(
  url: string,
  headers: Record<string, string>,
  body: unknown = initialize,
): Promise<[number, string | undefined]> {
  return new Promise((resolve, reject) => {
    const accept = "application/json, text/event-stream";
    const sending = request(url, {
      method: "POST",
      headers: { "content-type": "application/json", accept, ...headers },
    });
    sending.on("error", reject).on("response", (response) => {
      const id = response.headers["mcp-session-id"];
      response.resume().on("end", () => resolve([response.statusCode ?? 0, typeof id === "string" ? id : undefined]));
    });
    sending.end(typeof body === "string" ? body : JSON.stringify(body));
  });
}

const certificateAt = (port: number): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1", rejectUnauthorized: false }, () => {
      resolve(socket.getPeerCertificate().fingerprint256);
      socket.destroy();
    });
    socket.once("error", reject);
  });

const authorization = `Bearer ${bearer}`;

describe("over HTTP", () => {
  it("a client has a whole session", async () => {
    const { url, sessions } = await serving();
    const client = new Client({ name: "test", version: "1" });
    const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { authorization } } });
    await client.connect(transport);
    expect((await client.listTools()).tools.length).toBeGreaterThan(120);
    const result = await client.callTool({ name: "list_datacenters", arguments: {} });
    expect(result).toMatchObject({ isError: true, content: [{ text: "out of reach" }, {}] });
    expect(sessions()).toBe(1);
    await transport.terminateSession();
    expect(sessions()).toBe(0);
    await client.close();
  });

  it.each([
    ["without a token", {}, 401],
    ["with another token", { authorization: "Bearer another-token-of-a-test" }, 401],
    ["with a token that only begins alike", { authorization: `${authorization}x` }, 401],
    ["by a name that is not ours, as after DNS rebinding", { authorization, host: "evil.example" }, 403],
    ["from a web page that is not allowed", { authorization, origin: "https://evil.example" }, 403],
    ["from a page of this machine", { authorization, origin: "http://localhost:3000" }, 200],
    [
      "from a page that only looks like one of this machine",
      { authorization, origin: "http://localhost.evil.example" },
      403,
    ],
    ["by a name that is allowed", { authorization, host: "tools.example:8080" }, 200],
    ["from a web page that is allowed", { authorization, origin: "https://inspector.example" }, 200],
    ["with a session that nobody began", { authorization, "mcp-session-id": "made-up" }, 404],
  ])("a call %s is answered %j with %i", async (_, headers, status) => {
    const { url } = await serving();
    expect((await post(url, headers))[0]).toBe(status);
  });

  it("a body that is too large is refused", async () => {
    const { url, sessions } = await serving();
    expect((await post(url, { authorization }, "x".repeat(2_000_000)))[0]).toBe(413);
    expect(sessions()).toBe(0);
  });

  it("there are never more sessions than allowed, and idle ones end", async () => {
    const { url, sessions, clock } = await serving({ sessions: 2, idleMs: 60_000 });
    const [, first = ""] = await post(url, { authorization });
    await post(url, { authorization });
    expect((await post(url, { authorization }))[0]).toBe(503);
    expect(sessions()).toBe(2);
    clock.spend(60_000);
    expect((await post(url, { authorization }))[0]).toBe(200);
    expect(sessions()).toBe(1);
    expect((await post(url, { authorization, "mcp-session-id": first }))[0]).toBe(404);
  });

  it("a caller that begins session after session leaves those of others, whose calls are all answered", async () => {
    const { url, sessions } = await serving({ sessions: 10, ofOne: 3 });
    const greedy = await Promise.all(Array.from({ length: 30 }, () => post(url, { authorization })));
    expect(greedy.filter(([status]) => status === 200)).toHaveLength(3);
    expect(greedy.filter(([status]) => status === 429)).toHaveLength(27);
    const neighbour = { authorization: `Bearer ${another}` };
    for (let n = 0; n < 3; n++) expect((await post(url, neighbour))[0]).toBe(200);
    expect((await post(url, neighbour))[0]).toBe(429);
    expect(sessions()).toBe(6);
  });

  it("a session is of no use to another caller", async () => {
    const { url } = await serving();
    const [, id = ""] = await post(url, { authorization });
    expect((await post(url, { authorization: `Bearer ${another}`, "mcp-session-id": id }))[0]).toBe(404);
  });

  it("TLS is served with the certificate that is there now, and nothing without TLS", async () => {
    const first = await selfSigned(Date.now());
    const { url, renew } = await serving({}, first);
    const { port, protocol } = new URL(url);
    expect(protocol).toBe("https:");
    expect(await certificateAt(Number(port))).toBe(new X509Certificate(first.cert).fingerprint256);
    const second = await selfSigned(Date.now());
    renew(second);
    expect(await certificateAt(Number(port))).toBe(new X509Certificate(second.cert).fingerprint256);
    await expect(fetch(new URL("/healthz", url.replace("https", "http")))).rejects.toThrow();
  });

  it("health needs no token, and nothing else is there", async () => {
    const { url } = await serving();
    expect((await fetch(new URL("/healthz", url))).status).toBe(200);
    expect((await fetch(new URL("/other", url))).status).toBe(401);
    expect((await fetch(new URL("/other", url), { headers: { authorization } })).status).toBe(404);
  });
});
