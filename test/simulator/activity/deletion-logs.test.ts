import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { serviceFor } from "../pipelines.ts";
import { items, platformForFile, resource, serverBody } from "../platform.ts";
import { groupBody, scalerFor } from "../scaling.ts";
import { streamingOf } from "../streaming.ts";

/** Two logs show a deletion, with its user and its outcome. */

const platform = await platformForFile();
const streaming = await streamingOf(platform);
const datacenter = await platform.datacenter();
const cluster = await streaming.cluster();
afterEach(() => platform.faults());

const idOf = (path: string) => path.split("/").at(-1) ?? "";

describe("the request log", () => {
  const requestShape = z.object({
    metadata: z.object({
      createdBy: z.string(),
      createdDate: z.string(),
      requestStatus: z.object({
        metadata: z.object({
          status: z.string(),
          message: z.string(),
          targets: z.array(z.object({ target: z.object({ id: z.string(), type: z.string(), href: z.string() }) })),
        }),
      }),
    }),
    properties: z.object({ method: z.literal("DELETE"), url: z.string() }),
  });

  /** The deletions below a path in one list, newest first. */
  async function deletions(path: string) {
    const answer = await platform.core("GET", `/requests?depth=2&filter.method=DELETE&filter.url=${path}`);
    return items(answer).map((item) => {
      const { metadata, properties } = requestShape.parse(item);
      const { status, targets } = metadata.requestStatus.metadata;
      const names = targets.map(({ target }) => `${target.type} ${target.id}`);
      return { status, names, by: metadata.createdBy, path: new URL(properties.url).pathname.slice(12) };
    });
  }

  it("tells each deletion below a datacenter with its status, its user and what it is about", async () => {
    const datacenter = await platform.datacenter("de/txl");
    const other = await platform.datacenter();
    const servers = `${datacenter}/servers`;
    const [kept, gone, failed] = [
      await platform.made(servers, serverBody()),
      await platform.made(servers, serverBody()),
      await platform.made(servers, serverBody()),
    ];
    const volumeOf = async (server: string) =>
      `volume ${resource(await platform.core("GET", `${server}?depth=3`)).entities?.volumes?.items?.[0]?.id}`;
    const volumes = [await volumeOf(gone), await volumeOf(failed)];
    await platform.done("DELETE", kept);
    await platform.done("DELETE", `${gone}?deleteVolumes=true`);
    await platform.faults({ fault: "request-failed", route: "DELETE *", count: 1 });
    await platform.core("DELETE", `${failed}?deleteVolumes=true`);
    await platform.advance(60);
    await platform.core("DELETE", other);
    await platform.core("DELETE", datacenter);
    const by = platform.ready.username;
    const of = (path: string, status: string, more: string[] = []) => ({
      status,
      names: [`${path === datacenter ? "datacenter" : "server"} ${idOf(path)}`, ...more],
      by,
      path,
    });
    const ended = [of(failed, "FAILED", volumes.slice(1)), of(gone, "DONE", volumes.slice(0, 1)), of(kept, "DONE")];
    expect(await deletions(datacenter)).toEqual([of(datacenter, "BUSY"), ...ended]);
    await platform.advance(60);
    expect(await deletions(datacenter)).toEqual([of(datacenter, "DONE"), ...ended]);
  });

  it("is the same for what lies in no datacenter, and for user management", async () => {
    const block = await platform.made("/ipblocks", { properties: { location: "de/fra", size: 1 } });
    await platform.done("DELETE", block);
    expect(await deletions(block)).toMatchObject([{ status: "DONE", names: [`ipblock ${idOf(block)}`] }]);
    const made = await platform.core("POST", "/um/groups", { properties: { name: "auditors" } });
    const group = `/um/groups/${resource(made).id}`;
    expect((await platform.core("DELETE", group)).status).toBe(200);
    expect(await deletions(group)).toMatchObject([{ status: "DONE", names: [`group ${idOf(group)}`] }]);
  });
});

describe("the activity log", () => {
  const entryShape = z.object({
    _source: z.object({
      time: z.iso.datetime(),
      user: z.string(),
      event: z.object({
        type: z.string(),
        status: z.string(),
        message: z.string(),
        param: z.looseObject({ action: z.string(), uri: z.string() }),
        resources: z.array(z.object({ type: z.string(), id: z.string(), action: z.array(z.string()) })),
      }),
    }),
  });
  const logShape = z.object({ hits: z.object({ hits: z.array(entryShape) }) });

  /** The entries about one resource from its deletion on, oldest first. */
  async function reported(id: string) {
    const path = `/activitylog/v1/contracts/${platform.ready.contractNumber}?limit=1000`;
    const { hits } = logShape.parse((await platform.call("GET", path)).body).hits;
    return hits
      .map(({ _source }) => _source)
      .filter(({ event }) => event.param.action === "DELETE")
      .flatMap(({ event, user, time }) =>
        event.resources
          .filter((each) => each.id === id)
          .map(({ type, action }) => ({ ...event, resource: { type, action }, user, time })),
      );
  }
  const steps = async (id: string) => (await reported(id)).map(({ type, status }) => `${type} ${status}`);

  const pipeline = (service: "monitoring" | "logging") => async () =>
    `/${service}/de-txl${(await serviceFor(platform, service).made()).path}`;
  const products: [string, () => Promise<string>, string][] = [
    ["metric pipeline", pipeline("monitoring"), "monitoring.pipeline.delete"],
    ["log pipeline", pipeline("logging"), "logging.pipeline.delete"],
    [
      "topic",
      async () => `/streaming/de-fra${await streaming.topic(cluster, { name: `t-${crypto.randomUUID()}` })}`,
      "streaming.topic.delete",
    ],
    ["cluster", async () => `/streaming/de-fra${await streaming.cluster()}`, "streaming.cluster.delete"],
    [
      "DNS zone",
      async () => {
        const properties = { zoneName: `${crypto.randomUUID()}.example` };
        return `/dns/zones/${resource(await platform.call("POST", "/dns/zones", { properties })).id}`;
      },
      "dns.zone.delete",
    ],
    [
      "server",
      async () => `/cloudapi/v6${await platform.made(`${datacenter}/servers`, serverBody())}`,
      "vr.server.delete",
    ],
  ];

  it.each(products)("tells who deleted a %s and when, and how it ended", async (_, make, action) => {
    const path = await make();
    await platform.advance(60);
    expect((await platform.call("DELETE", path)).status).toBe(202);
    const [accepted, ...others] = await reported(idOf(path));
    const [, type = ""] = action.split(".");
    const resourceReported = { type, action: [action] };
    expect(others).toEqual([]);
    const uri = path;
    expect(accepted).toMatchObject({
      type: "RequestAccepted",
      status: "QUEUED",
      user: platform.ready.username,
      param: { action: "DELETE", uri },
      resource: resourceReported,
    });
    await platform.advance(60);
    const end = (await reported(idOf(path))).at(-1);
    expect(end).toMatchObject({
      status: "DONE",
      user: platform.ready.username,
      param: { action: "DELETE", uri },
      resource: resourceReported,
    });
    expect(Date.parse(end?.time ?? "")).toBeGreaterThan(Date.parse(accepted?.time ?? ""));
  });

  it.each(products)("tells that the deletion of a %s FAILED, and why", async (_, make) => {
    const path = await make();
    await platform.advance(60);
    await platform.faults({ fault: "request-failed", message: "[VDC-1-1] in use", route: "DELETE *", count: 1 });
    await platform.call("DELETE", path);
    await platform.advance(60);
    expect((await reported(idOf(path))).at(-1)).toMatchObject({ status: "FAILED", message: "[VDC-1-1] in use" });
  });

  it("tells the deletion of an auto scaling group, and its end when the last replica has gone", async () => {
    const group = await scalerFor(platform).group(groupBody(await platform.datacenter()));
    const { token } = await platform.user("scaler@example.org", { role: "administrator" });
    const authorization = `Bearer ${token}`;
    const { createdDate } = resource(await platform.call("GET", group)).metadata;
    expect((await platform.call("DELETE", group, undefined, { authorization })).status).toBe(204);
    expect(await steps(idOf(group))).toEqual(["RequestAccepted QUEUED"]);
    await platform.advance(600);
    const entries = await reported(idOf(group));
    expect(entries).toMatchObject([
      { type: "RequestAccepted", status: "QUEUED" },
      { type: "Provision", status: "DONE" },
    ]);
    for (const entry of entries) {
      expect(entry).toMatchObject({
        user: "scaler@example.org",
        param: { uri: group },
        resource: { type: "group", action: ["autoscaling.group.delete"] },
      });
      expect(entry.time > String(createdDate)).toBe(true);
    }
  });

  it("tells each token that was deleted, by its id or by what they have in common", async () => {
    const { token } = await platform.user("tokens@example.org");
    const authorization = `Bearer ${token}`;
    const call = (method: string, path: string) => platform.call(method, path, undefined, { authorization });
    await call("GET", "/auth/v1/tokens/generate?ttl=3600");
    const shape = z.object({ tokens: z.array(z.object({ id: z.string() })) });
    const ids = shape.parse((await call("GET", "/auth/v1/tokens")).body).tokens.map(({ id }) => id);
    expect(ids).toHaveLength(2);
    const entry = {
      status: "DONE",
      user: "tokens@example.org",
      resource: { type: "token", action: ["auth.token.delete"] },
    };
    await call("GET", "/auth/v1/tokens/generate?ttl=3600");
    const single = shape.parse((await call("GET", "/auth/v1/tokens")).body).tokens.find(({ id }) => !ids.includes(id));
    await call("DELETE", `/auth/v1/tokens/${single?.id}`);
    await call("DELETE", "/auth/v1/tokens?criteria=ALL");
    for (const id of [single?.id ?? "", ...ids]) expect(await reported(id)).toMatchObject([entry]);
  });

  it("tells the end after the beginning, also of what is deleted at once", async () => {
    const block = await platform.made("/ipblocks", { properties: { location: "de/fra", size: 1 } });
    const [ip] = z.array(z.string()).parse(resource(await platform.core("GET", block)).properties.ips);
    const properties = { name: "mail.example.org", ip };
    const { id } = resource(await platform.call("POST", "/dns/reverserecords", { properties }));
    expect((await platform.call("DELETE", `/dns/reverserecords/${id}`)).status).toBe(202);
    expect(await steps(id)).toEqual(["RequestAccepted QUEUED", "Provision DONE"]);
  });
});
