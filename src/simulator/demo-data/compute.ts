import { z } from "zod";
import { plainResource } from "../store/resource.ts";
import type { World } from "../world.ts";
import type { InsideCaller } from "./inside.ts";

const core = "/cloudapi/v6";
const idOf = (path: string) => path.split("/").at(-1) ?? "";
const items = z.looseObject({ items: z.array(z.looseObject({ id: z.string() })) });
const block = z.looseObject({ properties: z.looseObject({ ips: z.array(z.string()) }) });

const serverBody = (lan: number) => ({
  entities: {
    volumes: { items: [{ properties: { name: "os", size: 20, type: "SSD Premium", imageAlias: "ubuntu:latest" } }] },
    nics: { items: [{ properties: { name: "eth0", lan } }] },
  },
});

/** The resources that later steps refer to. */
export interface Compute {
  datacenter: string;
  server: string;
  nic: string;
  ips: readonly string[];
}

/** A shop: two web servers behind load balancers, a Cube, networks, and a Kubernetes cluster. */
export async function makeCompute(world: World, inside: InsideCaller): Promise<Compute> {
  const { call, done, made, user } = inside;
  const addresses = await made(`${core}/ipblocks`, { name: "shop", location: "de/fra", size: 6 });
  const { ips } = block.parse(await call("GET", addresses)).properties;
  const pcc = await made(`${core}/pccs`, { name: "between-datacenters", description: "Shop and archive" });
  const datacenter = await made(`${core}/datacenters`, {
    name: "shop",
    location: "de/fra",
    description: "The web shop",
  });
  await made(`${datacenter}/lans`, { name: "front", public: true });
  await made(`${datacenter}/lans`, { name: "back", public: false, pcc: idOf(pcc) });
  const web = { cores: 2, ram: 4096, cpuFamily: "INTEL_SKYLAKE" };
  const server = await made(`${datacenter}/servers`, { name: "web-1", ...web }, serverBody(1));
  await made(`${datacenter}/servers`, { name: "web-2", ...web }, serverBody(1));
  const cube = { name: "jump", type: "CUBE", templateUuid: "72e73b81-8551-4e74-b398-fc63b39994af" };
  const nvme = { items: [{ properties: { name: "nvme", type: "DAS", licenceType: "LINUX" } }] };
  await made(`${datacenter}/servers`, cube, { entities: { volumes: nvme } });
  await made(`${server}/nics`, { name: "eth1", lan: 2 });
  const nics = items.parse(await call("GET", `${server}/nics`)).items;
  const nic = `${server}/nics/${nics[0]?.id}`;
  await made(`${nic}/firewallrules`, { name: "https", protocol: "TCP", portRangeStart: 443, portRangeEnd: 443 });
  const cd = items.parse(await call("GET", `${core}/images?depth=1&filter.imageType=CDROM&filter.location=de/fra`));
  await done("POST", `${server}/cdroms`, { id: cd.items[0]?.id });
  addGraphicsCard(world, server, user.id);
  const volume = await made(`${datacenter}/volumes`, { name: "data", size: 100, type: "HDD", licenceType: "LINUX" });
  await done("POST", `${volume}/create-snapshot`, { properties: { name: "data before the update" } });
  await call("POST", `${server}/labels`, { properties: { key: "env", value: "production" } });
  await makeNetwork(inside, { datacenter, server, nic, ips });
  await makeKubernetes(inside, datacenter);
  return { datacenter, server, nic, ips };
}

/** Servers with a GPU cannot be created; this one is for reads only. */
function addGraphicsCard({ documents, resources, chance, clock }: World, server: string, userId: string): void {
  const parent = server.slice(`${core}/`.length);
  const properties = { name: "gpu-1", vendor: "NVIDIA", type: "passthrough", model: "H200" };
  documents.transaction(() => {
    const id = chance.uuid("gpu");
    const place = { key: `${parent}/gpus/${id}`, id, type: "gpu", collection: "gpus", parent };
    resources.put({ ...plainResource(place, properties, clock.now(), userId), state: "AVAILABLE" });
  });
}

async function makeNetwork({ done, made }: InsideCaller, { datacenter, nic, ips }: Compute): Promise<void> {
  const [nlbIp = "", albIp = "", natIp = ""] = ips;
  const lans = { listenerLan: 1, targetLan: 2 };
  const classic = await made(`${datacenter}/loadbalancers`, { name: "classic" });
  await done("POST", `${classic}/balancednics`, { id: idOf(nic) });
  const health = { path: "/health", method: "GET", matchType: "STATUS_CODE", response: "200" };
  const targets = { targets: [{ ip: "10.2.0.11", port: 8080, weight: 1 }], httpHealthCheck: health };
  const group = { name: "web", algorithm: "ROUND_ROBIN", protocol: "HTTP", ...targets };
  await made(`${core}/targetgroups`, group);
  const nlb = await made(`${datacenter}/networkloadbalancers`, { name: "tcp", ...lans, ips: [nlbIp] });
  await made(`${nlb}/forwardingrules`, {
    ...{ name: "https", algorithm: "ROUND_ROBIN", protocol: "TCP", listenerIp: nlbIp, listenerPort: 443 },
    targets: [{ ip: "10.2.0.11", port: 443, weight: 1 }],
  });
  const alb = await made(`${datacenter}/applicationloadbalancers`, { name: "http", ...lans, ips: [albIp] });
  await made(`${alb}/forwardingrules`, { name: "http", protocol: "HTTP", listenerIp: albIp, listenerPort: 80 });
  const nat = await made(`${datacenter}/natgateways`, { name: "out", publicIps: [natIp], lans: [{ id: 2 }] });
  await made(`${nat}/rules`, { name: "all", sourceSubnet: "10.2.0.0/16", publicIp: natIp });
  const security = await made(`${datacenter}/securitygroups`, { name: "web", description: "Open to browsers" });
  await made(`${security}/rules`, { name: "https", protocol: "TCP", portRangeStart: 443, portRangeEnd: 443 });
}

async function makeKubernetes({ made }: InsideCaller, datacenter: string): Promise<void> {
  const cluster = await made(`${core}/k8s`, { name: "apps" });
  await made(`${cluster}/nodepools`, {
    ...{ name: "workers", datacenterId: idOf(datacenter), nodeCount: 2, coresCount: 2, ramSize: 4096 },
    ...{ availabilityZone: "AUTO", storageType: "SSD", storageSize: 20 },
  });
}

/** The latest events: flow logs, which write from then on, and a few changes. */
export async function makeRecent({ call, made, done }: InsideCaller, { server, nic }: Compute): Promise<void> {
  await made(`${nic}/flowlogs`, { name: "all", action: "ALL", direction: "BIDIRECTIONAL", bucket: "flow-logs" });
  await done("PATCH", server, { cores: 4 });
  await call("POST", `${nic.split("/servers/")[0]}/labels`, { properties: { key: "team", value: "shop" } });
}
