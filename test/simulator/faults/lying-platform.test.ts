import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { serviceFor } from "../pipelines.ts";
import {
  type Answer,
  items,
  type Platform,
  platformForFile,
  refusal,
  resource,
  serverBody,
  startPlatform,
} from "../platform.ts";
import { groupBody, groups, scalerFor } from "../scaling.ts";
import { streamingOf } from "../streaming.ts";

/** Faults with which the platform gives wrong answers. */

const platform = await platformForFile();
const datacenter = await platform.datacenter();
afterEach(() => platform.faults());

const tokens = "/auth/v1/tokens";
const tokensIn = ({ body }: Answer) => z.object({ tokens: z.array(z.unknown()) }).parse(body).tokens;
const idsIn = (answer: Answer) => items(answer).map(({ id }) => id);
const list = async (path: string) => idsIn(await platform.call("GET", path));
const statusOf = async (path: string) => (await platform.call("GET", path)).status;

describe("404-everything", () => {
  const everything = { fault: "404-everything" };

  it("answers every path as a gateway does that knows none, and executes nothing", async () => {
    await platform.faults(everything);
    const calls = [
      platform.core("GET", datacenter),
      platform.core("GET", "/contracts"),
      platform.core("POST", "/datacenters", { properties: { name: "unheard", location: "de/fra" } }),
      platform.call("GET", "/monitoring/de-fra/pipelines", undefined, { authorization: null }),
      platform.call("GET", "/no/such/path"),
    ];
    for (const answer of await Promise.all(calls)) {
      expect(answer).toMatchObject({ status: 404, body: "default backend - 404" });
      expect(answer.headers.get("content-type")).toMatch(/^text\/plain/);
      expect(answer.headers.get("date")).not.toBeNull();
    }
    await platform.faults();
    await platform.advance(10);
    expect(items(await platform.core("GET", "/datacenters?depth=1&filter.name=unheard"))).toEqual([]);
  });

  it("leaves alone what it excepts, and does not count it", async () => {
    const except = ["GET /cloudapi/v6/contracts", "* /auth/*"];
    await platform.faults({ ...everything, except, skip: 1 });
    expect(await statusOf("/cloudapi/v6/contracts")).toBe(200);
    expect(await statusOf(tokens)).toBe(200);
    expect(await statusOf("/cloudapi/v6/datacenters")).toBe(200);
    expect(await statusOf("/cloudapi/v6/datacenters")).toBe(404);
    expect(await statusOf("/cloudapi/v6/contracts")).toBe(200);
  });

  it("answers with the platform's own message, when it is the platform that does not know the path", async () => {
    await platform.faults({ ...everything, body: "platform", route: "* /cloudapi/*" });
    refusal(await platform.core("GET", datacenter), 404, "309");
    expect(await statusOf(tokens)).toBe(200);
    await platform.faults({ ...everything, body: "platform" });
    refusal(await platform.call("GET", "/monitoring/de-fra/pipelines"), 404, "paas-monitoring-309");
  });

  it.each([{ body: "html" }, { except: ["/cloudapi/v6/contracts"] }, { keep: 1 }])("refuses %o", async (wrong) => {
    const { token } = platform.ready;
    const authorization = `Bearer ${token}`;
    const plan = { rules: [{ ...everything, ...wrong }] };
    expect((await platform.call("PUT", "/_simulator/faults", plan, { authorization })).status).toBe(422);
  });
});

describe("empty-lists", () => {
  it("leaves the items out of core lists, of all pages, and nothing else", async () => {
    const honest = await platform.core("GET", "/datacenters?depth=1&limit=1");
    await platform.datacenter();
    await platform.faults({ fault: "empty-lists" });
    const answer = await platform.core("GET", "/datacenters?depth=1&limit=1");
    const { items: _, _links: __, ...rest } = Object(honest.body);
    expect(answer).toMatchObject({ status: 200, body: { ...rest, items: [] } });
    expect(Object(answer.body)._links).toEqual({ self: expect.any(String) });
    expect(answer.headers.get("etag")).toBe(honest.headers.get("etag"));
    expect(resource(await platform.core("GET", `${datacenter}?depth=1`)).id).toBe(datacenter.split("/").at(-1));
    expect(await list(`/cloudapi/v6${datacenter}/servers`)).toEqual([]);
  });

  it("shows the first items of the list, when it keeps some, and none on later pages", async () => {
    const all = await list("/cloudapi/v6/locations");
    while ((await list("/cloudapi/v6/datacenters")).length < 3) await platform.datacenter();
    const made = await list("/cloudapi/v6/datacenters");
    await platform.faults({ fault: "empty-lists", keep: 2 });
    expect(await list("/cloudapi/v6/locations")).toEqual(all.slice(0, 2));
    expect(await list("/cloudapi/v6/datacenters?limit=1")).toEqual(made.slice(0, 1));
    expect(await list("/cloudapi/v6/datacenters?limit=1&offset=1")).toEqual(made.slice(1, 2));
    expect(await list("/cloudapi/v6/datacenters?limit=1&offset=2")).toEqual([]);
    const { _links } = Object((await platform.core("GET", "/datacenters?limit=2")).body);
    expect(_links).not.toHaveProperty("next");
    const first = Object((await platform.core("GET", "/datacenters?limit=1")).body);
    expect(first._links).toHaveProperty("next");
  });

  it("concerns the lists of all products, and not what was asked for by its id", async () => {
    const pipelines = serviceFor(platform, "logging");
    const pipeline = await pipelines.made();
    const streaming = await streamingOf(platform);
    const cluster = await streaming.cluster();
    const group = await scalerFor(platform).group(groupBody(datacenter, { minReplicaCount: 1 }));
    const [token] = tokensIn(await platform.call("GET", tokens));
    const { id } = z.object({ id: z.string() }).parse(token);
    const singles = [`/logging/de-txl${pipeline.path}`, `/streaming/de-fra${cluster}`, group, `${tokens}/${id}`];
    const lists = [
      "/logging/de-txl/pipelines",
      "/streaming/de-fra/clusters",
      `/streaming/de-fra${cluster}/users`,
      groups,
    ];
    for (const path of lists) expect(await list(path), path).not.toEqual([]);
    await platform.faults({ fault: "empty-lists" });
    for (const path of lists) expect(await list(path), path).toEqual([]);
    expect(tokensIn(await platform.call("GET", tokens))).toEqual([]);
    for (const path of singles) expect(await statusOf(path), path).toBe(200);

    await platform.faults({ fault: "empty-lists", single: true });
    for (const path of lists) expect(await list(path), path).toEqual([]);
    for (const path of singles) expect(await statusOf(path), path).toBe(404);
    refusal(await platform.core("GET", datacenter), 404, "309");
    refusal(await platform.call("GET", singles[0] ?? ""), 404, "paas-logging-309");
    const log = `/activitylog/v1/contracts/${platform.ready.contractNumber}`;
    expect(await statusOf(log)).toBe(200);
  });

  it("is not spent on writes", async () => {
    await platform.faults({ fault: "empty-lists", count: 1 });
    const { status } = await platform.core("PATCH", datacenter, { description: "as ever" });
    expect(status).toBe(202);
    expect(await list("/cloudapi/v6/datacenters")).toEqual([]);
    expect(await list("/cloudapi/v6/datacenters")).not.toEqual([]);
  });
});

describe("hidden-while-deleting", () => {
  const hidden = { fault: "hidden-while-deleting", count: 1 };
  const slow = { fault: "slow-provisioning", factor: 10, route: "DELETE *", count: 1 };
  const failing = { fault: "request-failed", message: "[VDC-1-1] still in use", route: "DELETE *", count: 1 };

  it("hides what is being deleted from lists and reads while its request is BUSY, and shows it when that has FAILED", async () => {
    const datacenter = await platform.datacenter();
    const server = await platform.made(`${datacenter}/servers`, serverBody());
    const { id, entities } = resource(await platform.core("GET", `${server}?depth=3`));
    const volume = `${datacenter}/volumes/${entities?.volumes?.items?.[0]?.id}`;
    await platform.faults(hidden, slow, failing);
    // Reads do not use up the fault.
    expect((await platform.core("GET", server)).status).toBe(200);
    const answer = await platform.core("DELETE", `${server}?deleteVolumes=true`);
    expect(answer.status).toBe(202);
    for (const path of [server, volume, `${server}/nics`]) refusal(await platform.core("GET", path), 404, "309");
    expect(await list(`/cloudapi/v6${datacenter}/servers`)).not.toContain(id);
    const { entities: below } = resource(await platform.core("GET", `${datacenter}?depth=2`));
    expect(below?.servers?.items).toEqual([]);
    expect(below?.volumes?.items).toEqual([]);
    expect(await platform.requestOf(answer)).toMatchObject({ status: "BUSY" });
    await platform.advance(60);
    expect(await platform.requestOf(answer)).toMatchObject({ status: "FAILED" });
    expect(await list(`/cloudapi/v6${datacenter}/servers`)).toContain(id);
    for (const path of [server, volume]) {
      expect(resource(await platform.core("GET", path)).metadata.state).toBe("AVAILABLE");
    }
    await platform.done("DELETE", `${server}?deleteVolumes=true`);
    refusal(await platform.core("GET", server), 404, "309");
  });

  it("leaves nothing when the request is DONE, and is not for a resource that is only changed", async () => {
    const path = await platform.datacenter();
    await platform.faults(hidden);
    expect((await platform.core("PATCH", path, { name: "renamed" })).status).toBe(202);
    await platform.advance(60);
    expect((await platform.core("GET", path)).status).toBe(200);
    const answer = await platform.core("DELETE", path);
    refusal(await platform.core("GET", path), 404, "309");
    expect(await platform.requestOf(answer)).toMatchObject({ status: "BUSY" });
    await platform.advance(60);
    expect(await platform.requestOf(answer)).toMatchObject({ status: "DONE" });
    refusal(await platform.core("GET", path), 404, "309");
  });

  it("is the same for the products without requests", async () => {
    const pipeline = `/monitoring/de-txl${(await serviceFor(platform, "monitoring").made()).path}`;
    const streaming = await streamingOf(platform);
    const cluster = await streaming.cluster();
    const topic = `/streaming/de-fra${await streaming.topic(cluster, { name: "orders" })}`;
    const zone = await platform.call("POST", "/dns/zones", { properties: { zoneName: "hidden.example" } });
    await platform.advance(60);
    const paths = [pipeline, topic, `/streaming/de-fra${cluster}`, `/dns/zones/${resource(zone).id}`];
    for (const path of paths) {
      const [collection, id] = [path.slice(0, path.lastIndexOf("/")), path.split("/").at(-1)];
      await platform.faults(hidden, failing);
      expect((await platform.call("DELETE", path)).status, path).toBe(202);
      expect(await statusOf(path), path).toBe(404);
      expect(await list(collection), path).not.toContain(id);
      await platform.advance(60);
      expect(resource(await platform.call("GET", path)).id, path).toBe(id);
      expect(await list(collection), path).toContain(id);
    }
  });

  it("goes on after a restart", async () => {
    const data = mkdtempSync(join(tmpdir(), "simulator-"));
    const first = await startPlatform({ data });
    const path = await first.datacenter();
    await first.core("POST", `${path}/labels`, { properties: { key: "env", value: "test" } });
    const labels = async (of: Platform) => items(await of.core("GET", "/labels")).length;
    expect(await labels(first)).toBe(1);
    await first.faults(hidden, slow, failing);
    expect((await first.core("DELETE", path)).status).toBe(202);
    refusal(await first.core("DELETE", path), 404, "309");
    expect(await labels(first)).toBe(0);
    await first.close();
    const second = await startPlatform({ data });
    refusal(await second.core("GET", path), 404, "309");
    await second.advance(120);
    expect((await second.core("GET", path)).status).toBe(200);
    expect(await labels(second)).toBe(1);
    await second.close();
    rmSync(data, { recursive: true, force: true });
  });

  it("hides an auto scaling group while its replicas go", async () => {
    const group = await scalerFor(platform).group(groupBody(await platform.datacenter()));
    await platform.faults(hidden);
    expect((await platform.call("DELETE", group)).status).toBe(204);
    expect(await statusOf(group)).toBe(404);
    expect(await list(groups)).not.toContain(group.split("/").at(-1));
  });
});
