import { z } from "zod";
import { readStatus } from "../../src/engine/status.ts";
import { kinds } from "../../src/kinds/index.ts";
import type { Kind } from "../../src/kinds/kind.ts";
import { isNotFound } from "../../src/kube/errors.ts";
import type { KubeObject } from "../../src/kube/resource.ts";
import { type Stage, unsettled } from "../cluster/chaos-stage.ts";
import type { Found, Steering } from "../cluster/steering.ts";
import { type Fault, faults, type Problem } from "../crash/verdict.ts";

/** An object that has to be there in the end, with what the platform must show of it. */
export interface Wanted {
  kind: string;
  name: string;
  shows?: Record<string, unknown>;
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

const parted = z.looseObject({ serverId: z.string().optional() });
const secretNames = z.record(z.string(), z.unknown());

/** What must not be, once all is at rest. Every resource belongs to exactly one object and shows what it should. */
export async function judge(stage: Stage, platform: Steering, wanted: readonly Wanted[]): Promise<Problem[]> {
  const problems: Problem[] = [];
  for (const kind of kinds.filter(({ resource }) => resource)) {
    const objects = await stage.list(kind.kind);
    const resources = await platform.resources(collectionOf(kind));
    const expected = wanted.filter((each) => each.kind === kind.kind);
    problems.push(...compare(kind, objects, resources, expected));
    for (const object of objects) problems.push(...(await lostSecrets(stage, kind, object)));
  }
  // Nothing but servers makes volumes here: one that hangs on no server was left behind.
  for (const volume of await platform.resources("volumes")) {
    if (parted.parse(volume).serverId === undefined) problems.push({ fault: "leak", message: `volume ${volume.id}` });
  }
  return problems;
}

const collectionOf = ({ resource }: Kind): string => resource?.collection({}).split("/").at(-1) ?? "";

function compare(
  { kind }: Kind,
  objects: readonly KubeObject[],
  resources: readonly Found[],
  expected: readonly Wanted[],
): Problem[] {
  const problems: Problem[] = [];
  const blame = (fault: Fault, message: string) => problems.push({ fault, message: `${kind} ${message}` });
  const owners = new Map<string, string>();
  const byId = new Map(resources.map((resource) => [resource.id, resource]));
  for (const object of objects) {
    const { name } = object.metadata;
    const { id } = readStatus(object);
    const wanted = expected.find((each) => each.name === name);
    const missing = unsettled(object);
    if (!wanted) blame("stuck", `${name} cannot be deleted: ${missing}`);
    else if (missing !== undefined) blame("stuck", `${name}: ${missing}`);
    if (id === undefined) continue;
    const rival = owners.get(id);
    if (rival !== undefined) blame("duplicate", `${name} and ${rival} both claim ${id}`);
    owners.set(id, name);
    const resource = byId.get(id);
    if (!resource) {
      blame("stuck", `${name} claims ${id}, which is not there`);
      continue;
    }
    for (const [field, value] of Object.entries(wanted?.shows ?? {})) {
      const found = resource.properties?.[field];
      if (found !== value) blame("stuck", `${name} is Ready, but ${field} is ${found}, not ${value}`);
    }
  }
  for (const { metadata } of expected
    .filter(({ name }) => !objects.some((each) => each.metadata.name === name))
    .map(({ name }) => ({ metadata: { name } }))) {
    blame("stuck", `${metadata.name} does not exist`);
  }
  const names = new Set(objects.map(({ metadata }) => metadata.name));
  for (const { id, properties } of resources) {
    if (owners.has(id)) continue;
    const name = properties?.name ?? "";
    blame(names.has(name) ? "duplicate" : "leak", `resource ${id} named ${name} belongs to no object`);
  }
  return problems;
}

const published = z.looseObject({ secretName: z.string() });

/** A Secret that status names has to be there, with something in it. */
async function lostSecrets(stage: Stage, { kind }: Kind, object: KubeObject): Promise<Problem[]> {
  const named = published.safeParse(object.status);
  if (!named.success) return [];
  const lost: Problem[] = [
    { fault: "lost secret", message: `${kind} ${object.metadata.name}: Secret ${named.data.secretName}` },
  ];
  try {
    const path = `/api/v1/namespaces/${stage.namespace}/secrets/${encodeURIComponent(named.data.secretName)}`;
    const { data = {} } = await stage.admin.request<{ data?: unknown }>({ method: "GET", path });
    return Object.keys(secretNames.catch({}).parse(data)).length > 0 ? [] : lost;
  } catch (error) {
    if (isNotFound(error)) return lost;
    throw error;
  }
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
