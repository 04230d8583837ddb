import { DataCentersApi, RequestsApi, waitForRequest } from "@ionos-cloud/sdk-nodejs";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { type Answer, expectRefusal, idOf, known, sdkForFile } from "./sdk.ts";

const sdk = await sdkForFile();
const datacenters = new DataCentersApi(sdk.configuration);
const requests = new RequestsApi(sdk.configuration);

const create = (name: string) =>
  datacenters.datacentersPost({ datacenter: { properties: { name, location: "de/fra" } } });

/** The request of an accepted write. */
const requestOf = ({ headers }: Answer<unknown>) =>
  known(/\/requests\/([^/]+)\/status$/.exec(headers.location ?? "")?.[1]);

const statusOf = async (answer: Answer<unknown>) =>
  (await requests.requestsStatusGet({ requestId: requestOf(answer) })).data.metadata;

describe("a write", () => {
  it("is accepted, and its request goes from BUSY to DONE", async () => {
    const answer = await create("accepted");
    expect(answer.status).toBe(202);
    const target = { id: answer.data.id, type: "datacenter", href: answer.data.href };
    expect(await statusOf(answer)).toMatchObject({ status: "BUSY", targets: [{ target, status: "BUSY" }] });
    await sdk.platform.advance(60);
    expect(await statusOf(answer)).toMatchObject({ status: "DONE", targets: [{ target, status: "DONE" }] });
  });

  it("is written down with method, address and body", async () => {
    const answer = await create("noted");
    const { metadata, properties } = (await requests.requestsFindById({ requestId: requestOf(answer) })).data;
    expect(metadata).toMatchObject({ createdBy: sdk.platform.ready.username });
    expect(properties).toMatchObject({ method: "POST", url: `${sdk.basePath}/datacenters` });
    expect(JSON.parse(properties.body ?? "")).toEqual({ properties: { name: "noted", location: "de/fra" } });
  });

  it("that fails says why, and leaves nothing", async () => {
    const message = "[VDC-7-42] no room in de/fra";
    await sdk.platform.faults({ route: "POST *", fault: "request-failed", message, count: 1 });
    const answer = await create("doomed");
    expect(await sdk.ended(answer)).toMatchObject({ status: "FAILED", message });
    const found = datacenters.datacentersFindById({ datacenterId: idOf(answer.data) });
    await expectRefusal(found, 404);
  });

  it("on what is BUSY is refused until the SDK has waited", async () => {
    const answer = await create("busy");
    await sdk.platform.advance(1);
    const change = () =>
      datacenters.datacentersPatch({
        datacenterId: idOf(answer.data),
        datacenter: { name: "changed", location: "de/fra" },
      });
    await expectRefusal(change(), 422, "BUSY");
    await sdk.ended(answer);
    expect((await change()).status).toBe(202);
  });
});

describe("waitForRequest", () => {
  const callsShape = z.object({ byRoute: z.record(z.string(), z.number()) });

  it("asks until the request has ended", async () => {
    const { headers } = await create("awaited");
    await sdk.platform.steer("POST", "calls/reset");
    const waiting = waitForRequest(sdk.configuration, headers.location);
    const asked = async () => callsShape.parse(await sdk.platform.steer("GET", "calls")).byRoute;
    await expect.poll(asked).toEqual({ "GET /cloudapi/v6/requests/{requestId}/status": 1 });
    await sdk.platform.advance(60);
    expect((await waiting).data.metadata).toMatchObject({ status: "DONE" });
    expect(await asked()).toEqual({ "GET /cloudapi/v6/requests/{requestId}/status": 2 });
  });

  it("works with a user name and a password", async () => {
    const { username, password } = sdk.platform.ready;
    const { headers } = await create("basic");
    await sdk.platform.advance(60);
    const { data } = await waitForRequest(sdk.configured({ username, password }), headers.location);
    expect(data.metadata).toMatchObject({ status: "DONE" });
  });
});

describe("the log of requests", () => {
  it("is filtered by what the SDK has parameters for", async () => {
    await sdk.platform.advance(3600);
    const [first, second] = [await create("first"), await create("second")];
    await sdk.platform.faults({ route: "POST *", fault: "request-failed", count: 1 });
    const third = await create("third");
    const found = async (filter: object) =>
      (await requests.requestsGet({ depth: 1, filterUrl: "/datacenters", ...filter })).data.items?.map(idOf);
    const since = { filterCreatedAfter: first.headers.date && new Date(first.headers.date).toISOString() };
    expect(await found({ ...since, filterBody: "second" })).toEqual([requestOf(second)]);
    expect(await found({ ...since, filterRequestStatus: "RUNNING" })).toHaveLength(3);
    await sdk.platform.advance(60);
    expect(await found({ ...since, filterRequestStatus: "FAILED" })).toEqual([requestOf(third)]);
    expect(await found({ ...since, filterMethod: "DELETE" })).toEqual([]);
    expect(await found({ ...since, limit: 1, offset: 1 })).toEqual([requestOf(second)]);
  });
});
