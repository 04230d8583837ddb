import { describe, expect, it } from "vitest";
import { z } from "zod";
import { items, platformForFile, refusal, resource, serverBody } from "../platform.ts";

const platform = await platformForFile();
const datacenter = await platform.datacenter();

const requestPath = (location: string | null) => new URL(location ?? "").pathname.replace("/cloudapi/v6", "");

describe("the life of a request", () => {
  it("goes from BUSY to DONE, with its targets", async () => {
    const answer = await platform.core("POST", `${datacenter}/volumes`, {
      properties: { size: 1, licenceType: "OTHER" },
    });
    const path = requestPath(answer.headers.get("location"));
    const status = (value: string) => ({
      id: path.split("/requests/")[1],
      type: "request-status",
      href: `${platform.ready.endpoints.api}/cloudapi/v6${path}`,
      metadata: {
        status: value,
        message: expect.any(String),
        etag: expect.any(String),
        targets: [{ target: { id: resource(answer).id, type: "volume", href: resource(answer).href }, status: value }],
      },
    });
    expect((await platform.core("GET", path)).body).toEqual(status("BUSY"));
    await platform.advance(7);
    expect((await platform.core("GET", path)).body).toEqual(status("DONE"));
  });

  it.each([
    ["server", "/servers", serverBody()],
    ["volume", "/volumes", { properties: { size: 1, licenceType: "OTHER" } }],
    ["LAN", "/lans", { properties: {} }],
    ["IP block", "/ipblocks", { properties: { location: "de/fra", size: 1 } }],
  ])("makes a %s that is 404 until it can be seen, then BUSY, then AVAILABLE", async (_, collection, body) => {
    const under = collection === "/ipblocks" ? collection : (await platform.datacenter()) + collection;
    const answer = await platform.core("POST", under, body);
    const read = () => platform.core("GET", `${under}/${resource(answer).id}`);
    let seen = await read();
    refusal(seen, 404, "309");
    while (seen.status === 404) {
      await platform.advance(0.1);
      seen = await read();
    }
    expect(resource(seen).metadata.state).toBe("BUSY");
    expect(await platform.requestOf(answer)).toMatchObject({ status: "BUSY" });
    await platform.advance(15);
    expect(await platform.requestOf(answer)).toMatchObject({ status: "DONE" });
    expect(resource(await read()).metadata.state).toBe("AVAILABLE");
  });

  it("ends FAILED with the reason; a creation leaves nothing, not even the LAN it needed", async () => {
    await platform.faults({ route: "POST */servers", fault: "request-failed", message: "[VDC-9-9] no host", count: 1 });
    const answer = await platform.core("POST", `${datacenter}/servers`, serverBody({}, {}, { lan: 66 }));
    expect(answer.status).toBe(202);
    await platform.advance(1.5);
    expect((await platform.core("GET", `${datacenter}/servers/${resource(answer).id}`)).status).toBe(200);
    await platform.advance(30);
    expect(await platform.requestOf(answer)).toMatchObject({ status: "FAILED", message: "[VDC-9-9] no host" });
    refusal(await platform.core("GET", `${datacenter}/servers/${resource(answer).id}`), 404, "309");
    refusal(await platform.core("GET", `${datacenter}/lans/66`), 404, "309");
    expect(items(await platform.core("GET", `${datacenter}/volumes?depth=1&filter.name=os`))).toEqual([]);
  });

  it("keeps a LAN that a failed creation made when others use it by then", async () => {
    await platform.faults({ route: "POST */servers", fault: "request-failed", count: 1 });
    await platform.core("POST", `${datacenter}/servers`, serverBody({}, {}, { lan: 67 }));
    await platform.core("POST", `${datacenter}/servers`, serverBody({}, {}, { lan: 67 }));
    await platform.advance(30);
    expect(await platform.core("GET", `${datacenter}/lans/67`)).toMatchObject({
      status: 200,
      body: { metadata: { state: "AVAILABLE" } },
    });
  });

  it("gives a failed update its old values back and leaves a failed deletion AVAILABLE", async () => {
    const path = await platform.datacenter();
    await platform.faults({ route: "* /cloudapi/v6/datacenters/{datacenterId}", fault: "request-failed", count: 2 });
    const patched = await platform.core("PATCH", path, { name: "new" });
    expect(resource(patched).properties.name).toBe("new");
    await platform.advance(5);
    expect(await platform.requestOf(patched)).toMatchObject({ status: "FAILED" });
    expect(await platform.core("GET", path)).toMatchObject({
      body: { metadata: { state: "AVAILABLE" }, properties: { name: "prod" } },
    });
    const deleted = await platform.core("DELETE", path);
    await platform.advance(5);
    expect(await platform.requestOf(deleted)).toMatchObject({ status: "FAILED" });
    expect(resource(await platform.core("GET", path)).metadata.state).toBe("AVAILABLE");
  });

  it("takes believable time", async () => {
    const seconds = async (method: string, path: string, body?: object) => {
      const answer = await platform.core(method, path, body);
      let waited = 0;
      while ((await platform.requestOf(answer)).status === "BUSY") {
        await platform.advance(0.5);
        waited += 0.5;
      }
      return waited;
    };
    const path = await platform.datacenter();
    const server = await seconds("POST", `${path}/servers`, serverBody());
    expect(server).toBeGreaterThanOrEqual(5);
    expect(server).toBeLessThanOrEqual(12.5);
    const update = await seconds("PATCH", path, { name: "x" });
    expect(update).toBeGreaterThanOrEqual(2);
    expect(update).toBeLessThanOrEqual(4.5);
  });
});

describe("the request log", () => {
  it("keeps method, url, body and headers, but no credentials", async () => {
    const path = await platform.datacenter();
    const body = { properties: { name: "é", size: 1, licenceType: "OTHER" } };
    const answer = await platform.core("POST", `${path}/volumes?depth=1`, body);
    const request = requestPath(answer.headers.get("location")).replace("/status", "");
    const logged = resource(await platform.core("GET", request));
    expect(logged).toMatchObject({
      type: "request",
      metadata: {
        createdBy: platform.ready.username,
        requestStatus: { id: `${request.split("/")[2]}/status`, type: "request-status" },
      },
      properties: {
        method: "POST",
        url: `${platform.ready.endpoints.api}/cloudapi/v6${path}/volumes?depth=1`,
        body: JSON.stringify(body),
        headers: { "content-type": "application/json" },
      },
    });
    expect(logged.properties.headers).not.toHaveProperty("authorization");
    expect(JSON.stringify(logged)).not.toContain(platform.ready.token);
  });

  it("shows references at depth 0, properties at 1 and the status with its targets at 2", async () => {
    const [at0, at1, at2] = await Promise.all(
      [0, 1, 2].map(async (depth) => items(await platform.core("GET", `/requests?depth=${depth}&limit=1`))[0]),
    );
    expect(Object.keys(at0 ?? {})).toEqual(["id", "type", "href"]);
    expect(at1).toMatchObject({ properties: { body: expect.any(String) }, metadata: { requestStatus: {} } });
    expect(at1).not.toHaveProperty("metadata.requestStatus.metadata");
    expect(at2).toMatchObject({ metadata: { requestStatus: { metadata: { status: "BUSY", targets: [{}] } } } });
  });

  const ids = async (query: string) => items(await platform.core("GET", `/requests?${query}`)).map((item) => item.id);

  it("is paged, newest first", async () => {
    const answer = await platform.core("GET", "/requests?limit=2");
    expect(answer.body).toMatchObject({
      offset: 0,
      limit: 2,
      _links: { self: expect.any(String), next: expect.any(String) },
    });
    const all = await ids("");
    expect(await ids("limit=2&offset=1")).toEqual(all.slice(1, 3));
  });

  it("is searched by status, where QUEUED and RUNNING mean BUSY", async () => {
    await platform.advance(60);
    const { headers } = await platform.core("POST", "/datacenters", { properties: { name: "q", location: "de/fra" } });
    const id = requestPath(headers.get("location")).split("/")[2];
    for (const status of ["BUSY", "QUEUED", "RUNNING"]) {
      expect(await ids(`filter.status=${status}`)).toEqual([id]);
      expect(await ids(`depth=1&filter.requestStatus=${status}`)).toEqual([id]);
    }
    expect(await ids("filter.status=DONE")).not.toContain(id);
    expect((await ids("filter.status=FAILED")).length).toBeGreaterThan(0);
  });

  it("is searched by time, method, url, body and user", async () => {
    await platform.advance(3600);
    const { now } = z.looseObject({ now: z.string() }).parse(await platform.steer("GET", "state"));
    const after = now.slice(0, 19).replace("T", " ");
    await platform.advance(60);
    const path = "/datacenters";
    const { token } = await platform.user("searcher@example.org");
    const answer = await platform.core(
      "POST",
      path,
      { properties: { name: "needle", location: "de/fra" } },
      { authorization: `Bearer ${token}` },
    );
    const id = requestPath(answer.headers.get("location")).split("/")[2];
    const created = String(resource(answer).metadata.createdDate).slice(0, 19).replace("T", " ");
    const since = `filter.createdAfter=${encodeURIComponent(after)}`;
    expect(await ids(since)).toEqual([id]);
    expect(await ids(`filter.createdBefore=${encodeURIComponent(after)}`)).not.toContain(id);
    expect(await ids(`depth=2&${since}&filter.method=POST&filter.url=/datacenters`)).toEqual([id]);
    expect(await ids(`depth=2&${since}&filter.method=DELETE`)).toEqual([]);
    expect(await ids("depth=1&filter.body=needle")).toEqual([id]);
    expect(await ids("depth=1&filter.createdBy=searcher@")).toEqual([id]);
    expect(await ids(`depth=1&filter.createdDate=${encodeURIComponent(created)}`)).toEqual([id]);
    refusal(await platform.core("GET", "/requests?filter.createdAfter=yesterday"), 422, "100");
  });

  it("answers 404 for what it does not know", async () => {
    refusal(await platform.core("GET", "/requests/x"), 404, "309");
    refusal(await platform.core("GET", "/requests/x/status"), 404, "309");
  });
});
