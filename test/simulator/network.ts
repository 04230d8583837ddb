import { z } from "zod";
import { type Platform, resource } from "./platform.ts";

/** Makes what load balancers and gateways stand on. */
export function networkOf(platform: Platform) {
  return {
    /** The number of a new LAN. */
    async lan(datacenter: string, properties: object = {}): Promise<number> {
      return Number(resource(await platform.done("POST", `${datacenter}/lans`, { properties })).id);
    },
    async block(location = "de/fra", size = 1): Promise<{ id: string; ip: string; ips: string[] }> {
      const { id, properties } = resource(await platform.done("POST", "/ipblocks", { properties: { location, size } }));
      const ips = z.tuple([z.string()], z.string()).parse(properties.ips);
      return { id, ip: ips[0], ips };
    },
    /** A NIC of a server of its own. */
    async nic(datacenter: string, lan: number): Promise<{ id: string; path: string }> {
      const body = { properties: { name: "s", cores: 1, ram: 1024 } };
      const server = `${datacenter}/servers/${resource(await platform.done("POST", `${datacenter}/servers`, body)).id}`;
      const { id } = resource(await platform.done("POST", `${server}/nics`, { properties: { lan } }));
      return { id, path: `${server}/nics/${id}` };
    },
  };
}
