import fc from "fast-check";
import { expect, it } from "vitest";
import { schemaOf } from "../../src/cli/manifests/schemas.ts";
import type { KubeObject } from "../../src/kube/resource.ts";
import { offline } from "../../src/plan/inputs/dry-run.ts";
import { type Manifests, manifestsIn } from "../../src/plan/inputs/manifests.ts";
import type { PlanItem } from "../../src/plan/item.ts";
import { makePlan } from "../../src/plan/make.ts";
import { API } from "../engine/support/fake-platform.ts";
import { objectOf } from "../engine/support/fixtures.ts";
import { type Stage, stage } from "../engine/support/stage.ts";
import { readerOf } from "./objects-reader.ts";
import { expected, isWrite, keyOf, rest } from "./predicted.ts";

/** How an object gets its resource: a new one, or one that somebody else has made. */
type Mode = "create" | "adopt" | "observe";
const modes = fc.constantFrom<Mode>("create", "adopt", "observe");
const text = fc.constantFrom("a", "b");

interface Slot {
  kind: string;
  name: string;
  /** The collection of the resource, in the datacenter of the landscape. */
  path: (datacenter: string) => string;
  /** Its fields, which have the same names in spec and on the platform. */
  fields: fc.Arbitrary<object>;
  /** The rest of spec. */
  within: object;
}
const inDatacenter = { datacenterRef: { name: "dc" } };
const slots: Slot[] = [
  {
    kind: "Lan",
    name: "front",
    path: (datacenter) => `/datacenters/${datacenter}/lans`,
    fields: fc.record({ name: text, public: fc.boolean() }),
    within: inDatacenter,
  },
  {
    kind: "IPBlock",
    name: "ips",
    path: () => "/ipblocks",
    fields: fc.record({ name: text, size: fc.constantFrom(1, 2), location: fc.constant("de/txl") }),
    within: {},
  },
  {
    kind: "Volume",
    name: "data",
    path: (datacenter) => `/datacenters/${datacenter}/volumes`,
    fields: fc.record({
      name: text,
      size: fc.constant(10),
      type: fc.constantFrom("HDD", "SSD Standard"),
      licenceType: fc.constant("LINUX"),
    }),
    within: inDatacenter,
  },
];

/** An object before and after; `found`: the resource that somebody made, unless it is gone. */
interface Life {
  found: object | undefined;
  before: { mode: Mode; fields: object } | undefined;
  after: { mode: Mode; fields: object } | undefined;
  isSelected: boolean;
  deletionPolicy: string;
  replacePolicy: string;
  loss: boolean;
}
const lifeOf = (slot: Slot): fc.Arbitrary<Life> => {
  const version = fc.option(fc.record({ mode: modes, fields: slot.fields }), { nil: undefined, freq: 2 });
  return fc.record({
    found: fc.option(slot.fields, { nil: undefined, freq: 6 }),
    before: version,
    after: version,
    isSelected: fc.boolean(),
    deletionPolicy: fc.constantFrom("Delete", "Retain"),
    replacePolicy: fc.constantFrom("Never", "WhenNeeded"),
    loss: fc.boolean(),
  });
};
const lives = fc.tuple(...slots.map(lifeOf));

const ids = new Map(slots.map(({ name }, nth) => [name, `72e73b81-8551-4e74-b398-fc63b39994a${nth}`]));

function objectFor(
  slot: Slot,
  life: Life,
  { mode, fields }: NonNullable<Life["before"]>,
  found: string | undefined,
): KubeObject {
  const { isSelected, deletionPolicy, replacePolicy, loss } = life;
  return objectOf(slot.kind, slot.name, {
    metadata: {
      name: slot.name,
      labels: { selected: String(isSelected) },
      ...(loss && { annotations: { "mooring.dev/allow-data-loss": "true" } }),
    },
    spec: {
      ...slot.within,
      ...fields,
      deletionPolicy,
      replacePolicy,
      ...(mode !== "create" && { externalId: found ?? (slot.kind === "Lan" ? "77" : ids.get(slot.name)) }),
      ...(mode === "observe" && { managementPolicy: "Observe" }),
    },
  });
}

type How = "apply" | "prune" | "destroy";

async function planOf(life: Stage, all: readonly KubeObject[], manifests: Manifests, how: How) {
  const connection = life.platform.connectionOf("shop/main");
  const { items } = await makePlan({
    manifests,
    cluster: { reader: readerOf(life, all) },
    platform: async () => ({
      read: (call) => connection.send({ ...call, priority: "normal" }),
      endpoint: () => API,
      has: () => true,
      identity: { userId: "u1" },
      contractNumber: 1,
      now: Date.now,
      storageKeys: () => Promise.reject(new Error("none")),
      storageRegion: undefined,
    }),
    schemaOf,
    prices: false,
    ...(how === "prune" && { prune: "selected=true" }),
    destroy: how === "destroy",
    sources: { signal: new AbortController().signal, progress: () => {}, missing: () => {} },
  });
  return items;
}

/** Applies as kubectl does: objects that the plan calls invalid are refused, and some are deleted. */
function apply(life: Stage, { objects }: Manifests, items: readonly PlanItem[], gone: readonly KubeObject[]): void {
  for (const { kind, object } of objects) {
    const item = items.find((each) => each.kind === kind.kind && each.name === object.metadata.name);
    if (item?.action === "invalid" || item?.message?.includes("Invalid value")) continue;
    const live = life.api.get(object);
    const { desired, refused } = offline({
      manifest: { kind, object },
      live,
      schema: schemaOf(kind),
      signal: new AbortController().signal,
    });
    if (!desired || refused !== undefined) continue;
    const metadata = { ...live?.metadata, ...desired.metadata };
    life.api.put({
      ...desired,
      metadata: {
        ...metadata,
        uid: live?.metadata.uid ?? `uid-${metadata.name}-new`,
        annotations: { ...live?.metadata.annotations, ...desired.metadata.annotations },
      },
    });
  }
  for (const each of gone) {
    const live = life.api.get(each);
    if (live) life.api.markDeleted(live);
  }
}

it("a plan predicts the writes for objects that create, adopt, observe and change over, and for deleted ones", async () => {
  await fc.assert(
    fc.asyncProperty(lives, fc.constantFrom<How>("apply", "prune", "destroy"), async (all, how) => {
      const home = objectOf("Datacenter", "dc", { spec: { location: "de/txl" } });
      const known = slots.map(({ kind, name }) => objectOf(kind, name, { spec: {} }));
      const life = stage([home, ...known]);
      for (const each of known) life.api.remove(each);
      const keys = [home, ...known].map(keyOf);
      await rest(life, keys);
      const [datacenter = ""] = [...life.platform.items.keys()];
      const members = slots.flatMap((slot, nth) => {
        const each = all[nth];
        if (!each) return [];
        const { found, before, after, isSelected } = each;
        const targets = slot.kind === "Lan" ? {} : { targets: [ids.get(slot.name) ?? ""] };
        const more = { path: slot.path(datacenter), ...targets };
        const id = found && life.platform.make("found", { properties: found }, more);
        const version = (given: typeof before) => given && objectFor(slot, each, given, id);
        return [{ before: version(before), after: version(after), isSelected }];
      });
      for (const { before } of members) if (before) life.api.put(before);
      await rest(life, keys);

      const isDestroyed = how === "destroy";
      const files = isDestroyed
        ? members.flatMap(({ before }) => before ?? [])
        : [home, ...members.flatMap(({ after }) => after ?? [])];
      const text = files.map((each) => JSON.stringify(each)).join("\n---\n");
      const manifests = manifestsIn([{ from: "file", text }], "shop");
      const planned = life.platform.calls.length;
      const items = await planOf(life, [home, ...known], manifests, how);
      expect(life.platform.calls.slice(planned).filter(isWrite)).toEqual([]);

      const isPruned = ({ after, isSelected }: (typeof members)[number]) => how === "prune" && !after && isSelected;
      const gone = members.flatMap((each) => (each.before && (isDestroyed || isPruned(each)) ? [each.before] : []));
      const applied = isDestroyed ? { ...manifests, objects: [] } : manifests;
      const from = life.platform.calls.length;
      apply(life, applied, items, gone);
      await rest(life, keys);
      const writes = life.platform.calls.slice(from).filter(isWrite);
      const told = new Map(items.map((item) => [`${item.kind}/${item.namespace}/${item.name}`, item]));
      expect([...told.keys()].toSorted()).toEqual(
        [...applied.objects.map(({ object }) => object), ...gone].map(keyOf).toSorted(),
      );
      expect(writes.filter(({ object = "" }) => !told.has(object)).map(({ url }) => url)).toEqual([]);
      for (const [key, item] of told) {
        const own = writes.filter((call) => call.object === key);
        const { action, message } = item;
        const facts = { key, action, message };
        expect({ ...facts, methods: own.map(({ method }) => method) }).toEqual({ ...facts, methods: expected(item) });
        if (action !== "change" && action !== "adopt") continue;
        const sent = own.flatMap(({ body }) => Object.keys(Object(body)));
        const reported = item.fields.filter(({ platform }) => platform).map(({ field }) => field);
        expect({ key, sent: sent.toSorted() }).toEqual({ key, sent: item.writes ? reported.toSorted() : [] });
      }
      life.deps.collections.close();
    }),
    { numRuns: 40 },
  );
});
