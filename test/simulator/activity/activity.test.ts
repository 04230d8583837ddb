import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createActivity, mostEntries, mostReads } from "../../../src/simulator/activity/log.ts";
import { actionName } from "../../../src/simulator/activity/names.ts";
import { createChance } from "../../../src/simulator/chance.ts";
import { noInjection } from "../../../src/simulator/faults/chooser.ts";
import { createDocuments } from "../../../src/simulator/store/documents.ts";
import { serviceFor } from "../pipelines.ts";
import { type CallOptions, type Platform, platformForFile, refusal, resource, startPlatform } from "../platform.ts";

const sourceShape = z.looseObject({
  action: z.string(),
  resource: z.string(),
  user: z.string(),
  time: z.iso.datetime(),
  meta: z.object({
    time: z.iso.datetime(),
    requestId: z.string(),
    queueRefId: z.int(),
    transactionId: z.string(),
    auditVersion: z.number(),
  }),
  principal: z.object({
    identity: z.object({ contractNumber: z.int(), username: z.string() }),
    sourceService: z.string(),
    sourceIP: z.string(),
    serviceHost: z.string(),
  }),
  event: z.looseObject({
    type: z.string(),
    status: z.string(),
    message: z.string(),
    param: z.looseObject({ action: z.string(), uri: z.string() }),
    resources: z.array(z.object({ type: z.string(), id: z.string(), action: z.array(z.string()) })),
  }),
});
const pageShape = z.object({
  hits: z.object({ total: z.int(), hits: z.array(z.object({ _source: sourceShape })) }),
});

const pathOf = ({ ready }: Platform, query = "") => `/activitylog/v1/contracts/${ready.contractNumber}${query}`;

async function page(platform: Platform, query: string, options?: CallOptions) {
  const answer = await platform.call("GET", pathOf(platform, query), undefined, options);
  expect(answer).toMatchObject({ status: 200 });
  const { total, hits } = pageShape.parse(answer.body).hits;
  return { total, sources: hits.map(({ _source }) => _source) };
}

const everything = async (platform: Platform, query = "") => (await page(platform, `?limit=1000${query}`)).sources;
/** Without reads. */
const all = async (platform: Platform, query = "") =>
  (await everything(platform, query)).filter(({ event }) => event.type !== "Read");
const told = (sources: z.infer<typeof sourceShape>[]) =>
  sources.map(({ action, event }) => `${event.type} ${event.status} ${action}`);

describe("the activity log", () => {
  it("tells its version, and the contract of the caller", async () => {
    const platform = await platformOf();
    const { contractNumber, endpoints } = platform.ready;
    const href = `${endpoints.api}/activitylog/v1`;
    const version = { href, name: "Activity Log", version: "1.0" };
    expect(await platform.call("GET", "/activitylog/v1")).toMatchObject({ status: 200, body: version });
    expect((await platform.call("GET", "/activitylog/v1/contracts")).body).toEqual([
      { id: contractNumber, type: "contracts", href: `${href}/contracts/${contractNumber}` },
    ]);
  });

  it("has every write and every step of its provisioning, in both forms of the wire", async () => {
    const platform = await platformOf();
    const made = await platform.core("POST", "/datacenters", { properties: { name: "prod", location: "de/fra" } });
    await platform.advance(60);
    const { id } = resource(made);
    const sources = await all(platform);
    expect(told(sources)).toEqual([
      "RequestAccepted QUEUED vr.datacenter.create",
      "Provision DONE vr.datacenter.create",
      "RequestStatusUpdate DONE vr.datacenter.create",
    ]);
    const requestId = made.headers.get("location")?.split("/").at(-2);
    expect(sources[0]).toMatchObject({
      user: platform.ready.username,
      resource: `datacenter/${id}`,
      meta: { requestId },
      principal: {
        identity: { contractNumber: platform.ready.contractNumber, username: platform.ready.username },
        sourceService: "PUBLIC_REST_V6",
        sourceIP: "127.0.0.1",
        serviceHost: new URL(platform.ready.endpoints.api).host,
      },
      event: {
        param: { action: "POST", uri: "/cloudapi/v6/datacenters", initiator: platform.ready.username },
        resources: [{ type: "datacenter", id, action: ["vr.datacenter.create"] }],
      },
    });
    expect(sources.map(({ time }) => time)).toEqual(sources.map(({ meta }) => meta.time));
    expect(new Set(sources.map(({ meta }) => `${meta.requestId} ${meta.queueRefId} ${meta.transactionId}`)).size).toBe(
      1,
    );
  });

  it("has what failed, and what was refused, with the platform's error", async () => {
    const platform = await platformOf();
    await platform.faults({ fault: "request-failed", message: "[VDC-1-1] no room", route: "POST *", count: 1 });
    const failing = await platform.core("POST", "/ipblocks", { properties: { location: "de/fra", size: 1 } });
    expect(failing.status).toBe(202);
    await platform.advance(60);
    await platform.core("DELETE", "/datacenters/00000000-0000-4000-8000-000000000000");
    const sources = await all(platform);
    expect(told(sources)).toEqual([
      "RequestAccepted QUEUED ip.ipblock.reserve",
      "RequestStatusUpdate FAILED ip.ipblock.reserve",
      "Error FAILED vr.datacenter.delete",
    ]);
    expect(sources[1]?.event).toMatchObject({ message: "[VDC-1-1] no room", param: { errorCode: "Provisioning" } });
    const error = { httpStatus: 404, messages: [{ errorCode: "309", message: "Request was refused with 404" }] };
    expect(sources[2]).toMatchObject({
      resource: "datacenter/00000000-0000-4000-8000-000000000000",
      event: { param: { error, errorCode: "309" } },
    });
  });

  it("has the writes of the other products and of user management", async () => {
    const platform = await platformOf();
    await serviceFor(platform, "logging", "de-fra").made();
    await platform.core("POST", "/um/groups", { properties: { name: "auditors" } });
    await platform.call("GET", "/auth/v1/tokens/generate?ttl=3600");
    await platform.call("DELETE", "/auth/v1/tokens?criteria=EXPIRED");
    expect(told(await all(platform))).toEqual([
      "RequestAccepted QUEUED logging.pipeline.create",
      "Provision DONE logging.pipeline.create",
      "RequestAccepted DONE sec.group.create",
      "GenerateToken DONE auth.token.create",
      "RequestAccepted DONE auth.token.delete",
    ]);
  });

  it("has every read, of one thing or of a list, answered or refused, with what was read", async () => {
    const platform = await platformOf();
    const datacenter = await platform.datacenter();
    const id = datacenter.split("/").at(-1);
    await platform.core("GET", "/datacenters");
    await platform.core("GET", "/datacenters/00000000-0000-4000-8000-000000000000");
    await serviceFor(platform, "logging", "de-fra").call("GET", "/pipelines");
    const reads = (await everything(platform)).filter(({ event }) => event.type === "Read");
    const shown = reads.map(({ action, resource: about, event, user }) => [action, about, event.status, user]);
    const { username } = platform.ready;
    expect(shown).toEqual(
      expect.arrayContaining([
        ["vr.datacenter.read", "datacenter", "DONE", username],
        ["vr.datacenter.read", "datacenter/00000000-0000-4000-8000-000000000000", "FAILED", username],
        ["logging.pipeline.read", "pipeline", "DONE", username],
      ]),
    );
    await platform.call("GET", `/cloudapi/v6${datacenter}`);
    expect((await everything(platform)).at(-1)).toMatchObject({
      action: "vr.datacenter.read",
      resource: `datacenter/${id}`,
      event: { param: { action: "GET", uri: `/cloudapi/v6${datacenter}` } },
    });
  });

  it("does not log who reads the logs", async () => {
    const platform = await platformOf();
    await platform.core("DELETE", "/ipblocks/1");
    await platform.core("GET", "/requests");
    await platform.call("GET", "/activitylog/v1/contracts");
    expect(await everything(platform)).toHaveLength(1);
  });

  it("has logins by password, and those that failed", async () => {
    const platform = await platformOf();
    const { username, password, token } = platform.ready;
    const as = (authorization: string) => platform.call("GET", "/cloudapi/v6/locations", undefined, { authorization });
    const basic = (secret: string) => `Basic ${Buffer.from(`${username}:${secret}`).toString("base64")}`;
    expect((await as(basic(password))).status).toBe(200);
    expect((await as(basic("wrong-canary"))).status).toBe(401);
    const [head, body, signature = ""] = token.split(".");
    expect((await as(`Bearer ${head}.${body}.${signature.split("").toReversed().join("")}`)).status).toBe(401);
    expect((await as("Bearer nonsense")).status).toBe(401);
    const sources = await all(platform);
    expect(told(sources)).toEqual([
      "Login DONE auth.user.login",
      "Login FAILED auth.user.login",
      "Login FAILED auth.user.login",
    ]);
    for (const source of sources) {
      expect(source).toMatchObject({ user: username, principal: { sourceIP: "127.0.0.1" } });
      expect(source.resource).toMatch(/^user\/./);
    }
    expect(JSON.stringify(sources)).not.toMatch(/wrong-canary/);
  });

  it("names the token that was made", async () => {
    const platform = await platformOf();
    const minted = await platform.call("GET", "/auth/v1/tokens/generate?ttl=3600");
    const [header = ""] = z.object({ token: z.string() }).parse(minted.body).token.split(".");
    const { kid } = z.looseObject({ kid: z.string() }).parse(JSON.parse(Buffer.from(header, "base64url").toString()));
    expect(await all(platform)).toMatchObject([{ action: "auth.token.create", resource: `token/${kid}` }]);
  });

  it("has every question to a model as a read of that model, and never the words", async () => {
    const platform = await platformOf();
    const messages = [{ role: "user", content: "hello" }];
    const { body } = await platform.call("GET", "/inference/v1/models");
    const [model] = z.object({ data: z.array(z.object({ id: z.string() })) }).parse(body).data;
    const ask = (id: string | undefined) =>
      platform.call("POST", "/inference/v1/chat/completions", { model: id, messages });
    expect((await ask(model?.id)).status).toBe(200);
    expect((await ask("none-canary")).status).toBeGreaterThan(399);
    const asked = (await everything(platform)).filter(({ event }) => event.param.action === "POST");
    expect(asked.map(({ action, resource: about, event }) => [action, about, event.status])).toEqual([
      ["inference.model.read", `model/${model?.id}`, "DONE"],
      ["inference.model.read", "model", "FAILED"],
    ]);
    expect(JSON.stringify(asked)).not.toMatch(/hello|canary/);
    expect(await all(platform)).toEqual([]);
  });

  it.each([
    ["POST", "/datacenters/d/servers", "server", "vr.server.create"],
    ["PATCH", "/datacenters/d/servers/s", "server", "vr.server.update"],
    ["POST", "/datacenters/d/servers/s/reboot", "server", "vr.server.reboot"],
    ["POST", "/datacenters/d/servers/s/volumes", "volume", "vr.volume.attach"],
    ["DELETE", "/datacenters/d/servers/s/volumes/v", "volume", "vr.volume.detach"],
    ["DELETE", "/datacenters/d/volumes/v", "volume", "vr.volume.delete"],
    ["POST", "/datacenters/d/volumes/v/create-snapshot", "snapshot", "sn.snapshot.create"],
    ["POST", "/datacenters/d/volumes/v/restore-snapshot", "volume", "vr.volume.restore"],
    ["DELETE", "/ipblocks/i", "ipblock", "ip.ipblock.release"],
    ["PUT", "/um/users/u", "user", "sec.user.update"],
    ["POST", "/k8s", "k8s", "vr.k8s.create"],
  ])("calls %s %s of a %s %s", (method, path, type, action) => {
    expect(actionName(method, `/cloudapi/v6${path}`, type)).toBe(action);
  });

  it("never has a body, a query or a token in it", async () => {
    const platform = await platformOf();
    const secret = "canary-4711";
    const user = { firstname: "a", lastname: "b", email: "c@example.org", administrator: false, password: secret };
    expect((await platform.core("POST", "/um/users", { properties: user })).status).toBe(201);
    await platform.core("POST", "/um/users", { properties: { ...user, email: secret, administrator: secret } });
    const minted = await platform.call("GET", "/auth/v1/tokens/generate?ttl=3600");
    const { token } = z.object({ token: z.string() }).parse(minted.body);
    await platform.core("POST", `/datacenters?note=${secret}`, { properties: { name: secret, location: secret } });
    await platform.call("POST", "/logging/de-fra/pipelines", { properties: { name: "x", logs: secret } });
    const text = JSON.stringify(await all(platform));
    expect(text).toContain("GenerateToken");
    for (const value of [secret, token, platform.ready.token, platform.ready.password])
      expect(text).not.toContain(value);
  });

  it("is paged by 20 unless asked otherwise, until an empty page, oldest first", async () => {
    const platform = await platformOf();
    for (let nth = 0; nth < 23; nth += 1) await platform.core("DELETE", `/ipblocks/${nth}`);
    expect((await page(platform, "")).sources).toHaveLength(20);
    const seen: string[] = [];
    for (let offset = 0; ; offset += 9) {
      const { total, sources } = await page(platform, `?offset=${offset}&limit=9`);
      expect(total).toBe(23);
      if (sources.length === 0) break;
      seen.push(...sources.map(({ resource }) => resource));
    }
    expect(seen).toEqual(Array.from({ length: 23 }, (_, nth) => `ipblock/${nth}`));
    for (const wrong of ["limit=0", "limit=1001", "offset=-1", "limit=x"]) {
      refusal(await platform.call("GET", pathOf(platform, `?${wrong}`)), 422, "100");
    }
  });

  it("takes both spellings of the dates: endDate is a whole day, dateEnd is exclusive, startDate and endDate win", async () => {
    const platform = await platformOf();
    const days: string[] = [];
    for (let nth = 0; nth < 3; nth += 1) {
      await platform.core("DELETE", `/ipblocks/${nth}`);
      days.push((await all(platform)).at(-1)?.time ?? "");
      await platform.advance(86_400);
    }
    const dates = days.map((time) => time.slice(0, 10));
    const of = async (query: string) => (await all(platform, query)).map(({ resource }) => resource.slice(-1)).join("");
    expect(await of(`&startDate=${dates[1]}`)).toBe("12");
    expect(await of(`&endDate=${dates[1]}`)).toBe("01");
    expect(await of(`&startDate=${dates[1]}&endDate=${dates[1]}`)).toBe("1");
    expect(await of(`&dateStart=${dates[1]}&dateEnd=${dates[2]}`)).toBe("1");
    expect(await of(`&dateStart=${days[1]}&dateEnd=${days[2]}`)).toBe("1");
    expect(await of(`&startDate=${dates[0]}&dateStart=${dates[2]}&endDate=${dates[0]}&dateEnd=${dates[2]}`)).toBe("0");
    for (const wrong of [`startDate=${days[0]}`, "endDate=2026-02-30", "dateStart=yesterday", "dateEnd=2026-13-01"]) {
      expect(refusal(await platform.call("GET", pathOf(platform, `?${wrong}`)), 422, "100")).toContain(
        wrong.split("=")[0],
      );
    }
  });

  it("keeps 35 days of the platform's own time", async () => {
    const platform = await platformOf();
    await platform.core("DELETE", "/ipblocks/1");
    await platform.advance(35 * 86_400 - 60);
    expect(await all(platform)).toHaveLength(1);
    await platform.advance(120);
    expect(await page(platform, "")).toEqual({ total: 0, sources: [] });
  });

  it("needs the privilege, which a group can give, and is of one contract only", async () => {
    const platform = await platformOf();
    const { token, userId } = await platform.user("auditor@example.org", { privileges: [] });
    const as = (path: string) => platform.call("GET", path, undefined, { authorization: `Bearer ${token}` });
    for (const path of ["/activitylog/v1/contracts", pathOf(platform)]) {
      expect(refusal(await as(path), 403, "451")).toContain("accessActivityLog");
    }
    const properties = { name: "auditors", accessActivityLog: true };
    const group = resource(await platform.core("POST", "/um/groups", { properties })).id;
    await platform.core("POST", `/um/groups/${group}/users`, { id: userId });
    expect((await as(pathOf(platform))).status).toBe(200);

    const other = await platform.contract();
    expect((await page(other, "")).total).toBe(0);
    refusal(await other.call("GET", pathOf(platform)), 403, "451");
    refusal(await other.call("GET", "/activitylog/v1/contracts/999"), 403, "451");
  });

  it("survives a restart, and goes on counting", async () => {
    const data = mkdtempSync(join(tmpdir(), "simulator-"));
    const first = await startPlatform({ data });
    await first.core("DELETE", "/ipblocks/1");
    const before = await all(first);
    await first.close();
    const second = await startPlatform({ data });
    expect(await all(second)).toEqual(before);
    await second.core("DELETE", "/ipblocks/2");
    expect((await all(second)).map(({ resource }) => resource)).toEqual(["ipblock/1", "ipblock/2"]);
    await second.close();
    rmSync(data, { recursive: true, force: true });
  });

  it("says the same for the same seed", async () => {
    const story = async (seed: number) => {
      const platform = await startPlatform({ seed });
      await platform.datacenter();
      await platform.call("DELETE", "/auth/v1/tokens?criteria=EXPIRED");
      const sources = await all(platform);
      await platform.close();
      return sources.map(({ meta, resource }) => [resource, meta.requestId, meta.queueRefId, meta.transactionId]);
    };
    const first = await story(11);
    expect(await story(11)).toEqual(first);
    expect(await story(12)).not.toEqual(first);
  });

  function emptyLog() {
    const documents = createDocuments(() => {});
    const counts = new Map<string, number>();
    const counters = {
      next(purpose: string) {
        const count = counts.get(purpose) ?? 0;
        counts.set(purpose, count + 1);
        return count;
      },
    };
    const clock = { now: () => 1_000_000, advance() {}, realUntil: () => 0 };
    const identity = { users: documents.table("users", z.never()) };
    const chance = createChance(1, counters);
    const activity = createActivity({ documents, counters, chance, clock, identity, scope: "" });
    return { documents, activity };
  }

  it("keeps no more than a fixed number of entries: the oldest go", () => {
    const { documents, activity } = emptyLog();
    documents.transaction(() => activity.fill(mostEntries + 5, 0, mostEntries + 5));
    const kept = activity.read(0, Number.POSITIVE_INFINITY).map(({ at }) => at);
    expect([kept.length, kept[0], kept.at(-1)]).toEqual([mostEntries, 5, mostEntries + 4]);
  });

  it("keeps fewer reads, which push no change out", () => {
    const { documents, activity } = emptyLog();
    documents.transaction(() => activity.fill(3, 0, 3));
    const route = { method: "GET", template: "/cloudapi/v6/locations", access: "user" } as const;
    const answer = () => ({ status: 200 });
    const user = { id: "u", username: "a@b", password: "", role: "owner", twoFactor: false, active: true } as const;
    for (let at = 10; at < mostReads + 20; at += 1) {
      const call = {
        method: route.method,
        path: route.template,
        params: {},
        query: new URLSearchParams(),
        headers: {},
        body: "",
        origin: "http://127.0.0.1",
        caller: { contractNumber: 1, user: { ...user, privileges: [] }, tokenId: "t" },
        from: "127.0.0.1",
        at,
        effects: noInjection.effects,
      };
      activity.called(call, { ...route, handle: answer }, answer);
    }
    const kept = activity.read(0, Number.POSITIVE_INFINITY);
    expect(kept.filter(({ type }) => type === "Read").map(({ at }) => at)).toEqual(
      Array.from({ length: mostReads }, (_, nth) => nth + 20),
    );
    expect(kept).toHaveLength(mostReads + 3);
  });
});

/** A contract of its own on the platform of this file. */
const shared = await platformForFile();
const platformOf = () => shared.contract();
