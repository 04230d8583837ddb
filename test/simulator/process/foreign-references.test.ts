import { describe, expect, it } from "vitest";
import { networkOf } from "../network.ts";
import { items, type Platform, platformForFile, refusal, resource, serverBody } from "../platform.ts";
import { groupBody, groups } from "../scaling.ts";
import { storageOf } from "../storage.ts";
import { streamingOf } from "../streaming.ts";

const platform = await platformForFile();
const other = await platform.contract();
const nobodys = "00000000-0000-4000-8000-000000000000";

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
