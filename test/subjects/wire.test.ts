import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { Desired, Inputs, Reference } from "../../src/kinds/desired.ts";
import { kinds } from "../../src/kinds/index.ts";
import { hasResource, type ResourceKind } from "../../src/kinds/kind.ts";
import type { Ground } from "../cluster/hands.ts";
import { inputs } from "../kinds/mapped.ts";
import { platformForFile } from "../simulator/platform.ts";
import { subjects } from "./index.ts";
import type { Subject } from "./subject.ts";

const NAME = "typed";
const typed = z.looseObject({ id: z.string(), type: z.string() });
const listed = z.looseObject({ items: z.array(typed) });
const connected = typed.extend({ entities: z.looseObject({ nics: z.looseObject({ items: z.tuple([typed]) }) }) });

const platform = await platformForFile();

function fixtureOf(kind: string): Subject & Required<Pick<Subject, "wire">> {
  const subject = subjects.find((each) => each.kind === kind);
  if (!subject?.wire) throw new Error(`${kind} has no wire example in test/subjects/kinds`);
  return { ...subject, wire: subject.wire };
}

/** The resource of each wire example. It is created once; a permanent resource is only read. */
const made = new Map<string, Promise<unknown>>();
function example(kind: string): Promise<unknown> {
  const there = made.get(kind) ?? make(kind);
  made.set(kind, there);
  return there;
}

async function make(kind: string): Promise<unknown> {
  const { wire } = fixtureOf(kind);
  const path = wire.path(ground, NAME);
  if (!wire.body) return listed.parse((await platform.call("GET", path)).body).items[0];
  const answer = await platform.call("POST", wire.creation?.(ground, NAME) ?? path, wire.body(NAME, ground));
  expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
  await platform.advance(120);
  return answer.body;
}

const ground: Ground = {
  datacenter: "",
  volume: "",
  server: "",
  nics: {},
  lan: "",
  cluster: "",
  regions: { [NAME]: "de-txl" },
};
const idOf = async (kind: string) => typed.parse(await example(kind)).id;
ground.datacenter = await idOf("Datacenter");
ground.volume = await idOf("Volume");
const host = connected.parse(await example("Server"));
ground.server = host.id;
ground.nics = { [NAME]: host.entities.nics.items[0].id };
ground.lan = await idOf("Lan");
ground.cluster = await idOf("KafkaCluster");

/** The ids that references of fixtures resolve to, by kind. */
const referents: Record<string, string> = {
  Datacenter: ground.datacenter,
  Volume: ground.volume,
  Server: ground.server,
  Lan: ground.lan,
  KafkaCluster: ground.cluster,
};

function desiredOf({ kind, resource }: ResourceKind): Desired {
  const { spec, own } = fixtureOf(kind);
  return resource.desire({ ...spec, ...own?.(NAME) });
}

function inputsFor(references: readonly Reference[]): Inputs {
  const ids = references.map(({ role, kind, part }) => [role, part ? ground.nics[NAME] : referents[kind]] as const);
  return inputs({
    name: NAME,
    parents: Object.fromEntries(ids.map(([role, id = ""]) => [role, id])),
    refs: Object.fromEntries(ids.map(([role, id = ""]) => [role, { id, status: {} }])),
  });
}

/** The resource of a wire example, as the kind's collection shows it. */
async function seen({ kind, resource }: ResourceKind): Promise<unknown> {
  const { id } = typed.parse(await example(kind));
  const path = `${fixtureOf(kind).wire.path(ground, NAME)}?depth=${resource.place.depth}`;
  return listed.parse((await platform.call("GET", path)).body).items.find((each) => each.id === id);
}

// Tokens are shown without a type, in a list of their own form.
const examples = kinds.filter(hasResource).filter(({ resource }) => resource.place.product !== "auth");

describe("recovery finds what an interrupted creation made by the platform's own word for it", () => {
  it.each(examples)("$kind; if not: names.type of the kind", async ({ kind, resource }) => {
    expect(await example(kind)).toMatchObject({ type: resource.names.type });
  });
});

describe("the kind reads what the platform shows", () => {
  it.each(examples)("$kind; if not: `facts` and the wire types of the kind", async (kind) => {
    const { references } = desiredOf(kind);
    const facts = kind.resource.comparison.facts(await seen(kind), inputsFor(references));
    expect(kind.status.strict().parse(facts)).toEqual(facts);
  });

  const permanent = (kind: string) => subjects.some((each) => each.kind === kind && each.wire && !each.wire.body);
  it.each(examples.filter(({ kind }) => !permanent(kind)))(
    "$kind, where the wire example is up to date; if not: `compare`, or `wire.body`",
    async (kind) => {
      const desired = desiredOf(kind);
      expect(desired.compare(await seen(kind), inputsFor(desired.references))).toEqual({ drift: [] });
    },
  );
});
