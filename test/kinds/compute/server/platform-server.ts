import { z } from "zod";
import type { Operation } from "../../../../src/kinds/desired.ts";

type Properties = Record<string, unknown>;
interface Part {
  id: string;
  properties: Properties;
}
interface NicPart extends Part {
  entities: { firewallrules: { items: Part[] } };
}

const part = z.object({ properties: z.record(z.string(), z.unknown()) });
const parts = z.object({ items: z.array(part) }).default({ items: [] });
const nicPart = part.extend({
  entities: z.object({ firewallrules: parts }).default({ firewallrules: { items: [] } }),
});
const nicParts = z.object({ items: z.array(nicPart) }).default({ items: [] });
const creation = part.extend({ entities: z.object({ volumes: parts, nics: nicParts }) });
const patchBody = z.record(z.string(), z.unknown());

/** Addresses out of the contract's IP blocks, which exist once; all others are private. */
const isReserved = (ip: unknown) => String(ip).startsWith("203.0.113.");

/** One server with its volume and NICs as the platform keeps them, reduced to the rules that changes run into. */
export interface PlatformServer {
  readonly properties: Properties;
  readonly volumes: Part[];
  readonly nics: NicPart[];
  /** The server as a deep list shows it. */
  item(): unknown;
  /** Performs what a comparison asks for; throws where the platform would refuse it. */
  perform(operation: Operation): void;
}

/** The server that a body creates: defaults filled in, values that count at creation only no longer readable. */
export function createServer(body: unknown): PlatformServer {
  const { properties: given, entities } = creation.parse(body);
  const cube = given.type === "CUBE";
  let addresses = 0;
  const automatic = (ips: unknown) => (Array.isArray(ips) && ips.length > 0 ? ips : [`10.7.0.${++addresses}`]);
  let devices = 0;
  let rules = 0;
  const newRule = ({ properties }: z.output<typeof part>): Part => ({ id: `rule-${rules++}`, properties });
  const newNic = ({ properties: given, entities }: z.output<typeof nicPart>): NicPart => {
    const device = devices++;
    return {
      id: `nic-${device}`,
      properties: { ...given, mac: `02:01:00:00:00:0${device}`, ips: automatic(given.ips) },
      entities: { firewallrules: { items: entities.firewallrules.items.map(newRule) } },
    };
  };

  const volumes: Part[] = entities.volumes.items.map(({ properties }, index) => ({
    id: `vol-${index}`,
    properties: {
      bus: "VIRTIO",
      bootOrder: "AUTO",
      deviceNumber: index + 1,
      ...properties,
      ...(cube && { size: 60 }),
      sshKeys: null,
      userData: null,
      image: "0d4f97f0-1689-11ef-97ce-525400f64d8d",
      imageAlias: null,
    },
  }));
  const nics = entities.nics.items.map(newNic);
  const properties: Properties = {
    cpuFamily: "INTEL_SKYLAKE",
    vmState: "RUNNING",
    bootCdrom: null,
    ...given,
    ...(cube && { cores: 1, ram: 2048 }),
    bootVolume: volumes[0] ? { id: volumes[0].id, type: "volume" } : null,
  };

  const refuse = (why: string): never => {
    throw new Error(`the platform refuses: ${why}`);
  };
  const find = <P extends Part>(items: P[], id: string | undefined) =>
    items.find((each) => each.id === id) ?? refuse(`no ${id}`);

  function patchServer(change: Properties): void {
    for (const fixed of ["cores", "ram", "cpuFamily"]) if (cube && fixed in change) refuse(`${fixed} of a Cube`);
    Object.assign(properties, change);
  }

  function patchVolume({ properties: volume }: Part, change: Properties): void {
    if ("size" in change && (cube || Number(change.size) < Number(volume.size))) refuse("a volume that shrinks");
    Object.assign(volume, change);
  }

  function refuseUsed(given: Properties, self?: Part): void {
    const used = nics.flatMap((nic) => (nic !== self && Array.isArray(nic.properties.ips) ? nic.properties.ips : []));
    const asked = Array.isArray(given.ips) ? given.ips : [];
    for (const ip of asked) if (isReserved(ip) && used.includes(ip)) refuse(`${ip} is in use`);
  }

  function patchNic(self: Part, change: Properties): void {
    refuseUsed(change, self);
    const { properties: nic } = self;
    const moved = "lan" in change && change.lan !== nic.lan;
    const ips = "ips" in change || moved ? automatic(change.ips) : nic.ips;
    Object.assign(nic, change, { ips });
  }

  const partOf = (path: string) => /\/(volumes|nics|firewallrules)\/([^/]+)$/.exec(path) ?? [];
  const rulesAt = (path: string) =>
    find(nics, /\/nics\/([^/]+)\/firewallrules/.exec(path)?.[1]).entities.firewallrules.items;

  function patchRule({ properties: rule }: Part, change: Properties): void {
    if ("protocol" in change) refuse("another protocol");
    Object.assign(rule, change);
  }

  function patch(path: string, change: Properties): void {
    const [, collection, id] = partOf(path);
    if (collection === "volumes") patchVolume(find(volumes, id), change);
    else if (collection === "nics") patchNic(find(nics, id), change);
    else if (collection === "firewallrules") patchRule(find(rulesAt(path), id), change);
    else patchServer(change);
  }

  function take(path: string): void {
    const [, collection, id] = partOf(path);
    const items: Part[] = collection === "firewallrules" ? rulesAt(path) : collection === "nics" ? nics : volumes;
    const gone = find(items, id);
    if (gone.properties.type === "DAS") refuse("a Cube without its direct-attached volume");
    items.splice(items.indexOf(gone), 1);
  }

  function add(given: z.output<typeof nicPart>): void {
    refuseUsed(given.properties);
    nics.push(newNic(given));
  }

  function act(action: string | undefined): void {
    const states: Record<string, string> = cube
      ? { suspend: "SUSPENDED", resume: "RUNNING" }
      : { start: "RUNNING", stop: "SHUTOFF" };
    properties.vmState = states[action ?? ""] ?? refuse(`${action} of a ${properties.type}`);
  }

  return {
    properties,
    volumes,
    nics,
    item: () =>
      structuredClone({ id: "srv-1", properties, entities: { volumes: { items: volumes }, nics: { items: nics } } }),
    perform({ method, path, body: change }) {
      const action = path.split("/").at(-1);
      if (properties.vmState === "SUSPENDED" && action !== "resume") refuse("a change of a suspended Cube");
      if (method === "PATCH") patch(path, patchBody.parse(change));
      else if (method === "DELETE") take(path);
      else if (action === "nics") add(nicPart.parse(change));
      else if (action === "firewallrules") rulesAt(path).push(newRule(part.parse(change)));
      else act(action);
    },
  };
}
