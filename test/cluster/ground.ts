import { z } from "zod";
import type { Landscape } from "./landscape.ts";
import { objectOf } from "./objects.ts";

/** The resources that exist before a kind is tested, in this order: its kind, and the name of its object. */
const parts = {
  datacenter: { kind: "Datacenter", name: "dc" },
  volume: { kind: "Volume", name: "source" },
  server: { kind: "Server", name: "host" },
  lan: { kind: "Lan", name: "brokers" },
  /** The Kafka cluster in that LAN. */
  cluster: { kind: "KafkaCluster", name: "stream" },
} as const;

type Part = keyof typeof parts;
const names = Object.keys(parts).filter((name): name is Part => name in parts);

/** The ids of all parts. */
export interface Ground extends Record<Part, string> {
  /** The NICs of the server by name. */
  nics: Record<string, string>;
  /** Regions by Account. */
  regions: Record<string, string>;
}

/** Makes every part that is not there yet. Each is in the ground before the next one is made. */
export async function fillGround(
  there: Partial<Ground>,
  make: (kind: string, name: string, ground: Ground) => Promise<string>,
): Promise<Ground> {
  const ground: Ground = {
    datacenter: "",
    volume: "",
    server: "",
    lan: "",
    cluster: "",
    nics: {},
    regions: {},
    ...there,
  };
  for (const part of names) ground[part] ||= await make(parts[part].kind, parts[part].name, ground);
  return ground;
}

const shown = z.array(z.looseObject({ id: z.string(), name: z.string() }));

/** Applies an object for every part, and waits until they are Ready. `nics` are the names of those of the server. */
export async function applyGround(
  world: Landscape,
  { accountRef, nics, regions }: { accountRef: object; nics: readonly string[]; regions: Ground["regions"] },
): Promise<Ground> {
  const connected = { nics: nics.map((name) => ({ name, lan: 1 })) };
  const specOf = (part: Part) => ({ accountRef, ...(part === "server" && connected) });
  const refOf = (kind: string, name: string) => `${kind.toLowerCase()}/${name}`;
  await world.apply(...names.map((part) => objectOf(parts[part].kind)(parts[part].name, specOf(part))));
  await world.untilReady(...names.map((part) => refOf(parts[part].kind, parts[part].name)));
  const found = shown.parse(JSON.parse(await world.value("server/host", "{.status.nics}")));
  const known = { regions, nics: Object.fromEntries(found.map((nic) => [nic.name, nic.id])) };
  return fillGround(known, (kind, name) => world.value(refOf(kind, name), "{.status.id}"));
}
