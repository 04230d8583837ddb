import { z } from "zod";
import { type Platform, resource } from "./platform.ts";

/** Makes what load balancers and gateways stand on. */
export function networkOf(platform: Platform) {
  /** The number of a new LAN. */
  async function lan(datacenter: string, properties: object = {}): Promise<number> {
    return Number(resource(await platform.done("POST", `${datacenter}/lans`, { properties })).id);
  }

  return {
    lan,
    /** Two new LANs for a load balancer to stand between. */
    async lans(datacenter: string): Promise<{ listenerLan: number; targetLan: number }> {
      return { listenerLan: await lan(datacenter), targetLan: await lan(datacenter) };
    },
    async block(location = "de/fra", size = 1): Promise<{ id: string; ip: string; ips: string[] }> {
      const { id, properties } = resource(await platform.done("POST", "/ipblocks", { properties: { location, size } }));
      const ips = z.tuple([z.string()], z.string()).parse(properties.ips);
      return { id, ip: ips[0], ips };
    },
    /** A NIC of a server of its own. */
    async nic(datacenter: string, lan: number): Promise<{ id: string; path: string }> {
      const server = await platform.made(`${datacenter}/servers`, { properties: { name: "s", cores: 1, ram: 1024 } });
      const { id } = resource(await platform.done("POST", `${server}/nics`, { properties: { lan } }));
      return { id, path: `${server}/nics/${id}` };
    },
  };
}
