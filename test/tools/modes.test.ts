import { type Client, InMemoryTransport } from "@modelcontextprotocol/client";
import { describe, expect, it, onTestFinished } from "vitest";
import { modes } from "../../src/tools/serve/modes.ts";
import { createToolServer } from "../../src/tools/serve/server.ts";
import { table } from "../../src/tools/table/table.ts";
import { connected, platformThat, textOf } from "./connected.ts";

const namesOf = async (client: Client) => (await client.listTools()).tools.map(({ name }) => name);

describe("in the eager mode", () => {
  it("every tool of the table is there from the start, and says that it only reads", async () => {
    const { tools } = await (await connected("eager")).listTools();
    expect(tools.map(({ name }) => name)).toEqual(table.map(({ name }) => name));
    expect(tools.filter(({ annotations }) => annotations?.readOnlyHint !== true)).toEqual([]);
    expect(tools.filter(({ outputSchema }) => outputSchema?.type !== "object")).toEqual([]);
  });

  it("a tool that is not there is an error which names what was meant", async () => {
    const client = await connected("eager");
    await expect(client.callTool({ name: "list_server", arguments: {} })).rejects.toThrow(/did you mean list_server/);
  });
});

describe("a tool that is not there", () => {
  const names = ["list_server", "zzz", "größe", "x".repeat(128), "7", "?"];

  it.each(names)("names others, whatever was asked for: %s", async (name) => {
    const reported = { eager: "", lazy: "" };
    for (const mode of ["eager", "lazy"] as const) {
      const client = await connected(mode);
      await client.callTool({ name, arguments: {} }).catch((error: Error) => {
        reported[mode] = error.message;
      });
    }
    const others = /; did you mean (\w+), (\w+), (\w+)\?$/;
    expect(reported).toEqual({ eager: expect.stringMatching(others), lazy: expect.stringMatching(others) });
    const client = await connected("dynamic");
    const described = await client.callTool({ name: "ionos_describe_tools", arguments: { names: [name] } });
    const three = [expect.any(String), expect.any(String), expect.any(String)];
    expect(described.structuredContent).toMatchObject({ tools: [{ name, did_you_mean: three }] });
    expect(textOf(await client.callTool({ name: "ionos_call_tool", arguments: { name } }))).toMatch(others);
  });

  it("begins with the one whose letters are closest", async () => {
    const client = await connected("eager");
    await expect(client.callTool({ name: "lst_dtcntrs", arguments: {} })).rejects.toThrow(
      /did you mean list_datacenters/,
    );
  });
});

describe("in the lazy mode", () => {
  it("compute and object storage come when they are loaded, and the client is told", async () => {
    const client = await connected("lazy");
    const reported = new Promise<void>((resolve) => {
      client.setNotificationHandler("notifications/tools/list_changed", () => resolve());
    });
    const before = await namesOf(client);
    expect(before).toContain("ionos_load_compute_tools");
    expect(before).toContain("list_dns_zones");
    expect(before).not.toContain("list_servers");
    const early = await client.callTool({ name: "list_datacenters", arguments: {} });
    expect(textOf(early)).toBe("list_datacenters is not loaded: call ionos_load_compute_tools first");

    await client.callTool({ name: "ionos_load_compute_tools", arguments: {} });
    await reported;
    const after = await namesOf(client);
    expect(after).toContain("list_servers");
    expect(after).not.toContain("list_object_storage_buckets");
    expect((await client.callTool({ name: "list_datacenters", arguments: {} })).isError).toBeUndefined();
  });
});

describe("in the dynamic mode", () => {
  it("three tools find, describe and call all others", async () => {
    const client = await connected(
      "dynamic",
      platformThat(async () => ({ items: [{ id: "dc" }] })),
    );
    expect(await namesOf(client)).toEqual(["ionos_search_tools", "ionos_describe_tools", "ionos_call_tool"]);
    const found = await client.callTool({
      name: "ionos_search_tools",
      arguments: { query: "firewall rules", limit: 1 },
    });
    expect(found.structuredContent).toMatchObject({ tools: [{ name: "list_firewall_rules", group: "compute" }] });
    const all = await client.callTool({ name: "ionos_search_tools", arguments: { query: "", limit: 0 } });
    expect(all.structuredContent).toMatchObject({ count: table.length });
    const names = ["list_datacenters", "list_datacentres"];
    const described = await client.callTool({ name: "ionos_describe_tools", arguments: { names } });
    expect(described.structuredContent).toMatchObject({
      tools: [
        { name: "list_datacenters", input_schema: { type: "object" } },
        { name: "list_datacentres", error: expect.any(String), did_you_mean: expect.any(Array) },
      ],
    });
    const called = await client.callTool({ name: "ionos_call_tool", arguments: { name: "list_datacenters" } });
    expect(called.structuredContent).toEqual({ items: [{ id: "dc" }] });
    const wrong = await client.callTool({ name: "ionos_call_tool", arguments: { name: "list_nothing" } });
    expect(wrong.isError).toBe(true);
  });
});

describe.each(modes)("in the %s mode", (mode) => {
  it("the document about FOCUS is a resource", async () => {
    const client = await connected(mode);
    const { resources } = await client.listResources();
    expect(resources).toMatchObject([{ uri: "ionos://billing/focus-v1.3", mimeType: "text/markdown" }]);
    const { contents } = await client.readResource({ uri: "ionos://billing/focus-v1.3" });
    expect(contents[0]).toMatchObject({ text: expect.stringContaining("BilledCost") });
    await expect(client.readResource({ uri: "ionos://billing/other" })).rejects.toThrow();
  });
});

it("a client of 2024-11-05 is served in its version", async () => {
  const server = createToolServer({ version: "1.0.0", mode: "eager", sources: platformThat(async () => ({})) });
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await server.connect(theirs);
  onTestFinished(() => server.close());
  const answer = new Promise((resolve) => {
    ours.onmessage = resolve;
  });
  await ours.start();
  const params = { protocolVersion: "2024-11-05", capabilities: {}, clientInfo: { name: "old", version: "1" } };
  await ours.send({ jsonrpc: "2.0", id: 1, method: "initialize", params });
  expect(await answer).toMatchObject({ result: { protocolVersion: "2024-11-05" } });
});
