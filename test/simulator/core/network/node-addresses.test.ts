import { expect, it } from "vitest";
import { z } from "zod";
import { items, platformForFile, resource } from "../../platform.ts";

const platform = await platformForFile();
const node = z.looseObject({ id: z.string(), properties: z.looseObject({ publicIP: z.string() }) });

it("a new node gets a reserved address that no other node of its pool has", async () => {
  const datacenterId = (await platform.datacenter()).split("/").at(-1);
  const block = await platform.made("/ipblocks", { properties: { name: "b", location: "de/fra", size: 4 } });
  const publicIps = z.array(z.string()).parse(resource(await platform.core("GET", block)).properties.ips);
  const cluster = await platform.made("/k8s", { properties: { name: "apps" } });
  const size = { nodeCount: 3, coresCount: 2, ramSize: 4096, storageType: "SSD", storageSize: 20 };
  const properties = { name: "workers", datacenterId, availabilityZone: "AUTO", publicIps, ...size };
  const pool = await platform.made(`${cluster}/nodepools`, { properties });
  const nodes = async () => items(await platform.core("GET", `${pool}/nodes?depth=1`)).map((each) => node.parse(each));
  const addresses = async () => (await nodes()).map((each) => each.properties.publicIP);
  const before = await addresses();
  expect(before).toEqual(publicIps.slice(0, 3));

  const [first] = await nodes();
  await platform.core("DELETE", `${pool}/nodes/${first?.id}`);
  await platform.advance(60);
  await platform.core("PUT", pool, { properties: { nodeCount: 3 } });
  await platform.advance(60);
  expect((await addresses()).sort()).toEqual(before.sort());
});
