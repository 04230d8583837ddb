import { expect } from "vitest";
import { items, type Platform, resource, serverBody } from "./platform.ts";

/** Path templates, with the names that the ids are remembered under. */
export const dc = "/datacenters/{datacenter}";
export const srv = `${dc}/servers/{server}`;
export const nic = `${srv}/nics/{nic}`;
export const nlb = `${dc}/networkloadbalancers/{nlb}`;
export const alb = `${dc}/applicationloadbalancers/{alb}`;
export const nat = `${dc}/natgateways/{nat}`;
export const pool = "/k8s/{cluster}/nodepools/{pool}";
export const labelled = [
  dc,
  srv,
  `${dc}/volumes/{volume}`,
  "/images/{image}",
  "/ipblocks/{ipblock}",
  "/snapshots/{snapshot}",
];

/** Makes one of everything that the core API knows; gives the path that a template stands for. */
export async function oneOfEverything(platform: Platform): Promise<(template: string) => string> {
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
    await first("owner", "/um/users");
    const person = { firstname: "Ada", lastname: "Lovelace", email: "ada@example.org", password: "verySecret1" };
    ids.user = resource(await platform.core("POST", "/um/users", { properties: person })).id;
    ids.s3Key = resource(await platform.core("POST", at("/um/users/{user}/s3keys"))).id;
    ids.group = resource(await platform.core("POST", "/um/groups", { properties: { name: "developers" } })).id;
    expect(await platform.core("POST", at("/um/groups/{group}/users"), { id: ids.user })).toMatchObject({
      status: 201,
    });
    const share = await platform.core("POST", at("/um/groups/{group}/shares/{datacenter}"), { properties: {} });
    expect(share).toMatchObject({ status: 201 });
  }

  await first("image", "/images");
  await first("template", "/templates");
  await buildBalancers(await buildDatacenter());
  await buildContract();
  return at;
}
