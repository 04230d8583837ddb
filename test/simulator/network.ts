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
    async block(location = "de/fra", size = 1): Promise<{ id: string; ip: string; ips: string[] }> {
      const { id, properties } = resource(await platform.done("POST", "/ipblocks", { properties: { location, size } }));
      const ips = z.tuple([z.string()], z.string()).parse(properties.ips);
      return { id, ip: ips[0], ips };
    },
  };
}
