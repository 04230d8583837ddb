import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { PlanItem } from "../../src/plan/item.ts";
import { type Subject, subjects } from "../cluster/kinds-under-test.ts";
import { objectOf } from "../engine/support/fixtures.ts";
import { keyOf } from "./predicted.ts";
import { promisedBy, toldBy } from "./simulated/expected-writes.ts";
import { casesOf, neededBy, specsOf } from "./simulated/kind-case.ts";
import { createLives, filesOf, type Lives } from "./simulated/lives.ts";
import { type SimulatedWorld, simulatedWorld, type Write } from "./simulated/world.ts";

/** The promise of an item, beside what the operator has sent for its object. */
function compared(subject: Subject, item: PlanItem | undefined, writes: readonly Write[]) {
  const told = toldBy(subject, writes);
  const facts = { kind: subject.kind.kind, name: item?.name, action: item?.action, message: item?.message };
  const nothing = { creations: 0, deletions: 0, changes: false };
  return { sent: { ...facts, told }, said: { ...facts, told: item ? promisedBy(item, subject, told) : nothing } };
}

describe("a plan says which writes the operator then sends to the simulated platform", () => {
  let world: SimulatedWorld;
  let lives: Lives;
  beforeAll(async () => {
    world = await simulatedWorld();
    lives = await createLives(world);
  });
  afterAll(() => world[Symbol.asyncDispose]());

  it.each(subjects.map((each) => [each.kind.kind, each] as const))(
    "for a %s that is created, adopted, observed, changed, changed over, pruned or destroyed",
    async (_, subject) => {
      const property = fc.asyncProperty(casesOf(subject), async (given) => {
        const { item, writes, others } = await lives.live(subject, given);
        const { sent, said } = compared(subject, item, writes);
        expect({ ...sent, others }).toEqual({ ...said, others: [] });
      });
      await fc.assert(
        property.afterEach(() => lives.clear()),
        { numRuns: 5 },
      );
    },
  );
});

it("also for all kinds in one apply, where some objects are missing and some have an Account that does not exist", async () => {
  const all = [
    ...neededBy(subjects),
    ...subjects.map((each) => {
      const [spec = {}] = specsOf(each, "one");
      return { kind: each.kind.kind, metadata: { name: each.prefix ?? `one-${each.kind.plural}` }, spec };
    }),
  ];
  const often = fc.constantFrom("main", undefined, undefined, "nobody", "left out");
  await fc.assert(
    fc.asyncProperty(fc.tuple(...all.map(() => often)), async (choices) => {
      await using world = await simulatedWorld();
      const objects = all.flatMap(({ kind, metadata: { name }, spec }, nth) => {
        const account = choices[nth];
        if (account === "left out") return [];
        return objectOf(kind, name, { spec: { ...spec, ...(account && { accountRef: { name: account } }) } });
      });
      for (const each of objects) world.know(each);
      const files = filesOf(objects);
      const items = await world.plan(files, {});
      expect(world.writes).toEqual([]);
      world.apply(files);
      await world.rest();
      const pairs = objects.map((object) => {
        const key = keyOf(object);
        const subject = subjects.find((each) => each.kind.kind === object.kind);
        if (!subject) throw new Error(`no fixture has kind ${object.kind}`);
        const item = items.find((each) => `${each.kind}/${each.namespace}/${each.name}` === key);
        const writes = world.writes.filter((each) => each.object === key);
        return compared(subject, item, writes);
      });
      expect(pairs.map(({ sent }) => sent)).toEqual(pairs.map(({ said }) => said));
    }),
    { numRuns: 4 },
  );
});

it("a plan names the write that an annotation asks for, which no field shows", async () => {
  await using world = await simulatedWorld();
  const objects = (annotations: Record<string, string>) => [
    ...neededBy(subjects.filter(({ kind }) => kind.kind === "Snapshot")).map(({ kind, metadata: { name }, spec }) =>
      objectOf(kind, name, { spec }),
    ),
    objectOf("Snapshot", "nightly", {
      metadata: { name: "nightly", annotations },
      spec: { volumeRef: { name: "source" } },
    }),
  ];
  for (const each of objects({})) world.know(each);
  world.apply(filesOf(objects({})));
  await world.rest();
  const files = filesOf(objects({ "mooring.dev/restore-at": "first" }));
  const changed = (await world.plan(files, {})).filter(({ action }) => action !== "none");
  expect(changed).toMatchObject([
    { kind: "Snapshot", action: "change", writes: true, fields: [], message: "the operator will restore the volume" },
  ]);
  world.writes.length = 0;
  world.apply(files);
  await world.rest();
  expect(world.writes.map(({ object, path }) => [object, path.split("/").at(-1)])).toEqual([
    ["Snapshot/shop/nightly", "restore-snapshot"],
  ]);
});
