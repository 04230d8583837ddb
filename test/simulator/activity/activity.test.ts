import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { actionName } from "../../../src/simulator/activity/names.ts";
import { serviceFor } from "../pipelines.ts";
import { platformForFile, refusal, resource, startPlatform } from "../platform.ts";
import { all, page, pathOf, summaryOf } from "./log-pages.ts";

/** A contract of its own on the platform of this file. */
const shared = await platformForFile();
const platformOf = () => shared.contract();

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
    expect(summaryOf(sources)).toEqual([
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

  it("has changes and deletions, each with what it is about", async () => {
    const platform = await platformOf();
    const datacenter = await platform.datacenter();
    await platform.done("PATCH", datacenter, { name: "renamed" });
    await platform.done("DELETE", datacenter);
    const accepted = (await all(platform)).filter(({ event }) => event.type === "RequestAccepted");
    expect(accepted.map(({ action, resource }) => [action, resource])).toEqual(
      ["create", "update", "delete"].map((verb) => [
        `vr.datacenter.${verb}`,
        datacenter.replace("/datacenters", "datacenter"),
      ]),
    );
  });

  it.each(["POST", "PUT", "PATCH", "DELETE"])("takes no call but GET: %s is 405, and is not in it", async (method) => {
    const platform = await platformOf();
    for (const path of ["/activitylog/v1", "/activitylog/v1/contracts", pathOf(platform)]) {
      refusal(await platform.call(method, path, method === "DELETE" ? undefined : {}), 405, "200");
    }
    expect(await all(platform)).toEqual([]);
  });

  it("has what failed, and what was refused, with the platform's error", async () => {
    const platform = await platformOf();
    await platform.faults({ fault: "request-failed", message: "[VDC-1-1] no room", route: "POST *", count: 1 });
    const failing = await platform.core("POST", "/ipblocks", { properties: { location: "de/fra", size: 1 } });
    expect(failing.status).toBe(202);
    await platform.advance(60);
    await platform.core("DELETE", "/datacenters/00000000-0000-4000-8000-000000000000");
    const sources = await all(platform);
    expect(summaryOf(sources)).toEqual([
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
    expect(summaryOf(await all(platform))).toEqual([
      "RequestAccepted QUEUED logging.pipeline.create",
      "Provision DONE logging.pipeline.create",
      "RequestAccepted DONE sec.group.create",
      "GenerateToken DONE auth.token.create",
      "RequestAccepted DONE auth.token.delete",
    ]);
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
});
