import { createHash } from "node:crypto";
import { isIPv4, isIPv6 } from "node:net";
import { allows, type Opening } from "./firewall.ts";
import type { Interface, Neighbour } from "./interface.ts";
import type { Flow } from "./record.ts";

/** A sequence of draws that is the same for the same seed and purpose. */
export interface Dice {
  /** In [0, 1). */
  fraction(): number;
  /** A whole number from `low` to `high`, both possible. */
  between(low: number, high: number): number;
  pick<T>(items: readonly [T, ...T[]]): T;
}

/** Cheaper than a digest per draw: an object has thousands of them. */
export function createDice(seed: number, purpose: string): Dice {
  let state = createHash("sha256").update(`${seed}/${purpose}`).digest().readUInt32BE(0);
  const fraction = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const between = (low: number, high: number) => low + Math.floor(fraction() * (high - low + 1));
  return { fraction, between, pick: (items) => items[between(0, items.length - 1)] ?? items[0] };
}

type Service = { protocol: "TCP" | "UDP" | "PING"; port: number };

const numbers = { TCP: 6, UDP: 17, ICMP: 1, ICMPv6: 58 } as const;
const tcp = (port: number): Service => ({ protocol: "TCP", port });
const udp = (port: number): Service => ({ protocol: "UDP", port });
const ping: Service = { protocol: "PING", port: 0 };

/** Incoming traffic: users, neighbours and port scans. */
const incoming: readonly [Service, ...Service[]] = [
  tcp(443),
  tcp(443),
  tcp(80),
  tcp(22),
  tcp(23),
  tcp(445),
  tcp(3389),
  tcp(8080),
  udp(53),
  udp(123),
  udp(161),
  ping,
];

const outgoing: readonly [Service, ...Service[]] = [tcp(443), tcp(443), tcp(80), tcp(5432), udp(53), udp(123), ping];

/** Hosts in the internet have addresses that are kept for documentation. */
const documentation: readonly [string, ...string[]] = ["192.0.2", "198.51.100", "203.0.113"];

/** Believable flows of an interface within [from, to), in Unix seconds, ordered by their start. */
export function trafficOf(face: Interface, from: number, to: number, dice: Dice): Flow[] {
  const flows = Array.from({ length: dice.between(15, 45) }, () => conversation(face, from, to, dice)).flat();
  return flows.sort((a, b) => a.start - b.start);
}

/** A request and, when it got through, its answer. */
function conversation(face: Interface, from: number, to: number, dice: Dice): Flow[] {
  const sixes = face.addresses.filter(isIPv6);
  const fours = face.addresses.filter(isIPv4);
  const v6 = sixes.length > 0 && (fours.length === 0 || dice.fraction() < 0.3);
  const [first, ...rest] = v6 ? sixes : fours;
  if (first === undefined) return [];
  const own = dice.pick([first, ...rest]);
  const inward = dice.fraction() < 0.6;
  const peer = peerOf(face, v6, inward, dice);
  if (peer === undefined) return [];
  const service = serviceOf(face, inward, dice);
  const protocol = service.protocol === "PING" ? (v6 ? "ICMPv6" : "ICMP") : service.protocol;
  const opening: Opening = {
    direction: inward ? "INGRESS" : "EGRESS",
    protocol,
    source: inward ? peer.address : own,
    target: inward ? own : peer.address,
    sourceMac: inward ? peer.mac : undefined,
    port: service.port,
  };
  const guarded = face.guarded.includes(opening.direction);
  const passes = guarded ? allows(face.rules, opening) : dice.fraction() < 0.97;
  const start = dice.between(from, to - 1);
  const packets = passes ? dice.between(1, 400) : dice.between(1, 4);
  const request: Flow = {
    source: opening.source,
    target: opening.target,
    sourcePort: service.protocol === "PING" ? 0 : dice.between(32_768, 60_999),
    targetPort: service.port,
    protocol: numbers[protocol],
    packets,
    bytes: packets * dice.between(40, passes ? 1400 : 60),
    start,
    end: Math.min(start + dice.between(0, 59), to),
    action: passes ? "ACCEPT" : "REJECT",
  };
  return passes ? [request, answerTo(request, dice)] : [request];
}

function answerTo(request: Flow, dice: Dice): Flow {
  const packets = dice.between(1, request.packets + 10);
  return {
    ...request,
    source: request.target,
    target: request.source,
    sourcePort: request.targetPort,
    targetPort: request.sourcePort,
    packets,
    bytes: packets * dice.between(40, 1400),
  };
}

function serviceOf({ services }: Interface, inward: boolean, dice: Dice): Service {
  const [first, ...rest] = services;
  if (inward && first !== undefined && dice.fraction() < 0.5) return dice.pick<Service>([first, ...rest]);
  return dice.pick(inward ? incoming : outgoing);
}

/** The peer of a flow. Nobody in the internet reaches a private LAN, but its hosts reach the internet. */
function peerOf({ isPublic, neighbours }: Interface, v6: boolean, inward: boolean, dice: Dice): Neighbour | undefined {
  const [first, ...rest] = neighbours.filter(({ address }) => isIPv6(address) === v6);
  const outside = isPublic || !inward;
  const share = isPublic ? 0.75 : 0.3;
  if (first !== undefined && !(outside && dice.fraction() < share)) return dice.pick([first, ...rest]);
  return outside ? { address: strangerOf(v6, dice) } : undefined;
}

const strangerOf = (v6: boolean, dice: Dice) =>
  v6
    ? `2001:db8:${dice.between(1, 0xffff).toString(16)}::${dice.between(1, 0xffff).toString(16)}`
    : `${dice.pick(documentation)}.${dice.between(1, 254)}`;
