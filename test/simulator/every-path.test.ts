import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { items, type Platform, refusal, resource, serverBody, startPlatform } from "./platform.ts";

const dc = "/datacenters/{datacenter}";
const srv = `${dc}/servers/{server}`;
const nic = `${srv}/nics/{nic}`;
const nlb = `${dc}/networkloadbalancers/{nlb}`;
const alb = `${dc}/applicationloadbalancers/{alb}`;
const nat = `${dc}/natgateways/{nat}`;
const pool = "/k8s/{cluster}/nodepools/{pool}";
const labelled = [dc, srv, `${dc}/volumes/{volume}`, "/images/{image}", "/ipblocks/{ipblock}", "/snapshots/{snapshot}"];

/** A collection and its items. */
const both = (collection: string, param: string, type: string): [string, object][] => [
  [collection, { type: "collection", items: expect.any(Array) }],
  [`${collection}/{${param}}`, { type }],
];
const collection = (path: string): [string, object][] => [[path, { type: "collection", items: expect.any(Array) }]];

/** Every path of the core API that answers GET, with what it answers. */
const paths: [string, object][] = [
  ["/", { name: expect.any(String), version: expect.any(String), href: expect.any(String) }],
  ...both("/datacenters", "datacenter", "datacenter"),
  ...both(`${dc}/servers`, "server", "server"),
  [`${srv}/remoteconsole`, { url: expect.any(String) }],
  [`${srv}/token`, { token: expect.any(String) }],
  ...both(`${srv}/volumes`, "volume", "volume"),
  ...both(`${srv}/cdroms`, "cdrom", "image"),
  ...both(`${srv}/gpus`, "gpu", "gpu"),
  ...both(`${srv}/nics`, "nic", "nic"),
  ...both(`${nic}/firewallrules`, "firewallRule", "firewall-rule"),
  ...both(`${nic}/flowlogs`, "nicFlowLog", "flow-log"),
  ...both(`${dc}/volumes`, "volume", "volume"),
  ...both(`${dc}/lans`, "lan", "lan"),
  ...both(`${dc}/lans/{lan}/nics`, "nic", "nic"),
  ...both(`${dc}/loadbalancers`, "loadBalancer", "loadbalancer"),
  ...both(`${dc}/loadbalancers/{loadBalancer}/balancednics`, "nic", "nic"),
  ...both(`${dc}/networkloadbalancers`, "nlb", "networkloadbalancer"),
  ...both(`${nlb}/forwardingrules`, "nlbRule", "forwarding-rule"),
  ...both(`${nlb}/flowlogs`, "nlbFlowLog", "flow-log"),
  ...both(`${dc}/applicationloadbalancers`, "alb", "applicationloadbalancer"),
  ...both(`${alb}/forwardingrules`, "albRule", "forwarding-rule"),
  ...both(`${alb}/flowlogs`, "albFlowLog", "flow-log"),
  ...both(`${dc}/natgateways`, "nat", "natgateway"),
  ...both(`${nat}/rules`, "natRule", "natgateway-rule"),
  ...both(`${nat}/flowlogs`, "natFlowLog", "flow-log"),
  ...both(`${dc}/securitygroups`, "securityGroup", "security-group"),
  ...both(`${dc}/securitygroups/{securityGroup}/rules`, "securityRule", "firewall-rule"),
  ...both("/ipblocks", "ipblock", "ipblock"),
  ...both("/snapshots", "snapshot", "snapshot"),
  ...both("/images", "image", "image"),
  ...both("/templates", "template", "template"),
  ...collection("/locations"),
  ...both("/locations/{region}", "site", "location"),
  ...both("/targetgroups", "targetGroup", "target-group"),
  ...both("/pccs", "pcc", "pcc"),
  ...both("/labels", "labelUrn", "label"),
  ...labelled.flatMap((path) => both(`${path}/labels`, "label", "label")),
  ...collection("/contracts"),
  ...both("/requests", "request", "request"),
  ["/requests/{request}/status", { type: "request-status" }],
  ...both("/backupunits", "backupUnit", "backupunit"),
  ["/backupunits/{backupUnit}/ssourl", { ssoUrl: expect.any(String) }],
  ...both("/k8s", "cluster", "k8s"),
  ["/k8s/versions", expect.arrayContaining([expect.any(String)])],
  ["/k8s/versions/default", expect.any(String)],
  ["/k8s/{cluster}/kubeconfig", { kind: "Config" }],
  ...both("/k8s/{cluster}/nodepools", "pool", "nodepool"),
  ...both(`${pool}/nodes`, "node", "node"),
  ...both("/um/users", "user", "user"),
  ...collection("/um/users/{user}/groups"),
  ...collection("/um/users/{user}/owns"),
  ["/um/users/{user}/s3ssourl", { ssoUrl: expect.any(String) }],
  ...both("/um/users/{user}/s3keys", "s3Key", "s3key"),
  ...both("/um/groups", "group", "group"),
  ...collection("/um/groups/{group}/users"),
  ...both("/um/groups/{group}/shares", "datacenter", "resource"),
  ...collection("/um/groups/{group}/resources"),
  ...collection("/um/resources"),
  ...collection("/um/resources/{resourceType}"),
  ["/um/resources/{resourceType}/{datacenter}", { type: "datacenter" }],
];

/** A server has GPUs only when its type is GPU, which the platform does not offer here. */
const neverThere = `${srv}/gpus/{gpu}`;

let platform: Platform;
const ids: Record<string, string> = {
  label: "env",
  gpu: "none",
  region: "de",
  site: "fra",
  resourceType: "datacenter",
};

const at = (template: string) =>
  template.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const id = ids[name];
    if (id === undefined) throw new Error(`nothing was built for {${name}}`);
    return id;
  });

/** Creates one through the API and remembers its id. */
async function build(name: string, collectionPath: string, properties: object, more: object = {}) {
  const answer = await platform.done("POST", at(collectionPath), { properties, ...more });
  ids[name] = resource(answer).id;
  return resource(answer);
}

async function first(name: string, path: string) {
  ids[name] = String(items(await platform.core("GET", at(path)))[0]?.id);
}

async function buildDatacenter() {
  await build("ipblock", "/ipblocks", { name: "public", location: "de/fra", size: 4 });
  const block = resource(await platform.core("GET", at("/ipblocks/{ipblock}")));
  const ips = Array.isArray(block.properties.ips) ? block.properties.ips.map(String) : [];
  await build("pcc", "/pccs", { name: "cross" });
  await build("datacenter", "/datacenters", { name: "prod", location: "de/fra" });
  const { entities } = await build("server", `${dc}/servers`, serverBody().properties, {
    entities: serverBody().entities,
  });
  ids.volume = String(entities?.volumes?.items?.[0]?.id);
  ids.nic = String(entities?.nics?.items?.[0]?.id);
  ids.lan = "1";
  const cds = items(await platform.core("GET", "/images?depth=1&filter.imageType=CDROM&filter.location=de/fra"));
  ids.cdrom = String(cds[0]?.id);
  await platform.done("POST", at(`${srv}/cdroms`), { id: ids.cdrom });
  await build("firewallRule", `${nic}/firewallrules`, { name: "ssh", protocol: "TCP" });
  ids.snapshot = resource(
    await platform.done("POST", at(`${dc}/volumes/{volume}/create-snapshot`), { properties: { name: "before" } }),
  ).id;
  await build("securityGroup", `${dc}/securitygroups`, { name: "web" });
  await build("securityRule", `${dc}/securitygroups/{securityGroup}/rules`, { name: "https", protocol: "TCP" });
  return ips;
}

async function buildBalancers([nlbIp, albIp, natIp]: string[]) {
  await build("front", `${dc}/lans`, { name: "front", public: true });
  const lans = { listenerLan: Number(ids.front), targetLan: 1 };
  await build("loadBalancer", `${dc}/loadbalancers`, { name: "classic" });
  await platform.done("POST", at(`${dc}/loadbalancers/{loadBalancer}/balancednics`), { id: ids.nic });
  await build("targetGroup", "/targetgroups", { name: "web", algorithm: "ROUND_ROBIN", protocol: "HTTP" });
  await build("nlb", `${dc}/networkloadbalancers`, { name: "nlb", ...lans, ips: [nlbIp] });
  await build("nlbRule", `${nlb}/forwardingrules`, {
    name: "tcp",
    algorithm: "ROUND_ROBIN",
    protocol: "TCP",
    listenerIp: nlbIp,
    listenerPort: 80,
    targets: [{ ip: "10.1.0.11", port: 80, weight: 1 }],
  });
  await build("alb", `${dc}/applicationloadbalancers`, { name: "alb", ...lans, ips: [albIp] });
  await build("albRule", `${alb}/forwardingrules`, {
    name: "http",
    protocol: "HTTP",
    listenerIp: albIp,
    listenerPort: 80,
  });
  await build("nat", `${dc}/natgateways`, { name: "nat", publicIps: [natIp], lans: [{ id: 1 }] });
  await build("natRule", `${nat}/rules`, { name: "out", sourceSubnet: "10.1.0.0/16", publicIp: natIp });
  const flowLog = { name: "flow", action: "ALL", direction: "BIDIRECTIONAL", bucket: "flow-logs" };
  await build("nicFlowLog", `${nic}/flowlogs`, flowLog);
  await build("nlbFlowLog", `${nlb}/flowlogs`, flowLog);
  await build("albFlowLog", `${alb}/flowlogs`, flowLog);
  await build("natFlowLog", `${nat}/flowlogs`, flowLog);
}

async function buildContract() {
  await build("backupUnit", "/backupunits", { name: "nightly", password: "verySecret1", email: "b@example.org" });
  await build("cluster", "/k8s", { name: "apps" });
  await build("pool", "/k8s/{cluster}/nodepools", {
    name: "workers",
    datacenterId: ids.datacenter,
    nodeCount: 1,
    coresCount: 2,
    ramSize: 4096,
    availabilityZone: "AUTO",
    storageType: "SSD",
    storageSize: 20,
  });
  await first("node", `${pool}/nodes`);
  for (const path of labelled) {
    const made = await platform.core("POST", at(`${path}/labels`), { properties: { key: "env", value: "test" } });
    expect(made, path).toMatchObject({ status: 201 });
  }
  ids.labelUrn = `urn:label:datacenter:${ids.datacenter}:env`;
  await first("request", "/requests");
  const person = { firstname: "Ada", lastname: "Lovelace", email: "ada@example.org", password: "verySecret1" };
  ids.user = resource(await platform.core("POST", "/um/users", { properties: person })).id;
  ids.s3Key = resource(await platform.core("POST", at("/um/users/{user}/s3keys"))).id;
  ids.group = resource(await platform.core("POST", "/um/groups", { properties: { name: "developers" } })).id;
  const share = await platform.core("POST", at("/um/groups/{group}/shares/{datacenter}"), { properties: {} });
  expect(share).toMatchObject({ status: 201 });
}

beforeAll(async () => {
  platform = await startPlatform();
  await first("image", "/images");
  await first("template", "/templates");
  await buildBalancers(await buildDatacenter());
  await buildContract();
});
afterAll(() => platform.close());

it("the core API has 112 paths to read", () => {
  expect(new Set(paths.map(([path]) => path)).size).toBe(112);
  expect(paths).toHaveLength(112);
});

describe("with one of everything", () => {
  it.each(paths.filter(([path]) => path !== neverThere))("%s answers", async (path, body) => {
    expect(await platform.core("GET", at(path))).toMatchObject({ status: 200, body });
  });

  it.each(paths.filter(([path]) => path !== "/"))("%s asks for credentials", async (path) => {
    refusal(await platform.core("GET", at(path), undefined, { authorization: null }), 401, "315");
  });

  it.each(paths.filter(([path]) => path.includes("{")))("%s does not know an unknown id", async (path) => {
    const unknown = path.slice(0, path.lastIndexOf("{")) + path.slice(path.lastIndexOf("{")).replace(/\{\w+\}/, "x-0");
    refusal(await platform.core("GET", at(unknown)), 404, "309");
  });
});
