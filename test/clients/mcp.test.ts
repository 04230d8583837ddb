import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { table } from "../../src/tools/table/table.ts";
import { root, run, start } from "../processes.ts";
import { program } from "../run/program.ts";
import { type Platform, startPlatform } from "../simulator/platform.ts";

let platform: Platform;
const env: Record<string, string> = { PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "" };
let datacenter = "";

beforeAll(async () => {
  platform = await startPlatform();
  const { token, endpoints } = platform.ready;
  Object.assign(env, { MOORING_TOKEN: token, MOORING_ENDPOINTS: JSON.stringify(endpoints), KUBECONFIG: "/nowhere" });
  datacenter = (await platform.datacenter()).split("/")[2] ?? "";
});
afterAll(() => platform.close());

const tool = (name: string, args: string[]) => run(process.execPath, [join(root, "node_modules/.bin", name), ...args]);

it("the official client has a whole session over stdio, with a list that changes", async () => {
  const client = new Client({ name: "test", version: "1" });
  const changed = Promise.withResolvers<void>();
  client.setNotificationHandler("notifications/tools/list_changed", () => changed.resolve());
  const args = ["tools", "--load-mode", "lazy"];
  const transport = new StdioClientTransport({ command: program(), args, env, stderr: "pipe" });
  let logged = "";
  transport.stderr?.on("data", (chunk) => (logged += chunk));
  await client.connect(transport);
  expect(client.getServerVersion()).toMatchObject({ name: "mooring-tools" });
  const before = (await client.listTools()).tools;
  await client.callTool({ name: "ionos_load_compute_tools", arguments: {} });
  await changed.promise;
  const after = (await client.listTools()).tools;
  expect(after.length - before.length).toBe(table.filter(({ group }) => group === "compute").length);
  const result = await client.callTool({ name: "get_datacenter", arguments: { datacenter_id: datacenter } });
  expect(result.structuredContent).toMatchObject({ id: datacenter, properties: { name: "prod" } });
  const gone = "11111111-1111-4111-8111-111111111111";
  const missing = await client.callTool({ name: "get_datacenter", arguments: { datacenter_id: gone } });
  expect(missing).toMatchObject({
    isError: true,
    content: [{ text: expect.stringMatching(/^404 NotFound: .*309/) }, {}],
  });
  const away = await client.callTool({ name: "list_custom_resources", arguments: {} });
  expect(away).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining("no cluster to connect to") }, {}],
  });
  expect(logged).toContain("load mode lazy (--load-mode)");
  expect(logged).not.toContain(platform.ready.token);
  await client.close();
});

it.each(["SIGTERM", "SIGINT"] as const)("%s ends it, and so does a client that leaves", async (signal) => {
  const server = start(program(), ["tools", "--transport", "http", "--listen", "127.0.0.1:0", "--json"], {
    env: { ...env, MOORING_TOOLS_BEARER_TOKEN: "a-bearer-token-of-a-test" },
  });
  await server.line();
  server.signal(signal);
  expect(await server.ended).toBe(0);
  expect(await run(program(), ["tools"], { env, input: "" })).toMatchObject({ code: 0, stdout: "" });
});

it("over HTTP it does not start without a bearer token", async () => {
  const { code, stdout, stderr } = await run(program(), ["tools", "--transport", "http"], { env });
  expect([code, stdout]).toEqual([1, ""]);
  expect(stderr).toContain("MOORING_TOOLS_BEARER_TOKEN");
});

describe("the inspector", () => {
  const inspect = async (...args: string[]) => {
    const variables = Object.entries(env).flatMap(([name, value]) =>
      name.startsWith("MOORING") ? ["-e", `${name}=${value}`] : [],
    );
    const { code, stdout, stderr } = await tool("mcp-inspector", ["--cli", ...variables, program(), "tools", ...args]);
    expect(code, stderr).toBe(0);
    return JSON.parse(stdout);
  };
  const content = z.looseObject({ structuredContent: z.looseObject({}) });

  it("lists every tool", async () => {
    const { tools } = z
      .object({ tools: z.array(z.object({ name: z.string() })) })
      .parse(await inspect("--method", "tools/list"));
    expect(tools.map(({ name }) => name)).toEqual(table.map(({ name }) => name));
  });

  // Each call starts both programs. So this calls one tool of each form; test/tools calls every tool.
  it.each([
    ["list_datacenters", ["depth=1"], { items: [{ id: expect.any(String) }] }],
    ["list_object_storage_buckets", [], { Buckets: [{ Name: "flow-logs" }] }],
  ])("calls %s", async (name, given, expected) => {
    const args = given.flatMap((each) => ["--tool-arg", each]);
    const answer = await inspect("--method", "tools/call", "--tool-name", name, ...args);
    expect(content.parse(answer).structuredContent).toMatchObject(expected);
  });
});

describe("the conformance suite", () => {
  const bearer = "a-bearer-token-of-a-test";
  let server: ReturnType<typeof start>;
  let url = "";
  // The suite sends no token, so this proxy adds one.
  const relay = createServer((incoming, outgoing) => {
    const headers = { ...incoming.headers, authorization: `Bearer ${bearer}` };
    const sending = request(new URL(incoming.url ?? "/", url), { method: incoming.method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(outgoing);
    });
    incoming.pipe(sending.on("error", () => outgoing.destroy()));
  });
  beforeAll(async () => {
    server = start(program(), ["tools", "--transport", "http", "--listen", ":0", "--json"], {
      env: { ...env, MOORING_TOOLS_BEARER_TOKEN: bearer },
    });
    url = z.object({ url: z.string() }).parse(JSON.parse(await server.line())).url;
    await new Promise<void>((resolve) => relay.listen(0, "127.0.0.1", resolve));
  });
  afterAll(async () => {
    relay.closeAllConnections();
    relay.close();
    await server.stop();
  });

  // The other scenarios need tools, prompts and resources of a special test server.
  it.concurrent.each([
    "server-initialize",
    "ping",
    "tools-list",
    "resources-list",
    "dns-rebinding-protection",
    "server-sse-multiple-streams",
    "server-sse-polling",
  ])("finds nothing wrong in %s", async (scenario) => {
    const { port } = relay.address() as AddressInfo;
    const address = `http://127.0.0.1:${port}/mcp`;
    const { code, stdout, stderr } = await tool("conformance", ["server", "--url", address, "--scenario", scenario]);
    expect(code, stdout + stderr).toBe(0);
    expect(stdout + stderr).toMatch(/Passed: \d+\/\d+, 0 failed/);
  });
});
