import { expect } from "vitest";
import { oneOfEverything } from "./one-of-everything.ts";
import { serviceFor } from "./pipelines.ts";
import { type Platform, resource } from "./platform.ts";
import { groupBody, scalerFor } from "./scaling.ts";
import { streamingOf } from "./streaming.ts";

/** Makes one of everything that a contract can hold, of all products; gives the path that a core template stands for. */
export async function fullContract(platform: Platform): Promise<(template: string) => string> {
  const at = await oneOfEverything(platform);
  await scalerFor(platform).group(groupBody(at("/datacenters/{datacenter}")));
  for (const service of ["monitoring", "logging"] as const) {
    const { call, made } = serviceFor(platform, service, "de-fra");
    await made();
    expect(await call("PUT", "/central", { properties: { enabled: true } })).toMatchObject({ status: 200 });
  }
  const streaming = await streamingOf(platform);
  await streaming.topic(await streaming.cluster(), { name: "orders" });
  await managedThings(platform, at("/ipblocks/{ipblock}"));
  return at;
}

/** One of everything that the products with a host name of their own manage. */
async function managedThings(platform: Platform, block: string): Promise<void> {
  async function made(path: string, properties: object): Promise<string> {
    const answer = await platform.call("POST", path, { properties });
    expect(answer.status, path).toBeLessThan(300);
    await platform.advance(5);
    return resource(answer).id;
  }
  const ips = resource(await platform.core("GET", block)).properties.ips;
  const zone = await made("/dns/zones", { zoneName: "tenant.example" });
  await made(`/dns/zones/${zone}/records`, { name: "www", type: "A", content: "192.0.2.1" });
  await made(`/dns/zones/${zone}/keys`, {});
  await made("/dns/secondaryzones", { zoneName: "second.tenant.example", primaryIps: ["192.0.2.53"] });
  await made("/dns/reverserecords", { name: "www.tenant.example", ip: Array.isArray(ips) ? ips[3] : "" });
  const acme = { name: "acme", email: "tls@tenant.example", server: "https://acme.example/directory" };
  const provider = await made("/certificate-manager/providers", acme);
  const names = { name: "www", commonName: "www.tenant.example", keyAlgorithm: "rsa2048" };
  await made("/certificate-manager/auto-certificates", { ...names, provider });
  await made("/object-storage-management/accesskeys", { description: "backup" });
  // The certificate is issued at the first read, which must be the owner's.
  await platform.call("GET", "/certificate-manager/certificates");
}
