import { z } from "zod";
import { readFacts, readStatus } from "../../src/engine/schema/status.ts";
import { kinds } from "../../src/kinds/index.ts";
import type { Kind, ResourceMapping } from "../../src/kinds/kind.ts";
import type { KubeObject } from "../../src/kube/resource.ts";
import { type Stage, unsettled } from "../cluster/chaos-stage.ts";
import type { Found, Steering } from "../cluster/steering.ts";
import type { Life } from "../crash/lives.ts";
import { lostSecrets, type ReadSecret, secretReader } from "../crash/secrets.ts";
import { collectionOf, type Fault, faults, type Problem } from "../crash/verdict.ts";

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
  for (const { kind } of kinds) {
    const objects = new Map((await stage.list(kind)).map((object) => [object.metadata.name, object]));
    const names = wanted.filter((each) => each.kind === kind).map(({ name }) => name);
    for (const name of names) {
      const missing = unsettled(objects.get(name));
      if (missing !== undefined) obstacles.push(`${kind} ${name}: ${missing}`);
      objects.delete(name);
    }
    for (const [name, object] of objects) {
      obstacles.push(`${kind} ${name} is still there: ${unsettled(object) ?? "and Ready"}`);
    }
  }
  if (obstacles.length === 0) return undefined;
  return `${obstacles.length} objects are not at rest, for example ${obstacles.slice(0, 3).join("; ")}`;
}

/** What must not be, once all is at rest. Every resource belongs to exactly one object and shows what it should. */
export async function judge(
  stage: Pick<Stage, "list" | "admin" | "namespace">,
  platform: Pick<Steering, "resources">,
  wanted: readonly Wanted[],
  registry: readonly Kind[] = kinds,
): Promise<Problem[]> {
  const problems: Problem[] = [];
  const read = secretReader(stage.admin, stage.namespace);
  const made = registry.flatMap((kind) => (kind.resource ? [{ ...kind, resource: kind.resource }] : []));
  const all = new Map(await Promise.all(made.map(async ({ kind }) => [kind, await stage.list(kind)] as const)));
  const replicas = replicasOf(all.get("ScalingGroup") ?? []);
  for (const kind of made) {
    const objects = all.get(kind.kind) ?? [];
    const resources = await platform.resources(collectionOf(kind) ?? "");
    const expected = wanted.filter((each) => each.kind === kind.kind);
    const isPart = (resource: Found) => comesWith(kind, resource, replicas);
    problems.push(...compare(kind, objects, resources, expected, isPart));
    problems.push(...(await lostOf(kind, objects, expected, read)));
  }
  return problems;
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
  objects: readonly KubeObject[],
  resources: readonly Found[],
  expected: readonly Wanted[],
  isPart: (resource: Found) => boolean,
): Problem[] {
  const { kind } = made;
  const problems: Problem[] = [];
  const blame = (fault: Fault, message: string) => problems.push({ fault, message: `${kind} ${message}` });
  const owners = new Map<string, string>();
  const byPlace = new Map(resources.map((resource) => [placeOf(made, resource.id, parentsOf(resource)), resource]));
  for (const object of objects) {
    const { name } = object.metadata;
    const { id, parents = {} } = readStatus(object);
    const wanted = expected.find((each) => each.name === name);
    const missing = unsettled(object);
    if (!wanted) blame("stuck", `${name} cannot be deleted: ${missing}`);
    else if (missing !== undefined) blame("stuck", `${name}: ${missing}`);
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
  for (const { metadata } of expected
    .filter(({ name }) => !objects.some((each) => each.metadata.name === name))
    .map(({ name }) => ({ metadata: { name } }))) {
    blame("stuck", `${metadata.name} does not exist`);
  }
  const names = new Set(objects.map(({ metadata }) => metadata.name));
  for (const [place, resource] of byPlace) {
    if (owners.has(place) || isPart(resource)) continue;
    const name = resource.properties?.name ?? "";
    blame(names.has(name) ? "duplicate" : "leak", `resource ${resource.id} named ${name} belongs to no object`);
  }
  return problems;
}

/** Secrets that wanted objects promise. Who is not Ready is blamed for that already. */
async function lostOf(
  { kind }: MadeKind,
  objects: readonly KubeObject[],
  expected: readonly Wanted[],
  read: ReadSecret,
) {
  const problems: Problem[] = [];
  for (const object of objects.filter((each) => unsettled(each) === undefined)) {
    const { name } = object.metadata;
    const promised = expected.find((each) => each.name === name)?.secrets?.(object) ?? [];
    for (const why of await lostSecrets(promised, read)) {
      problems.push({ fault: "lost secret", message: `${kind} ${name}: ${why}` });
    }
  }
  return problems;
}

/** `500 objects, 0 duplicates, 0 leaks, 0 lost secrets, 0 stuck`. */
export function totals(objects: number, problems: readonly Problem[]): string {
  const plural: Record<Fault, string> = {
    duplicate: "duplicates",
    leak: "leaks",
    "lost secret": "lost secrets",
    stuck: "stuck",
  };
  const count = (fault: Fault) => problems.filter((problem) => problem.fault === fault).length;
  return [`${objects} objects`, ...faults.map((fault) => `${count(fault)} ${plural[fault]}`)].join(", ");
}
