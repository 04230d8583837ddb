import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { kinds } from "../../src/kinds/index.ts";
import type { Kind } from "../../src/kinds/kind.ts";
import type { KubeObject } from "../../src/kube/resource.ts";
import type { PlanItem } from "../../src/plan/item.ts";
import type { Candidate } from "../../src/plan/outcome.ts";
import { planAll } from "../../src/plan/planner.ts";
import { createStage } from "../../src/plan/stage.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import { API } from "../engine/support/fake-platform.ts";
import { handleOf, objectOf } from "../engine/support/fixtures.ts";
import { type Stage, stage } from "../engine/support/stage.ts";
import { expected, isWrite, keyOf, rest } from "./predicted.ts";

const kindOf = (name: string): Kind => {
  const found = kinds.find(({ kind }) => kind === name);
  if (!found) throw new Error(`there is no kind ${name}`);
  return found;
};

/** The spec of an object: fields that can change, and an immutable one. */
const text = fc.constantFrom("a", "b", "c");
const replacePolicy = fc.constantFrom("Never", "WhenNeeded");
const inDatacenter = fc.constant({ name: "dc" });
const specs: Record<string, fc.Arbitrary<object>> = {
  Datacenter: fc.record({ location: fc.constantFrom("de/txl", "de/fra"), description: text, replacePolicy }),
  Lan: fc.record({ datacenterRef: inDatacenter, name: text, public: fc.boolean() }),
  IPBlock: fc.record({ location: fc.constant("de/txl"), size: fc.constantFrom(1, 2), name: text, replacePolicy }),
  Volume: fc.record({
    datacenterRef: inDatacenter,
    name: text,
    size: fc.constantFrom(10, 20),
    type: fc.constant("HDD"),
    licenceType: fc.constant("LINUX"),
  }),
};

/** One object: its applied version, if any, and its version in the files, if any. */
interface Case {
  kind: string;
  name: string;
  before: object | undefined;
  after: object | undefined;
  deletionPolicy: "Delete" | "Retain";
  loss: boolean;
}
const one = (kind: string, name: string): fc.Arbitrary<Case> =>
  fc.record({
    kind: fc.constant(kind),
    name: fc.constant(name),
    before: fc.option(specs[kind] ?? fc.constant({}), { nil: undefined }),
    after: fc.option(specs[kind] ?? fc.constant({}), { nil: undefined, freq: 8 }),
    deletionPolicy: fc.constantFrom("Delete", "Retain"),
    loss: fc.boolean(),
  });
const cases = fc.tuple(
  one("Lan", "front"),
  one("Lan", "back"),
  one("IPBlock", "ips"),
  one("Volume", "data"),
  one("Datacenter", "other"),
);

const manifest = ({ kind, name, deletionPolicy, loss }: Case, spec: object): KubeObject =>
  objectOf(kind, name, {
    metadata: { name, ...(loss && { annotations: { "mooring.dev/allow-data-loss": "true" } }) },
    spec: { deletionPolicy, ...spec },
  });

async function planOf(life: Stage, home: KubeObject, candidates: Candidate[]): Promise<PlanItem[]> {
  const { signal } = new AbortController();
  await using planning = createStage({ kinds, clock: systemClock, signal, labelsOf: () => ({}) });
  planning.put(objectOf("Account", "main"));
  planning.put(life.api.get(home) ?? home);
  const connection = life.platform.connectionOf("shop/main");
  planning.account(handleOf("shop/main", { connection, endpoint: () => API }));
  return await planAll(planning, candidates);
}

describe("a plan predicts the writes of the operator", () => {
  it("for any manifests, before and after", async () => {
    await fc.assert(
      fc.asyncProperty(cases, async (all) => {
        const home = objectOf("Datacenter", "dc", { spec: { location: "de/txl" } });
        const first = all.flatMap((each) => (each.before ? [{ each, object: manifest(each, each.before) }] : []));
        const known = all.map((each) => manifest(each, each.before ?? each.after ?? {}));
        const life = stage([home, ...known]);
        for (const object of known) {
          if (!first.some((each) => keyOf(each.object) === keyOf(object))) life.api.remove(object);
        }
        const keys = [home, ...known].map(keyOf);
        await rest(life, keys);

        // The contents of a datacenter are read before its deletion.
        for (const item of life.platform.items.values()) if (!item.path) item.entities = { servers: { items: [] } };

        const candidates = all.flatMap((each): Candidate[] => {
          const kind = kindOf(each.kind);
          const live = life.api.get(manifest(each, {}));
          if (!each.after) return live ? [{ kind, live, desired: undefined }] : [];
          const desired = manifest(each, grown(each, each.after));
          const metadata = { ...live?.metadata, ...desired.metadata, generation: (live?.metadata.generation ?? 0) + 1 };
          const marks = { ...live?.metadata.annotations, ...desired.metadata.annotations };
          const status = live && { status: live.status };
          return [{ kind, live, desired: { ...desired, metadata: { ...metadata, annotations: marks }, ...status } }];
        });
        const plan = await planOf(life, home, candidates);
        expect(life.platform.calls.slice().filter((call) => isWrite(call) && call.object === undefined)).toEqual([]);

        const from = life.platform.calls.length;
        for (const { live, desired } of candidates) {
          if (desired) life.api.put(desired);
          else if (live) life.api.markDeleted(live);
        }
        await rest(life, keys);
        const writes = life.platform.calls.slice(from).filter(isWrite);
        for (const item of plan) {
          const key = `${item.kind}/${item.namespace}/${item.name}`;
          const own = writes.filter((call) => call.object === key);
          expect({ key, item: item.action, methods: own.map(({ method }) => method) }).toEqual({
            key,
            item: item.action,
            methods: expected(item),
          });
          if (item.action !== "change") continue;
          const sent = own.flatMap(({ body }) => Object.keys(Object(body)));
          const reported = item.fields.filter(({ platform }) => platform).map(({ field }) => field);
          expect(sent.toSorted()).toEqual(reported.toSorted());
        }
        life.deps.collections.close();
      }),
      { numRuns: 25 },
    );
  });
});

it("a new object that waits has no price before the apply", async () => {
  const home = objectOf("Datacenter", "dc", { spec: { location: "de/txl" } });
  const life = stage([home]);
  await rest(life, [keyOf(home)]);
  const desired = objectOf("Lan", "front", { spec: { datacenterRef: { name: "elsewhere" } } });
  const [item] = await planOf(life, home, [{ kind: kindOf("Lan"), live: undefined, desired }]);
  expect(item).toMatchObject({ action: "wait", before: undefined, spec: desired.spec });
  life.deps.collections.close();
});

/** The API server refuses to shrink a volume. */
const grown = ({ kind, before }: Case, spec: object): object =>
  kind === "Volume" && before ? { ...spec, size: Math.max(sizeOf(before), sizeOf(spec)) } : spec;
const sizeOf = (spec: object): number => Number(Reflect.get(spec, "size"));
