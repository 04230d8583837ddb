import { z } from "zod";
import { isPublic } from "../core/network/addresses.ts";
import { ipv6Of } from "../core/network/ipv6.ts";
import { numberIn, type Resource, textIn, textsIn } from "../store/resource.ts";
import type { World } from "../world.ts";
import { type Direction, type Rule, ruleOf } from "./firewall.ts";

export interface Neighbour {
  address: string;
  mac?: string | undefined;
}

/** The state, at one moment, of the resource whose traffic is logged. */
export interface Interface {
  id: string;
  addresses: string[];
  /** Can be reached from the internet. */
  isPublic: boolean;
  neighbours: Neighbour[];
  /** Ports that something listens on. */
  services: { protocol: "TCP" | "UDP"; port: number }[];
  /** Directions in which only what a rule allows passes. */
  guarded: Direction[];
  rules: Rule[];
}

/** Enough to make traffic look real, however large the LAN. */
const mostNeighbours = 25;

/** The NIC, load balancer or NAT gateway as its flow log sees it. */
export const interfaceOf = (world: World, resource: Resource): Interface =>
  resource.type === "nic" ? nicOf(world, resource) : gatewayOf(world, resource);

function nicOf(world: World, nic: Resource): Interface {
  const { properties } = nic;
  const firewall = properties.firewallActive === true;
  const direction = textIn(properties, "firewallType");
  const server = world.resources.get(nic.parent);
  const groups = [...nic.refs, ...(server?.refs ?? [])].filter(
    (ref) => world.resources.get(ref)?.type === "security-group",
  );
  const both: Direction[] = ["INGRESS", "EGRESS"];
  const own = firewall ? both.filter((each) => direction === each || direction === "BIDIRECTIONAL") : [];
  const resources = [
    ...(firewall ? world.resources.children(nic.key, "firewallrules") : []),
    ...groups.flatMap((group) => [...world.resources.children(group, "rules")]),
  ];
  const rules = resources.map((rule) => ruleOf(rule.properties));
  const lan = nic.refs.map((ref) => world.resources.get(ref)).find((each) => each?.type === "lan");
  return {
    id: nic.id,
    addresses: addressesOf(world, nic),
    isPublic: lan?.properties.public === true,
    neighbours: neighboursIn(world, lan === undefined ? [] : [lan.key], nic.key),
    services: rules.flatMap(servicesOf),
    guarded: groups.length > 0 ? both : own,
    rules,
  };
}

const lansSchema = z.array(z.object({ gatewayIps: z.array(z.string()).catch([]) })).catch([]);

/** A load balancer or a NAT gateway, which has no firewall. */
function gatewayOf(world: World, gateway: Resource): Interface {
  const { properties } = gateway;
  const inLans = [
    ...textsIn(properties, "lbPrivateIps"),
    ...lansSchema.parse(properties.lans).flatMap((each) => each.gatewayIps),
  ];
  const listening = [...textsIn(properties, "ips"), ...textsIn(properties, "publicIps")];
  const addresses = [...listening, ...inLans.map((cidr) => cidr.split("/")[0] ?? cidr)];
  return {
    id: gateway.id,
    addresses,
    isPublic: addresses.some(isPublic),
    neighbours: neighboursIn(world, gateway.refs, gateway.key),
    services: [...world.resources.children(gateway.key, "forwardingrules")].map((rule) => ({
      protocol: "TCP",
      port: numberIn(rule.properties, "listenerPort") ?? 80,
    })),
    guarded: [],
    rules: [],
  };
}

const addressesOf = (world: World, nic: Resource) => [
  ...textsIn(nic.properties, "ips"),
  ...textsIn(ipv6Of(world, nic), "ipv6Ips"),
];

function neighboursIn(world: World, lans: readonly string[], except: string): Neighbour[] {
  return lans
    .flatMap((lan) => world.resources.referrers(lan, "nic"))
    .filter(({ key }) => key !== except)
    .slice(0, mostNeighbours)
    .flatMap((nic) => addressesOf(world, nic).map((address) => ({ address, mac: textIn(nic.properties, "mac") })));
}

function servicesOf({ type, protocol, portRangeStart }: Rule): Interface["services"] {
  if (type !== "INGRESS" || portRangeStart == null) return [];
  return protocol === "TCP" || protocol === "UDP" ? [{ protocol, port: portRangeStart }] : [];
}
