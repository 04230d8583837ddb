import { z } from "zod";
import { readFacts, readStatus } from "../../src/engine/status/status.ts";
import { kinds } from "../../src/kinds/index.ts";
import type { Kind, ResourceMapping } from "../../src/kinds/kind.ts";
import type { KubeObject } from "../../src/kube/resource.ts";
import { type Stage, unsettled } from "../cluster/chaos/stage.ts";
import type { Found, Steering } from "../cluster/steering.ts";
import type { Life } from "../crash/lives/lives.ts";
import { lostSecrets, type ReadSecret, secretReader } from "../crash/lives/secrets.ts";
import { type Fault as CrashFault, collectionOf } from "../crash/verdict/verdict.ts";
import { type Deed, isByHand, type MadeByHand } from "./disturbances/by-hand.ts";
import { surplusNics } from "./nics.ts";

/** The faults, with their names in the last line. */
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
  /** The lost manual change. */
  deed?: Deed;
}

/** An object that must exist at the end, with the expected properties on the platform. */
export interface Wanted {
  kind: string;
  name: string;
  shows?: Record<string, unknown>;
  secrets?: Life["secrets"];
}

/** The reason why not everything is at rest: every wanted object Ready, no others, the platform idle. */
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
    // Cluster-scoped objects belong to other namespaces as well.
    for (const [name, object] of scope === "Cluster" ? [] : objects) {
      obstacles.push(`${kind} ${name} is still there: ${unsettled(object) ?? "and Ready"}`);
    }
  }
  if (obstacles.length === 0) return undefined;
  return `${obstacles.length} objects are not at rest, for example ${obstacles.slice(0, 3).join("; ")}`;
}

/** A namespace and its expected objects. */
export interface Place {
  stage: Pick<Stage, "list" | "admin" | "namespace">;
  wanted: readonly Wanted[];
}

/** An object of a namespace, with its expected state if it must exist. */
interface SoakObject {
  object: KubeObject;
  wanted: Wanted | undefined;
  read: ReadSecret;
}

/**
 * The problems at rest. Every resource must belong to exactly one object of any namespace and show its properties.
 * Manual changes must still exist.
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
  // People and Accounts have tokens too, and a token does not show its owner.
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

/** Manual changes that must not be lost; their names are unique. */
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

/** Objects that must exist and do not. */
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

/** The servers of scaling groups. */
const replicasOf = (groups: readonly KubeObject[]) =>
  new Set(groups.flatMap((object) => group.parse(readFacts(object)).servers.map(({ serverId }) => serverId)));

/** Whether the resource belongs to another resource. */
function comesWith({ kind }: MadeKind, { id, serverId, properties }: Found, replicas: ReadonlySet<unknown>): boolean {
  switch (kind) {
    case "Lan":
      // A NIC with an unknown LAN creates one without a name.
      return properties?.name == null;
    case "Server":
      return replicas.has(id);
    case "Volume":
      return serverId !== undefined;
    default:
      return false;
  }
}

/** Some ids are not unique: LANs are numbered within each datacenter. */
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
      // The platform omits values that were never set.
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

/** Missing Secrets of wanted objects. An object that is not Ready is already a problem. */
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
