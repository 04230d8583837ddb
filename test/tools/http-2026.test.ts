import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterEach, describe, expect, it } from "vitest";
import { serveHttp } from "../../src/tools/serve/http.ts";
import { type Mode, modes } from "../../src/tools/serve/modes.ts";
import { createToolServer } from "../../src/tools/serve/server.ts";
import { fakeClock } from "../fake-clock.ts";

const bearer = "a-bearer-token-of-a-test";
const revision = "2026-07-28";
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const out = async () => {
  throw new Error("out of reach");
};

async function serving(mode: Mode) {
  const clock = fakeClock();
  const sources = { platform: out, cluster: out, now: clock.now };
  const server = await serveHttp({
    listen: { host: "127.0.0.1", port: 0 },
    bearers: () => [bearer],
    ...{ hosts: [], origins: [], clock },
    open: (kept) => createToolServer({ version: "1", mode, kept, sources }),
    onError: () => {},
  });
  closing.push(() => server.close());
  return server;
}

async function connected(url: string, authorization = `Bearer ${bearer}`) {
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode: { pin: revision } } });
  closing.push(() => client.close());
  await client.connect(
    new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { authorization } } }),
  );
  return client;
}

const DATA = { text: expect.stringContaining("data") };

describe(`over HTTP, a client of the protocol of ${revision}`, () => {
  it("has no session, and asks and calls all the same", async () => {
    const { url, sessions } = await serving("eager");
    const client = await connected(url);
    expect(client.getNegotiatedProtocolVersion()).toBe(revision);
    expect((await client.listTools()).tools.length).toBeGreaterThan(120);
    const result = await client.callTool({ name: "list_datacenters", arguments: {} });
    expect(result).toMatchObject({ isError: true, content: [{ text: "out of reach" }, DATA] });
    expect(sessions()).toBe(0);
  });

  it.each(modes)("calls any tool in the %s mode: nothing has to be remembered between two requests", async (mode) => {
    const { url } = await serving(mode);
    const client = await connected(url);
    const call =
      mode === "dynamic"
        ? { name: "ionos_call_tool", arguments: { name: "list_datacenters" } }
        : { name: "list_datacenters", arguments: {} };
    expect(await client.callTool(call)).toMatchObject({ content: [{ text: "out of reach" }, DATA] });
  });

  it("needs the bearer token", async () => {
    const { url } = await serving("eager");
    await expect(connected(url, "Bearer another-bearer-token")).rejects.toThrow();
  });

  it("is served beside those of the protocol before, who have sessions", async () => {
    const { url, sessions } = await serving("lazy");
    const before = new Client({ name: "before", version: "1" });
    closing.push(() => before.close());
    const headers = { authorization: `Bearer ${bearer}` };
    await before.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
    await before.callTool({ name: "ionos_load_compute_tools", arguments: {} });
    await connected(url);
    const { content } = await before.callTool({ name: "list_datacenters", arguments: {} });
    expect(content).toMatchObject([{ text: "out of reach" }, DATA]);
    expect(sessions()).toBe(1);
  });

  it("gets no more than a body of the usual size through", async () => {
    const { url } = await serving("eager");
    const answer = await fetch(url, {
      method: "POST",
      headers: {
        authorization: `Bearer ${bearer}`,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": revision,
      },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "tools/list",
        params: { _meta: { x: "x".repeat(2_000_000) } },
      }),
    });
    expect(answer.status).toBe(413);
    await answer.body?.cancel();
  });
});
