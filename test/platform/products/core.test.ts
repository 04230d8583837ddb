import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Connection, createTransport, type Reply, type Transport } from "../../../src/platform/calls/transport.ts";
import { type Collection, openCollection } from "../../../src/platform/collections/collection.ts";
import {
  coreCollection,
  coreUrl,
  findRequests,
  readContract,
  requestStatus,
} from "../../../src/platform/products/core.ts";
import { systemClock } from "../../../src/runtime/clock.ts";
import { type RunningSimulator, startSimulator } from "../../../src/simulator/start.ts";

/** The core API of the simulator. */

const never = new AbortController().signal;
let simulator: RunningSimulator;
let transport: Transport;
let connection: Connection;
let api: string;

beforeAll(async () => {
  simulator = await startSimulator();
  api = simulator.ready.endpoints.api;
  transport = createTransport({ clock: systemClock });
  connection = transport.connect("test/account", { token: simulator.ready.token });
});

beforeEach(() => steer("PUT", "faults", { rules: [] }));

afterAll(async () => {
  await transport.close();
  await simulator.close();
});

function steer(method: "GET" | "POST" | "PUT", path: string, body?: object): Promise<Reply> {
  return connection.send({ method, url: `${api}/_simulator/${path}`, body });
}

function post(path: string, properties: object): Promise<Reply> {
  return connection.send({ method: "POST", url: coreUrl(api, path), body: { properties } });
}

const idOf = ({ body }: Reply): string => {
  if (typeof body === "object" && body !== null && "id" in body && typeof body.id === "string") return body.id;
  throw new Error("an answer without an id");
};

async function datacenter(name: string): Promise<string> {
  const reply = await post("/datacenters", { name, location: "de/fra" });
  await steer("POST", "advance", { seconds: 3_600 });
  return idOf(reply);
}

describe("a creation", () => {
  test("answers with a request that goes from BUSY to DONE and names its target", async () => {
    const reply = await post("/datacenters", { name: "one", location: "de/fra" });
    expect(reply).toMatchObject({ status: 202, request: { id: expect.any(String) } });
    const url = reply.request?.url ?? "";
    expect(await requestStatus(connection, url)).toMatchObject({ status: "BUSY" });
    await steer("POST", "advance", { seconds: 3_600 });
    const targets = [{ id: idOf(reply), type: "datacenter", status: "DONE" }];
    expect(await requestStatus(connection, url)).toMatchObject({ status: "DONE", targets });
  });

  test("that fails says why, and leaves nothing", async () => {
    await steer("PUT", "faults", { rules: [{ fault: "request-failed", message: "[VDC-5-1] no room" }] });
    const reply = await post("/datacenters", { name: "doomed", location: "de/fra" });
    await steer("POST", "advance", { seconds: 3_600 });
    const state = await requestStatus(connection, reply.request?.url ?? "");
    expect(state).toMatchObject({ status: "FAILED", message: "[VDC-5-1] no room" });
    const source = coreCollection(connection, api, "/datacenters", { depth: 1 });
    expect(await source.get?.(idOf(reply), never)).toBeUndefined();
  });

  test("below a parent that is BUSY is refused for now", async () => {
    const id = await datacenter("parent");
    const url = coreUrl(api, `/datacenters/${id}`);
    await connection.send({ method: "PATCH", url, body: { name: "renamed" } });
    const refused = post(`/datacenters/${id}/lans`, { name: "lan", public: false });
    await expect(refused).rejects.toMatchObject({ kind: "Terminal", busy: true, quota: false, executed: "no" });
  });

  test("above the contract's limit is refused as such", async () => {
    const limits = (await steer("GET", "limits")).body;
    const id = await datacenter("full");
    await steer("PUT", "limits", { ...Object(limits), coresPerContract: 1 });
    const refused = post(`/datacenters/${id}/servers`, { name: "s", cores: 4, ram: 4_096 });
    await expect(refused).rejects.toMatchObject({ kind: "Terminal", quota: true, busy: false });
    await steer("PUT", "limits", Object(limits));
  });
});

describe("a collection", () => {
  test("shows an item in the same shape alone and in the list, at every depth", async () => {
    const id = await datacenter("shape");
    const lan = idOf(await post(`/datacenters/${id}/lans`, { name: "lan", public: true }));
    await steer("POST", "advance", { seconds: 3_600 });
    for (const depth of [1, 2, 3]) {
      for (const [path, member] of [
        ["/datacenters", id],
        [`/datacenters/${id}/lans`, lan],
      ] as const) {
        const source = coreCollection(connection, api, path, { depth });
        const listed = (await source.list(never, "normal")).find((each) => each.id === member);
        expect(listed).toMatchObject({ state: "AVAILABLE" });
        expect(await source.get?.(member, never)).toEqual(listed);
      }
    }
  });

  test("of more than a page is read completely", async () => {
    const count = 1_050;
    const properties = { name: "v", size: 1, type: "HDD", licenceType: "OTHER" };
    const items = Array.from({ length: count }, () => ({ properties }));
    const body = { properties: { name: "many", location: "de/fra" }, entities: { volumes: { items } } };
    const id = idOf(await connection.send({ method: "POST", url: coreUrl(api, "/datacenters"), body }));
    await steer("POST", "advance", { seconds: 3_600 });
    await steer("POST", "calls/reset");
    const source = coreCollection(connection, api, `/datacenters/${id}/volumes`, { depth: 1 });
    const volumes = await source.list(never, "normal");
    expect(new Set(volumes.map((each) => each.id)).size).toBe(count);
    expect((await steer("GET", "calls")).body).toMatchObject({ total: 2 });
  });

  test("of a parent that is not there is not found", async () => {
    const source = coreCollection(connection, api, `/datacenters/${crypto.randomUUID()}/servers`, { depth: 1 });
    await expect(source.list(never, "normal")).rejects.toMatchObject({ kind: "NotFound", errorCode: "309" });
  });

  test("follows a creation until it is available", async () => {
    const source = coreCollection(connection, api, "/datacenters", { depth: 1 });
    const collection = openCollection(source, { clock: systemClock, busyMs: 20 });
    const sent = performance.now();
    const reply = await post("/datacenters", { name: "followed", location: "de/fra" });
    const id = idOf(reply);
    collection.track(id, { since: sent, ...(reply.request && { url: reply.request.url }) });
    const available = until(collection, () => collection.read(id).item?.state === "AVAILABLE");
    await steer("POST", "advance", { seconds: 3_600 });
    await available;
    expect(collection.read(id).asOf).toBeGreaterThanOrEqual(sent);
    collection.close();
  });
});

describe("the request log", () => {
  test("finds what was sent, with body, user and targets, and nothing else", async () => {
    const id = await datacenter("logged");
    const other = await datacenter("other");
    const path = `/datacenters/${id}/lans`;
    const createdAfter = Date.parse((await steer("POST", "advance", { seconds: 1 })).headers.date ?? "");
    const lan = idOf(await post(path, { name: "wanted", public: true }));
    await post(`/datacenters/${other}/lans`, { name: "wanted", public: true });
    const found = await findRequests(connection, api, { method: "POST", url: path, createdAfter });
    expect(found).toHaveLength(1);
    const [logged] = found;
    expect(logged).toMatchObject({
      method: "POST",
      createdByUserId: connection.identity?.userId,
      status: "BUSY",
      targets: [{ id: lan, type: "lan" }],
    });
    expect(JSON.parse(logged?.body ?? "")).toEqual({ properties: { name: "wanted", public: true } });
    const later = { method: "POST", url: path, createdAfter: createdAfter + 3_600_000 };
    expect(await findRequests(connection, api, later)).toEqual([]);
  });
});

describe("the account", () => {
  test("knows its contract, its limits, and how much of them is used", async () => {
    const contract = await readContract(connection, api);
    expect(contract.contractNumber).toBe(simulator.ready.contractNumber);
    expect(contract.limits).toMatchObject({ coresPerContract: expect.any(Number) });
    expect(contract.limits).not.toHaveProperty("coresProvisioned");
    expect(contract.used).toMatchObject({ coresProvisioned: expect.any(Number) });
    expect(contract.used).not.toHaveProperty("coresPerContract");
    expect(connection.identity).toMatchObject({ contractNumber: simulator.ready.contractNumber });
    expect(connection.identity?.expiresAt).toBeGreaterThan(Date.now());
  });

  test("with a token that the platform does not know is unauthorized", async () => {
    const stranger = transport.connect("test/stranger", { token: "a.b.c" });
    await expect(readContract(stranger, api)).rejects.toMatchObject({ kind: "Unauthorized" });
  });
});

/** Resolves as soon as the collection reports a change that makes the condition true. */
function until(collection: Collection, condition: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    const stop = collection.subscribe(() => {
      if (!condition()) return;
      stop();
      resolve();
    });
  });
}
