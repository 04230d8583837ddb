import { afterEach, describe, expect, test } from "vitest";
import { type Connection, createTransport, type Transport } from "../../../src/platform/calls/transport.ts";
import { identityOf, numbered } from "../../../src/platform/collections/numbered.ts";
import { PartialList } from "../../../src/platform/collections/reading.ts";
import { coreCollection, findRequests, readContract, requestStatus } from "../../../src/platform/products/core.ts";
import { fakeClock } from "../../fake-clock.ts";
import { answer, type Script, scriptedServer } from "../scripted-server.ts";

const transports: Transport[] = [];
afterEach(async () => {
  for (const transport of transports.splice(0)) await transport.close();
});

function connect(token = "token"): Connection {
  const transport = createTransport({ clock: fakeClock() });
  transports.push(transport);
  return transport.connect("ns/account", { token });
}

const server = (n: number) => ({ id: `s${n}`, type: "server", metadata: { state: "AVAILABLE" }, properties: { n } });
const servers = (count: number) => Array.from({ length: count }, (_, n) => server(n));
const never = new AbortController().signal;

/** A list with pages like the platform's. `most` is the maximum page size, whatever is asked for. */
function paged(all: readonly object[], most = 1_000, envelope: (limit: number) => object = () => ({})): Script {
  return ({ url }, response, request) => {
    const query = new URL(url, "http://x").searchParams;
    const offset = Number(query.get("offset") ?? 0);
    const limit = Math.min(Number(query.get("limit") ?? 1_000), most);
    const items = all.slice(offset, offset + limit);
    answer(200, { type: "collection", items, ...envelope(limit) })(
      { url, method: "", headers: {}, body: "" },
      response,
      request,
    );
  };
}

describe("a list", () => {
  test.each([
    [0, 1],
    [999, 1],
    [1_000, 2],
    [2_500, 3],
  ])("of %i items takes %i pages", async (count, pages) => {
    await using platform = await scriptedServer(paged(servers(count)));
    const source = coreCollection(connect(), `${platform.url}/`, "/datacenters/d/servers", { depth: 2 });
    expect(await source.list(never, "normal")).toHaveLength(count);
    expect(platform.arrived).toHaveLength(pages);
    expect(platform.arrived[0]?.url).toBe(
      "/cloudapi/v6/datacenters/d/servers?depth=2&pretty=false&offset=0&limit=1000",
    );
  });

  test("goes on when the platform gives less than was asked for and says so", async () => {
    await using platform = await scriptedServer(paged(servers(450), 200, (limit) => ({ limit })));
    const source = coreCollection(connect(), `${platform.url}/cloudapi/v6`, "/targetgroups", { depth: 1 });
    expect(await source.list(never, "normal")).toHaveLength(450);
    expect(platform.arrived).toHaveLength(3);
  });

  test("ends although the platform ignores paging", async () => {
    await using platform = await scriptedServer(answer(200, { items: servers(1_500) }));
    const source = coreCollection(connect(), platform.url, "/images", { depth: 1 });
    expect(await source.list(never, "normal")).toHaveLength(1_500);
    expect(platform.arrived).toHaveLength(2);
  });

  test("holds an item once that moved between pages", async () => {
    const all = servers(1_200);
    await using platform = await scriptedServer(paged([...all.slice(0, 1_000), ...all.slice(990)]));
    const source = coreCollection(connect(), platform.url, "/datacenters", { depth: 1 });
    expect(await source.list(never, "normal")).toHaveLength(1_200);
  });

  test.each([
    ["items.1.id", { items: [server(1), { type: "server" }] }],
    ["Invalid input: expected object, received array", [1]],
    ["items", { items: "many" }],
  ])("that is not as expected fails as a whole and names %s", async (place, body) => {
    await using platform = await scriptedServer(answer(200, body));
    const source = coreCollection(connect(), platform.url, "/datacenters", { depth: 1 });
    const failure = source.list(never, "normal");
    await expect(failure).rejects.toMatchObject({ kind: "Retry", executed: "no", status: 200 });
    await expect(failure).rejects.toThrow(`GET /cloudapi/v6/datacenters answered 200: unexpected body: ${place}`);
  });
});

describe("a list with items that are none", () => {
  test.each([
    ["items.1.id: not an id", { id: "../contracts" }],
    ["items.1: Invalid input", "text"],
    ["metadata.state", { id: "s9", metadata: { state: {} } }],
  ])("fails with the others, and names the first one: %s", async (place, odd) => {
    const all = [server(1), odd, server(2), { id: "a/b" }];
    await using platform = await scriptedServer(answer(200, { items: all }));
    const source = coreCollection(connect(), platform.url, "/datacenters", { depth: 1 });
    const error: unknown = await source.list(never, "normal").catch((reason: unknown) => reason);
    expect(error).toMatchObject({ kind: "Retry", executed: "no", status: 200 });
    expect(String(error)).toContain(place);
    expect(String(error)).toContain("the list has 2 invalid items");
    expect(error instanceof PartialList && error.items.map(({ id }) => id)).toEqual(["s1", "s2"]);
  });

  test("shows the identity of the others where numbers are reused", async () => {
    const lan = { id: "1", metadata: { state: "AVAILABLE", createdDate: "2026-01-01T00:00:00Z" }, properties: {} };
    await using platform = await scriptedServer(answer(200, { items: [lan, { id: "../contracts" }] }));
    const source = numbered(coreCollection(connect(), platform.url, "/datacenters/d/lans", { depth: 1 }));
    const error: unknown = await source.list(never, "normal").catch((reason: unknown) => reason);
    expect(error instanceof PartialList && error.items.map(({ id }) => id)).toEqual([
      identityOf({ id: "1", born: lan.metadata.createdDate }),
    ]);
  });
});

describe("a member", () => {
  test("is read at the same depth; 404 means undefined", async () => {
    await using platform = await scriptedServer(answer(200, { ...server(1), metadata: { state: "BUSY" } }));
    const source = coreCollection(connect(), platform.url, "/datacenters", { depth: 3 });
    const item = await source.get?.("a b", never);
    expect(item).toMatchObject({ id: "s1", state: "BUSY" });
    expect(item && source.isBusy(item)).toBe(true);
    expect(platform.arrived[0]?.url).toBe("/cloudapi/v6/datacenters/a%20b?depth=3&pretty=false");
    platform.script = answer(404, { messages: [{ errorCode: "309", message: "Resource does not exist" }] });
    expect(await source.get?.("gone", never)).toBeUndefined();
    platform.script = answer(500);
    await expect(source.get?.("x", never)).rejects.toMatchObject({ kind: "Retry" });
  });
});

describe("a request", () => {
  test.each([
    ["QUEUED", "BUSY"],
    ["RUNNING", "BUSY"],
    ["BUSY", "BUSY"],
    ["DONE", "DONE"],
    ["FAILED", "FAILED"],
  ])("that is %s counts as %s", async (status, counted) => {
    const targets = [{ target: { id: "d", href: "…", type: "datacenter" }, status }];
    await using platform = await scriptedServer(answer(200, { metadata: { status, message: "why", targets } }));
    const state = await requestStatus(connect(), `${platform.url}/cloudapi/v6/requests/r/status`);
    expect(state).toEqual({ status: counted, message: "why", targets: [{ id: "d", type: "datacenter", status }] });
  });

  test("is asked at our own endpoint, wherever its address points", async () => {
    await using platform = await scriptedServer(answer(200, { metadata: { status: "DONE" } }));
    const source = coreCollection(connect(), platform.url, "/datacenters", { depth: 1 });
    const named = "https://evil.example/cloudapi/v6/requests/r-1/status";
    expect(await source.requestStatus?.(named, never)).toEqual({ status: "DONE", targets: [] });
    expect(platform.arrived[0]?.url).toBe("/cloudapi/v6/requests/r-1/status");
    for (const none of ["https://evil.example/", "/requests/../status", ""]) {
      await expect(source.requestStatus?.(none, never)).rejects.toMatchObject({ kind: "Terminal" });
    }
  });

  test("is found in the log by method, exact path and time, with its targets", async () => {
    const logged = (id: string, url: string, more: object = {}, requestStatus?: object) => ({
      id,
      metadata: { createdDate: "2026-01-01T10:00:00.500Z", createdBy: "a@b", requestStatus },
      properties: { method: "POST", url, body: "{}", ...more },
    });
    const known = { metadata: { status: "DONE", targets: [{ target: { id: "s1", type: "server" } }] } };
    const log = [
      logged("r1", "https://api.example/cloudapi/v6/datacenters/d/servers?depth=1", {}, known),
      logged("r2", "/datacenters/d/servers/"),
      logged("r3", "https://api.example/cloudapi/v6/datacenters/d/servers/x/volumes"),
      logged("r4", "https://api.example/cloudapi/v6/other/datacenters/d/servers"),
      logged("r5", "https://api.example/cloudapi/v6/datacenters/d/servers", { method: "PUT" }),
    ];
    const single = { metadata: { status: "BUSY", targets: [{ target: { id: "s2" } }] } };
    await using platform = await scriptedServer((arrived, response, request) => {
      const script = arrived.url.includes("/r2/status") ? answer(200, single) : paged(log);
      script(arrived, response, request);
    });
    const createdAfter = Date.parse("2026-01-01T10:00:00.400Z");
    const filter = { method: "POST", url: "/datacenters/d/servers", createdAfter };
    const found = await findRequests(connect(), platform.url, filter);
    expect(found).toMatchObject([
      { id: "r1", createdBy: "a@b", status: "DONE", targets: [{ id: "s1", type: "server" }] },
      { id: "r2", body: "{}", status: "BUSY", targets: [{ id: "s2" }] },
    ]);
    const query = new URL(platform.arrived[0]?.url ?? "", platform.url).searchParams;
    expect(Object.fromEntries(query)).toMatchObject({
      "filter.method": "POST",
      "filter.url": "/datacenters/d/servers",
      "filter.createdAfter": "2026-01-01 09:59:59",
    });
    expect(await findRequests(connect(), platform.url, { ...filter, createdAfter: createdAfter + 200 })).toEqual([]);
  });
});

describe("the contract", () => {
  const contract = (contractNumber: number, resourceLimits: object = {}) => ({
    type: "contract",
    properties: { contractNumber, owner: "a@b", status: "BILLABLE", resourceLimits },
  });

  test("is the one that the connection acts on, with its limits", async () => {
    await using platform = await scriptedServer(
      answer(200, { items: [contract(1), contract(2, { coresPerContract: 100, coresProvisioned: 7, odd: "x" })] }),
    );
    const connection = connect();
    expect((await readContract(connection, platform.url)).contractNumber).toBe(1);
    connection.setCredentials({ token: "token", contractNumber: 2 });
    const limits = { coresPerContract: 100 };
    expect(await readContract(connection, platform.url)).toEqual({
      contractNumber: 2,
      owner: "a@b",
      status: "BILLABLE",
      limits,
      used: { coresProvisioned: 7 },
    });
    connection.setCredentials({ token: "token", contractNumber: 3 });
    await expect(readContract(connection, platform.url)).rejects.toThrow("the token has no access to contract 3");
  });
});
