import { z } from "zod";
import { wireId } from "../../fields/fields.ts";
import { wireRule } from "../../fields/network/firewall.ts";

const part = <P extends z.ZodType>(properties: P) => z.object({ id: wireId(), properties: properties.nullish() });
const wireVolume = part(
  z.object({
    name: z.string().nullish(),
    type: z.string().nullish(),
    size: z.number().nullish(),
    bus: z.string().nullish(),
    deviceNumber: z.int().nullish(),
  }),
);
const wireFirewallRule = part(wireRule);
const wireNic = part(
  z.object({
    name: z.string().nullish(),
    lan: z.int().nullish(),
    mac: z.string().nullish(),
    ips: z.array(z.string()).nullish(),
    dhcp: z.boolean().nullish(),
    dhcpv6: z.boolean().nullish(),
    ipv6CidrBlock: z.string().nullish(),
    ipv6Ips: z.array(z.string()).nullish(),
    firewallActive: z.boolean().nullish(),
    firewallType: z.string().nullish(),
  }),
).extend({
  entities: z.object({ firewallrules: z.object({ items: z.array(wireFirewallRule).nullish() }).nullish() }).nullish(),
});
/** The fields of a server that Mooring reads, from a list at depth 5: down to the firewall rules of its NICs. */
export const wire = z.object({
  id: wireId(),
  properties: z.object({
    name: z.string().nullish(),
    hostname: z.string().nullish(),
    type: z.string().nullish(),
    cores: z.int().nullish(),
    ram: z.int().nullish(),
    cpuFamily: z.string().nullish(),
    availabilityZone: z.string().nullish(),
    templateUuid: z.string().nullish(),
    vmState: z.string().nullish(),
    bootVolume: z.object({ id: z.string() }).nullish(),
  }),
  entities: z
    .object({
      volumes: z.object({ items: z.array(wireVolume).nullish() }).nullish(),
      nics: z.object({ items: z.array(wireNic).nullish() }).nullish(),
    })
    .nullish(),
});
export type WireServer = z.output<typeof wire>;
export type WireVolume = z.output<typeof wireVolume>;
export type WireNic = z.output<typeof wireNic>;
export type WireFirewallRule = z.output<typeof wireFirewallRule>;

export const nicsOf = ({ entities }: WireServer): WireNic[] => entities?.nics?.items ?? [];
export const volumesOf = ({ entities }: WireServer): WireVolume[] => entities?.volumes?.items ?? [];

/**
 * The boot volume that the server names, or its only volume. With several volumes there is no guess: the wrong one
 * could be changed.
 */
export function bootVolumeOf(found: WireServer): WireVolume | undefined {
  const volumes = volumesOf(found);
  const named = found.properties.bootVolume?.id;
  if (named !== undefined) return volumes.find(({ id }) => id === named);
  return volumes.length === 1 ? volumes[0] : undefined;
}

export type Full<Part extends { properties?: unknown }> = Part & { properties: NonNullable<Part["properties"]> };

/** The items of a list; undefined for a shallow answer, which omits the items or their properties. */
export function readable<Part extends { id: string; properties?: unknown }>(
  items: readonly Part[] | null | undefined,
): Full<Part>[] | undefined {
  const full = items?.filter((each): each is Full<Part> => each.properties != null);
  return full?.length === items?.length ? full : undefined;
}
