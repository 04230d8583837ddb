import { describe, expect, it } from "vitest";
import { z } from "zod";
import { customResourceDefinition } from "../../src/cli/manifests/crd.ts";
import { manifestsFor } from "../../src/import/manifests.ts";
import type { Desired, Inputs, Reference } from "../../src/kinds/desired.ts";
import { kinds } from "../../src/kinds/index.ts";
import { hasResource, type ResourceKind } from "../../src/kinds/kind.ts";
import { schemaIn } from "../../src/plan/schema/objects.ts";
import { problems, withDefaults } from "../../src/plan/schema/validate.ts";
import { fillGround, type Ground } from "../cluster/ground.ts";
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

/** The resource of each wire example. It is created once; a permanent one is only read. */
const made = new Map<string, Promise<unknown>>();
function example(kind: string, within = ground): Promise<unknown> {
  const there = made.get(kind) ?? make(kind, within);
  made.set(kind, there);
  return there;
}

async function make(kind: string, within: Ground): Promise<unknown> {
  const { wire } = fixtureOf(kind);
  const path = wire.path(within, NAME);
  if (!wire.body) return listed.parse((await platform.call("GET", path)).body).items[0];
  const answer = await platform.call("POST", wire.creation?.(within, NAME) ?? path, wire.body(NAME, within));
  expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
  await platform.advance(120);
  return answer.body;
}

const idOf = async (kind: string, within?: Ground) => typed.parse(await example(kind, within)).id;
const ground = await fillGround({ regions: { [NAME]: "de-txl" } }, (kind, _, there) => idOf(kind, there));
const host = connected.parse(await example("Server"));
ground.nics = { [NAME]: host.entities.nics.items[0].id };

function desiredOf({ kind, resource }: ResourceKind): Desired {
  const { spec, own } = fixtureOf(kind);
  return resource.desire({ ...spec, ...own?.(NAME) });
}

/** The targets of the references of a fixture: the wire example of each kind, or its NIC. */
async function inputsFor(references: readonly Reference[]): Promise<Inputs> {
  const referents = await Promise.all(
    references.map(async ({ role, kind, part }) => {
      const referred = kinds.filter(hasResource).find((each) => each.kind === kind);
      if (part || !referred) return [role, { id: ground.nics[NAME] ?? "", status: {} }] as const;
      const status = referred.resource.comparison.facts(await seen(referred), inputs());
      return [role, { id: await idOf(kind), status }] as const;
    }),
  );
  return inputs({
    name: NAME,
    parents: Object.fromEntries(referents.map(([role, { id }]) => [role, id])),
    refs: Object.fromEntries(referents),
  });
}

/** The resource of a wire example, as the kind's collection shows it. */
async function seen({ kind, resource }: ResourceKind): Promise<unknown> {
  const { id } = typed.parse(await example(kind));
  const path = `${fixtureOf(kind).wire.path(ground, NAME)}?depth=${resource.place.depth}`;
  return listed.parse((await platform.call("GET", path)).body).items.find((each) => each.id === id);
}

// Tokens have no type, and a list of another form.
const examples = kinds.filter(hasResource).filter(({ resource }) => resource.place.product !== "auth");

describe("recovery finds what an interrupted creation made by the platform's own word for it", () => {
  it.each(examples)("$kind; if not: names.type of the kind", async ({ kind, resource }) => {
    expect(await example(kind)).toMatchObject({ type: resource.names.type });
  });
});

const permanent = (kind: string) => subjects.some((each) => each.kind === kind && each.wire && !each.wire.body);
const created = examples.filter(({ kind }) => !permanent(kind));

describe("the simulator's state shows the resource", () => {
  const state = z.record(z.string(), z.unknown());
  const shown = z.array(z.looseObject({ id: z.string() }));
  it.each(created)("$kind; if not: `wire.collection` of its fixture", async ({ kind }) => {
    const id = await idOf(kind);
    const all = Object.entries(state.parse((await platform.call("GET", "/_simulator/state")).body));
    const where = all.flatMap(([name, items]) =>
      shown.safeParse(items).data?.some((item) => item.id === id) ? name : [],
    );
    expect(where).toContain(fixtureOf(kind).wire.collection);
  });
});

describe("import finds a spec for it that the API server takes", () => {
  it.each(created)("$kind; if not: its shape in src/import/irregular.ts", async (kind) => {
    const raw = Object(await seen(kind));
    const { parents } = await inputsFor(desiredOf(kind).references.filter(({ bond }) => bond !== "use"));
    const [found] = manifestsFor([{ kind, id: raw.id, parents, raw }], { namespace: "here", accountRef: undefined });
    expect(found?.notes).toEqual([]);
    const schema = schemaIn(customResourceDefinition(kind));
    const managed = { ...found?.object, spec: { ...Object(found?.object.spec), managementPolicy: "Manage" } };
    expect(problems(schema, withDefaults(schema, managed), undefined)).toEqual([]);
  });
});

describe("the kind reads what the platform shows", () => {
  it.each(examples)("$kind; if not: `facts` and the wire types of the kind", async (kind) => {
    const { references } = desiredOf(kind);
    const facts = kind.resource.comparison.facts(await seen(kind), await inputsFor(references));
    expect(kind.status.strict().parse(facts)).toEqual(facts);
  });

  it.each(created)("$kind, where the wire example is up to date; if not: `compare`, or `wire.body`", async (kind) => {
    const desired = desiredOf(kind);
    expect(desired.compare(await seen(kind), await inputsFor(desired.references))).toEqual({ drift: [] });
  });
});
