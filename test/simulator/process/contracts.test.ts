import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { openSender } from "../forward-sender.ts";
import { plain, pusherFor } from "../metric-pusher.ts";
import { networkOf } from "../network.ts";
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
import { groupBody, groups } from "../scaling.ts";
import { storageOf } from "../storage.ts";
import { streamingOf } from "../streaming.ts";

const platform = await platformForFile();
const other = await platform.contract();

const basic = (username: string, password: string) =>
  `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
const usageOf = async (contract: Platform) => {
  const [found] = items(await contract.core("GET", "/contracts?depth=1"));
  return z.looseObject({ properties: z.looseObject({ resourceLimits: z.record(z.string(), z.number()) }) }).parse(found)
    .properties;
};
const nobodys = "00000000-0000-4000-8000-000000000000";

describe("a further contract", () => {
  it("has an owner, users, limits and a quota of its own", async () => {
    const fresh = await platform.contract();
    const { contractNumber, username } = fresh.ready;
    expect([platform, other].map(({ ready }) => ready.contractNumber)).not.toContain(contractNumber);
    const before = await usageOf(platform);
    await fresh.done("POST", `${await fresh.datacenter()}/servers`, serverBody());
    expect(await usageOf(fresh)).toMatchObject({
      contractNumber,
      owner: username,
      resourceLimits: { coresProvisioned: 4, ramProvisioned: 4096 },
    });
    expect(await usageOf(platform)).toEqual(before);
    await fresh.steer("PUT", "limits", { coresPerContract: 4 });
    const full = await fresh.core("POST", `${await fresh.datacenter()}/servers`, serverBody());
    expect(refusal(full, 422, "200")).toContain("coresPerContract is 4");
    await platform.done("POST", `${await platform.datacenter()}/servers`, serverBody());
  });

  it("is told by its token, and by every call in the list of calls", async () => {
    const { token, contractNumber } = other.ready;
    const payload: unknown = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
    expect(payload).toMatchObject({ identity: { contractNumber, role: "owner" } });
    await platform.steer("POST", "calls/reset");
    await other.core("GET", "/datacenters");
    const calls = await platform.steer("GET", "calls");
    expect(calls).toMatchObject({ byCaller: [{ contractNumber, username: other.ready.username, total: 1 }] });
    expect(JSON.stringify(calls)).not.toContain(token);
  });

  it("gives ids and public addresses that no other contract has", async () => {
    const [mine, theirs] = [await networkOf(platform).block(), await networkOf(other).block()];
    expect(mine.id).not.toBe(theirs.id);
    expect(mine.ip).not.toBe(theirs.ip);
  });

  it("does not disturb what the seed decides for the first one", async () => {
    const ids = async (contracts: number) => {
      const fresh = await startPlatform({ seed: 4, contracts });
      const [further] = fresh.ready.contracts;
      const datacenter = await fresh.datacenter();
      await fresh.close();
      return { datacenter, number: fresh.ready.contractNumber, further };
    };
    const [alone, beside] = [await ids(1), await ids(2)];
    expect(beside).toMatchObject({ datacenter: alone.datacenter, number: alone.number });
    expect([alone.further, beside.further?.contractNumber]).toEqual([undefined, expect.any(Number)]);
  });

  it("comes back after a restart with all that it holds", async () => {
    const data = mkdtempSync(join(tmpdir(), "contracts-"));
    try {
      const first = await startPlatform({ data });
      const before = await first.contract({ username: "kept@other.example" });
      const datacenter = await before.datacenter();
      await first.close();
      const second = await startPlatform({ data, contracts: 3 });
      const [kept, fresh] = second.ready.contracts;
      const { contractNumber, password, token, s3 } = before.ready;
      expect(kept).toEqual({ contractNumber, username: "kept@other.example", password, token, s3 });
      expect(fresh?.contractNumber).not.toBe(contractNumber);
      const authorization = `Bearer ${token}`;
      expect(await second.core("GET", datacenter, undefined, { authorization })).toMatchObject({ status: 200 });
      refusal(await second.core("GET", datacenter), 404, "309");
      await second.close();
    } finally {
      rmSync(data, { recursive: true, force: true });
    }
  });
});

describe("X-Contract-Number", () => {
  const as = (contractNumber: number, authorization: string) => ({
    authorization,
    headers: { "X-Contract-Number": String(contractNumber) },
  });

  it("cannot lead a token to another contract", async () => {
    const [mine, theirs] = [platform.ready, other.ready];
    const answer = (token: string, number: number) =>
      platform.core("GET", "/contracts", undefined, as(number, `Bearer ${token}`));
    expect(await answer(mine.token, mine.contractNumber)).toMatchObject({ status: 200 });
    refusal(await answer(mine.token, theirs.contractNumber), 403, "451");
    refusal(await answer(theirs.token, mine.contractNumber), 403, "451");
    refusal(await answer(theirs.token, 1), 403, "451");
  });

  it("chooses among the contracts that know a user by the same password", async () => {
    await platform.user("both@example.org");
    await other.user("both@example.org");
    const authorization = basic("both@example.org", "secret-1");
    for (const { contractNumber } of [platform.ready, other.ready]) {
      const answer = await platform.core("GET", "/contracts?depth=1", undefined, as(contractNumber, authorization));
      expect(items(answer)).toMatchObject([{ properties: { contractNumber } }]);
    }
  });
});

/** The resources that other resources of a contract need. */
async function groundOf(contract: Platform, bucket: string) {
  const made = async (path: string, properties: object) => {
    const answer = await contract.done("POST", path, { properties });
    return resource(answer).id;
  };
  const datacenter = await contract.datacenter();
  const server = await contract.made(`${datacenter}/servers`, serverBody());
  const disk = { name: "data", size: 5, licenceType: "LINUX" };
  const volume = await made(`${datacenter}/volumes`, disk);
  const login = { password: "verySecret1", email: "b@example.org" };
  return {
    datacenter: String(datacenter.split("/").at(-1)),
    server,
    disk,
    volume,
    bucket,
    snapshot: await made(`${datacenter}/volumes/${volume}/create-snapshot`, { name: "s" }),
    nic: String(items(await contract.core("GET", `${server}/nics`))[0]?.id),
    pcc: await made("/pccs", { name: "cross" }),
    backupUnit: await made("/backupunits", { name: "nightly", ...login }),
    targetGroup: await made("/targetgroups", { name: "web", algorithm: "ROUND_ROBIN", protocol: "HTTP" }),
    securityGroup: await made(`${datacenter}/securitygroups`, { name: "web" }),
    address: (await networkOf(contract).block()).ip,
    user: (await contract.user("builder@example.org")).userId,
  };
}

type Ground = Awaited<ReturnType<typeof groundOf>>;
/** A call of the other contract about its own resources that names a foreign id. */
type Reference = [what: keyof Ground, use: string, method: string, path: string, body: (id: unknown) => object];

describe("a reference to what another contract has", async () => {
  expect(await storageOf(other)("PUT", "/ours")).toMatchObject({ status: 200 });
  const [theirs, ours] = [await groundOf(platform, "flow-logs"), await groundOf(other, "ours")];
  const core = "/cloudapi/v6";
  const own = `/datacenters/${ours.datacenter}`;
  const { server, disk } = ours;
  const nic = `${server}/nics/${ours.nic}`;
  const balancer = await other.made(`${own}/loadbalancers`, { properties: { name: "classic" } });
  const cluster = await other.made("/k8s", { properties: { name: "apps" } });
  const group = `/um/groups/${resource(await other.core("POST", "/um/groups", { properties: { name: "g" } })).id}`;
  const streaming = await streamingOf(other);
  const flowLog = { name: "f", action: "ALL", direction: "BIDIRECTIONAL" };
  const zone = { availabilityZone: "AUTO", storageType: "SSD", storageSize: 20 };
  const pool = { name: "p", nodeCount: 1, coresCount: 2, ramSize: 4096, ...zone };
  const inProperties = (name: string, more: object) => (id: unknown) => ({ properties: { ...more, [name]: id } });
  const brokersIn = (datacenterId: unknown) =>
    streaming.body({ connections: [{ ...streaming.connection, datacenterId, lanId: "1" }] });
  const targetsIn = (targetGroupId: unknown) =>
    groupBody(own, {}, { nic: { targetGroup: { targetGroupId, port: 80, weight: 1 } } });

  const references: Reference[] = [
    ["volume", "to attach", "POST", `${core}${server}/volumes`, (id) => ({ id })],
    ["nic", "to balance", "POST", `${core}${balancer}/balancednics`, (id) => ({ id })],
    ["nic", "for a LAN", "POST", `${core}${own}/lans/1/nics`, (id) => ({ id })],
    ["securityGroup", "of a server", "PUT", `${core}${server}/securitygroups`, (id) => ({ ids: [id] })],
    [
      "snapshot",
      "to restore",
      "POST",
      `${core}${own}/volumes/${ours.volume}/restore-snapshot`,
      inProperties("snapshotId", {}),
    ],
    ["snapshot", "as image", "POST", `${core}${own}/volumes`, inProperties("image", disk)],
    ["backupUnit", "of a volume", "POST", `${core}${own}/volumes`, inProperties("backupunitId", disk)],
    ["pcc", "of a LAN", "POST", `${core}${own}/lans`, inProperties("pcc", { name: "l" })],
    ["address", "of a NIC", "POST", `${core}${server}/nics`, (ip) => ({ properties: { lan: 1, ips: [ip] } })],
    ["bucket", "of a flow log", "POST", `${core}${nic}/flowlogs`, inProperties("bucket", flowLog)],
    ["datacenter", "of nodes", "POST", `${core}${cluster}/nodepools`, inProperties("datacenterId", pool)],
    ["user", "of a group", "POST", `${core}${group}/users`, (id) => ({ id })],
    ["datacenter", "of replicas", "POST", groups, (id) => groupBody(String(id))],
    ["targetGroup", "of replicas", "POST", groups, targetsIn],
    ["datacenter", "of brokers", "POST", "/streaming/de-fra/clusters", brokersIn],
  ];

  it.each(references)("is refused as if it did not exist: %s %s", async (what, _use, method, path, body) => {
    const unknown = what === "address" ? "198.19.255.254" : nobodys;
    const sent = async (id: unknown) => {
      const { status, body: answer } = await other.call(method, path, body(id));
      return { status, answer: JSON.stringify(answer ?? null).replaceAll(String(id), "ID") };
    };
    const refused = await sent(theirs[what]);
    expect([404, 422]).toContain(refused.status);
    expect(refused).toEqual(await sent(unknown));
    expect((await sent(ours[what])).status).toBeLessThan(300);
    await other.advance(60);
  });

  it("is refused in a share, too", async () => {
    const shares = (id: string) => other.core("POST", `${group}/shares/${id}`, { properties: {} });
    refusal(await shares(theirs.datacenter), 404, "309");
    expect(await shares(ours.datacenter)).toMatchObject({ status: 201 });
  });
});

describe("the object storage", () => {
  it("does not let the owner of one contract into the buckets of another", async () => {
    const [mine, theirs] = [storageOf(platform), storageOf(other)];
    expect(await theirs("PUT", "/only-theirs")).toMatchObject({ status: 200 });
    expect(await theirs("PUT", "/only-theirs/secret", "text")).toMatchObject({ status: 200 });
    for (const [method, path] of [
      ["GET", "/only-theirs"],
      ["HEAD", "/only-theirs/secret"],
      ["GET", "/only-theirs/secret"],
      ["PUT", "/only-theirs/other"],
      ["DELETE", "/only-theirs/secret"],
      ["DELETE", "/only-theirs"],
    ] as const) {
      expect(await mine(method, path), `${method} ${path}`).toMatchObject({ status: 403 });
    }
    expect((await mine("GET", "/")).text).not.toContain("only-theirs");
    expect((await theirs("GET", "/")).text).toContain("only-theirs");
    expect((await theirs("GET", "/")).text).not.toContain("flow-logs");
  });

  it("gets the flow logs of a contract in a bucket of that contract", async () => {
    expect(await storageOf(other)("PUT", "/their-flow-logs")).toMatchObject({ status: 200 });
    const server = await other.made(`${await other.datacenter()}/servers`, serverBody());
    const nic = items(await other.core("GET", `${server}/nics`))[0]?.id;
    const bucket = "their-flow-logs";
    const properties = { name: "f", action: "ALL", direction: "BIDIRECTIONAL", bucket };
    await other.done("POST", `${server}/nics/${nic}/flowlogs`, { properties });
    expect(await other.steer("POST", "flow-logs")).toMatchObject({
      objects: expect.arrayContaining([expect.objectContaining({ bucket })]),
    });
    expect((await storageOf(other)("GET", `/${bucket}`)).text).toContain(".log.gz");
  });
});

describe("pipelines of a further contract", () => {
  it("take metrics and lines by their keys, which are unknown to those of others", async () => {
    const metrics = await serviceFor(other, "monitoring").made();
    const pusher = pusherFor(other, metrics);
    expect((await pusher.push("up 1\n", plain)).status).toBe(204);
    expect(await pusher.samples("up")).toHaveLength(1);
    const unknown = await platform.call("GET", `/_simulator/samples?pipeline=${metrics.id}`);
    expect(unknown).toMatchObject({ status: 422 });

    const logs = serviceFor(other, "logging");
    const { path, key } = await logs.made();
    const { properties } = resource(await logs.call("GET", path));
    const sender = await openSender(other, String(properties.tcpAddress));
    expect(await sender.greet(key)).toMatchObject({ welcome: true, proven: true });
    sender.socket.destroy();
  });

  it("have a dashboard of their own", async () => {
    const { call } = serviceFor(other, "monitoring");
    const { grafanaEndpoint } = resource(
      await call("GET", `/central/${items(await call("GET", "/central"))[0]?.id}`),
    ).metadata;
    const page = await fetch(String(grafanaEndpoint));
    expect(await page.text()).toContain(`contract ${other.ready.contractNumber}`);
  });

  it("may have the id of a pipeline elsewhere, without touching it", async () => {
    const mine = serviceFor(platform, "monitoring");
    const { id, path } = await mine.made({ name: "mine" });
    const put = await serviceFor(other, "monitoring").call("PUT", path, { properties: { name: "theirs" } });
    expect(put).toMatchObject({ status: 201, body: { id } });
    expect(resource(await mine.call("GET", path)).properties.name).toBe("mine");
  });
});

describe("a plain user", async () => {
  const datacenter = await platform.datacenter();
  const person = await platform.user("plain@example.org");
  const as = { authorization: `Bearer ${person.token}` };
  const own = resource(
    await platform.core("POST", "/datacenters", { properties: { name: "own", location: "de/fra" } }, as),
  ).id;
  await platform.advance(60);
  const seen = async () => items(await platform.core("GET", "/datacenters", undefined, as)).map(({ id }) => id);
  const shareId = datacenter.split("/").at(-1);

  it("sees what he has made, and the owner and administrators see all", async () => {
    expect(await seen()).toEqual([own]);
    refusal(await platform.core("GET", datacenter, undefined, as), 404, "309");
    const { token } = await platform.user("chief@example.org", { role: "administrator" });
    for (const authorization of [`Bearer ${token}`, `Bearer ${platform.ready.token}`]) {
      expect(await platform.core("GET", `/datacenters/${own}`, undefined, { authorization })).toMatchObject({
        status: 200,
      });
    }
  });

  it("sees what a group of his shares, with all in it, and changes it if the share says so", async () => {
    const group = `/um/groups/${resource(await platform.core("POST", "/um/groups", { properties: { name: "g" } })).id}`;
    await platform.core("POST", `${group}/users`, { id: person.userId });
    await platform.core("POST", `${group}/shares/${shareId}`, { properties: {} });
    await platform.done("POST", `${datacenter}/servers`, serverBody());
    expect((await seen()).toSorted()).toEqual([own, shareId].toSorted());
    expect(items(await platform.core("GET", `${datacenter}/servers`, undefined, as))).toHaveLength(1);
    const rename = () => platform.core("PATCH", datacenter, { name: "renamed" }, as);
    refusal(await rename(), 403, "451");
    refusal(await platform.core("POST", `${datacenter}/servers`, serverBody(), as), 403, "451");
    expect(resource(await platform.core("GET", datacenter)).properties.name).toBe("prod");
    await platform.core("PUT", `${group}/shares/${shareId}`, { properties: { editPrivilege: true } });
    expect(await rename()).toMatchObject({ status: 202 });
    await platform.advance(60);
    await platform.core("DELETE", `${group}/shares/${shareId}`);
    expect(await seen()).toEqual([own]);
  });

  it("finds his own requests only", async () => {
    const makers = (answer: Answer) =>
      items(answer).map((each) => z.looseObject({ metadata: z.looseObject({ createdBy: z.string() }) }).parse(each));
    const own = makers(await platform.core("GET", "/requests?depth=1", undefined, as));
    expect(new Set(own.map(({ metadata }) => metadata.createdBy))).toEqual(new Set(["plain@example.org"]));
    expect(makers(await platform.core("GET", "/requests?depth=1")).length).toBeGreaterThan(own.length);
  });

  it("cannot build on what he does not see", async () => {
    const volume = await platform.made(`${datacenter}/volumes`, {
      properties: { name: "data", size: 5, licenceType: "LINUX" },
    });
    const taken = await platform.done("POST", `${volume}/create-snapshot`, { properties: { name: "s" } });
    const image = resource(taken).id;
    const properties = { name: "copy", size: 5, image };
    const answer = await platform.core("POST", `/datacenters/${own}/volumes`, { properties }, as);
    expect(refusal(answer, 422, "100")).toContain("does not exist");
  });

  it("goes on seeing nothing of it in the middle of what the platform does by itself", async () => {
    const group = groupBody(`/datacenters/${own}`);
    const made = await platform.call("POST", groups, group, as);
    expect(made).toMatchObject({ status: 201 });
    await platform.advance(15);
    expect(items(await platform.call("GET", `${groups}/${resource(made).id}/servers`, undefined, as))).toHaveLength(2);
    expect(items(await platform.call("GET", groups, undefined, as))).toHaveLength(1);
  });
});

it("steering names a contract, and refuses one that is not there", async () => {
  expect(await platform.steer("GET", "contracts")).toMatchObject({
    items: expect.arrayContaining(
      [platform, other].map(({ ready: { contractNumber, username } }) => ({
        contractNumber,
        users: expect.arrayContaining([{ id: expect.any(String), username, role: "owner" }]),
      })),
    ),
  });
  refusal(await platform.call("GET", "/_simulator/state?contract=1"), 422, "100");
  refusal(await other.call("GET", "/_simulator/state"), 403, "451");
});
