import { z } from "zod";
import { readFacts, readStatus } from "../../src/engine/status/status.ts";
import { kinds } from "../../src/kinds/index.ts";
import type { Kind, ResourceMapping } from "../../src/kinds/kind.ts";
import type { KubeObject } from "../../src/kube/resource.ts";
import { type Stage, unsettled } from "../cluster/chaos-stage.ts";
import type { Found, Steering } from "../cluster/steering.ts";
import type { Life } from "../crash/lives.ts";
import { lostSecrets, type ReadSecret, secretReader } from "../crash/secrets.ts";
import { type Fault as CrashFault, collectionOf } from "../crash/verdict.ts";
import { type Deed, isByHand, type MadeByHand } from "./by-hand.ts";
import { surplusNics } from "./nics.ts";

/** What must not be, and how the last line counts it. */
const plural = {
  duplicate: "duplicates",
  leak: "leaks",
  "lost secret": "lost secrets",
  stuck: "stuck",
  "volume lost": "volumes lost",
  "LAN lost": "LANs lost",
} as const satisfies Record<CrashFault, string> & Record<string, string>;

export type Fault = keyof typeof plural;

export interface Problem {
  fault: Fault;
  message: string;
  /** What a person had made, and is lost. */
  deed?: Deed;
}

/** An object that has to be there in the end, with what the platform must show of it. */
export interface Wanted {
  kind: string;
  name: string;
  shows?: Record<string, unknown>;
  secrets?: Life["secrets"];
}

/** What is missing until all is at rest: every wanted object Ready, no other one there, the platform idle. */
export async function unrest(stage: Stage, wanted: readonly Wanted[]): Promise<string | undefined> {
  const obstacles: string[] = [];
  for (const { kind, scope } of kinds) {
    const objects = new Map((await stage.list(kind)).map((object) => [object.metadata.name, object]));
    const names = wanted.filter((each) => each.kind === kind).map(({ name }) => name);
    for (const name of names) {
      const missing = unsettled(objects.get(name));
      if (missing !== undefined) obstacles.push(`${kind} ${name}: ${missing}`);
      objects.delete(name);
    }
    // What belongs to no namespace is wanted by others.
    for (const [name, object] of scope === "Cluster" ? [] : objects) {
      obstacles.push(`${kind} ${name} is still there: ${unsettled(object) ?? "and Ready"}`);
    }
  }
  if (obstacles.length === 0) return undefined;
  return `${obstacles.length} objects are not at rest, for example ${obstacles.slice(0, 3).join("; ")}`;
}

/** A namespace, and what has to be in it. */
export interface Place {
  stage: Pick<Stage, "list" | "admin" | "namespace">;
  wanted: readonly Wanted[];
}

/** An object of one of the namespaces, with what it has to be, if it has to be there. */
interface SoakObject {
  object: KubeObject;
  wanted: Wanted | undefined;
  read: ReadSecret;
}

/**
 * What must not be, once all is at rest. Every resource belongs to exactly one object, of whatever namespace, and shows
 * what it should; what a person has made is still there.
 */
export async function judge(
  places: readonly Place[],
  platform: Pick<Steering, "resources">,
  byHand: MadeByHand = { volumes: [], lans: [] },
  registry: readonly Kind[] = kinds,
): Promise<Problem[]> {
  const problems = [
    ...lostByHand("volume lost", byHand.volumes, await platform.resources("volumes")),
    ...lostByHand("LAN lost", byHand.lans, await platform.resources("lans")),
  ];
  const managed = registry.flatMap((kind) => (kind.resource ? [{ ...kind, resource: kind.resource }] : []));
  // Tokens are made for people and Accounts as well: nothing tells whose one is.
  const made = managed.filter(({ resource }) => resource.place.product !== "auth");
  const all = new Map(
    await Promise.all(made.map(async ({ kind }) => [kind, await soakObjectsOf(kind, places)] as const)),
  );
  const servers = (all.get("Server") ?? []).map(({ object }) => object);
  for (const message of surplusNics(servers, await platform.resources("nics"))) {
    problems.push({ fault: "duplicate", message });
  }
  const replicas = replicasOf((all.get("ScalingGroup") ?? []).map(({ object }) => object));
  for (const kind of made) {
    const candidates = all.get(kind.kind) ?? [];
    const resources = await platform.resources(collectionOf(kind) ?? "");
    const isPart = (resource: Found) => isByHand(resource) || comesWith(kind, resource, replicas);
    problems.push(...absent(kind, places, candidates), ...compare(kind, candidates, resources, isPart));
    problems.push(...(await lostOf(kind, candidates)));
  }
  return problems;
}

/** What a person has made and nobody may take away; names are not used twice. */
function lostByHand(fault: Fault, deeds: readonly Deed[], resources: readonly Found[]): Problem[] {
  const there = new Set(resources.map(({ properties }) => properties?.name));
  return deeds
    .filter(({ name }) => !there.has(name))
    .map((deed) => ({ fault, message: `${deed.name}, which a person has ${deed.what}, is gone`, deed }));
}

const fullName = ({ metadata: { namespace, name } }: KubeObject): string => `${namespace}/${name}`;

async function soakObjectsOf(kind: string, places: readonly Place[]): Promise<SoakObject[]> {
  const found = places.map(async ({ stage, wanted }) => {
    const read = secretReader(stage.admin, stage.namespace);
    return (await stage.list(kind)).map((object) => ({
      object,
      wanted: wanted.find((each) => each.kind === kind && each.name === object.metadata.name),
      read,
    }));
  });
  return (await Promise.all(found)).flat();
}

/** Objects that have to be there and are not. */
function absent({ kind }: MadeKind, places: readonly Place[], candidates: readonly SoakObject[]): Problem[] {
  const there = new Set(candidates.map(({ object }) => fullName(object)));
  const names = places.flatMap(({ stage, wanted }) =>
    wanted.filter((each) => each.kind === kind).map(({ name }) => `${stage.namespace}/${name}`),
  );
  return names
    .filter((name) => !there.has(name))
    .map((name) => ({ fault: "stuck", message: `${kind} ${name} does not exist` }));
}

type MadeKind = Kind & { resource: ResourceMapping };

const group = z.looseObject({ servers: z.array(z.looseObject({ serverId: z.string().optional() })).default([]) });

/** The servers that groups have made. */
const replicasOf = (groups: readonly KubeObject[]) =>
  new Set(groups.flatMap((object) => group.parse(readFacts(object)).servers.map(({ serverId }) => serverId)));

/** Whether the platform made it for something else, which has to answer for it. */
function comesWith({ kind }: MadeKind, { id, serverId, properties }: Found, replicas: ReadonlySet<unknown>): boolean {
  switch (kind) {
    case "Lan":
      // A NIC that names an unknown LAN makes one without a name.
      return properties?.name == null;
    case "Server":
      return replicas.has(id);
    case "Volume":
      return serverId !== undefined;
    default:
      return false;
  }
}

/** Ids by themselves are not unique: LANs are numbered in each datacenter. */
const placeOf = ({ resource }: MadeKind, id: string, parents: Readonly<Record<string, string>>): string =>
  `${resource.place.collection(parents)}/${id}`;

/** The parents of a resource: `datacenterId` is the id of its `datacenter`. */
function parentsOf(resource: Found): Record<string, string> {
  const ids = Object.entries(resource).flatMap(([name, value]): [string, string][] =>
    name.endsWith("Id") && typeof value === "string" ? [[name.slice(0, -"Id".length), value]] : [],
  );
  return Object.fromEntries(ids);
}

function compare(
  made: MadeKind,
  candidates: readonly SoakObject[],
  resources: readonly Found[],
  isPart: (resource: Found) => boolean,
): Problem[] {
  const { kind } = made;
  const problems: Problem[] = [];
  const blame = (fault: Fault, message: string) => problems.push({ fault, message: `${kind} ${message}` });
  const owners = new Map<string, string>();
  const byPlace = new Map(resources.map((resource) => [placeOf(made, resource.id, parentsOf(resource)), resource]));
  for (const { object, wanted } of candidates) {
    const name = fullName(object);
    const { id, parents = {}, request } = readStatus(object);
    const underWay = request ? ` ${JSON.stringify(request)}` : "";
    const missing = unsettled(object);
    if (!wanted) blame("stuck", `${name} cannot be deleted: ${missing}${underWay}`);
    else if (missing !== undefined) blame("stuck", `${name}: ${missing}${underWay}`);
    if (id === undefined) continue;
    const place = placeOf(made, id, parents);
    const rival = owners.get(place);
    if (rival !== undefined) blame("duplicate", `${name} and ${rival} both claim ${id}`);
    owners.set(place, name);
    const resource = byPlace.get(place);
    if (!resource) {
      blame("stuck", `${name} claims ${id}, which is not there`);
      continue;
    }
    for (const [field, value] of Object.entries(wanted?.shows ?? {})) {
      const found = resource.properties?.[field];
      // What the platform has never had, it leaves out.
      if ((found ?? null) !== value) blame("stuck", `${name} is Ready, but ${field} is ${found}, not ${value}`);
    }
  }
  const names = new Set(candidates.map(({ object }) => object.metadata.name));
  for (const [place, resource] of byPlace) {
    if (owners.has(place) || isPart(resource)) continue;
    const name = resource.properties?.name ?? "";
    blame(names.has(name) ? "duplicate" : "leak", `resource ${resource.id} named ${name} belongs to no object`);
  }
  return problems;
}

/** Secrets that wanted objects promise. Who is not Ready is blamed for that already. */
async function lostOf({ kind }: MadeKind, candidates: readonly SoakObject[]): Promise<Problem[]> {
  const problems: Problem[] = [];
  for (const { object, wanted, read } of candidates.filter((each) => unsettled(each.object) === undefined)) {
    for (const why of await lostSecrets(wanted?.secrets?.(object) ?? [], read)) {
      problems.push({ fault: "lost secret", message: `${kind} ${fullName(object)}: ${why}` });
    }
  }
  return problems;
}

/** `500 objects, 0 duplicates, 0 leaks, 0 lost secrets, 0 stuck, 0 volumes lost, 0 LANs lost`. */
export function totals(objects: number, problems: readonly Problem[]): string {
  const counts = Object.entries(plural).map(
    ([fault, words]) => `${problems.filter((problem) => problem.fault === fault).length} ${words}`,
  );
  return [`${objects} objects`, ...counts].join(", ");
}
