import { subjects } from "../../kinds-under-test.ts";
import type { Landscape } from "../../landscape.ts";
import type { Trial } from "../../trial.ts";
import { all, containing, type Promised, promise, reads, ready, sharedBy } from "./contract.ts";

const nobody = { selector: null };

/**
 * Admission by a ClusterAccount is checked before anything that depends on the kind, so one kind of each type is
 * enough.
 */
const ofEachSort = [
  ...Map.groupBy(subjects, ({ kind: { resource } }) =>
    JSON.stringify([resource.identity, Object.keys(resource.secret ?? {})]),
  ).values(),
].flatMap(([first]) => first ?? []);

const notAllowed = (world: Landscape, it: Trial) => world.untilReason(it.ref("shut"), "AccountNotAllowed");
const throughShared = (world: Landscape, it: Trial, role: string, spec: object = {}) =>
  world.apply(it.manifest(it.name(role), { ...spec, accountRef: sharedBy(world) }));

/** Changes the spec of the ClusterAccount. Waits until the operator has observed it. */
async function share(world: Landscape, spec: object): Promise<void> {
  await world.patch(`clusteraccount/${world.namespace}`, { spec });
  await world.untilReady(`clusteraccount/${world.namespace}`);
}

/** The rights that a ClusterAccount gives and takes. */
export const admission: readonly Promised[] = [
  promise(
    "neither adopts nor observes by a ClusterAccount what no object of its namespace owns",
    async (it, expect, world) => {
      const id = await it.createByHand("foreign");
      const before = reads(await it.there("foreign"));
      for (const managementPolicy of ["Manage", "Observe"]) {
        await throughShared(world, it, "foreign", { externalId: id, managementPolicy });
        await world.untilReason(it.ref("foreign"), "NotYours");
        await world.remove(it.ref("foreign"));
      }
      expect(reads(await it.there("foreign"))).toEqual(before);
      await it.erase("foreign");
    },
    subjects,
    (world) => share(world, { adoption: "None" }),
  ),

  promise(
    "begins to create by a ClusterAccount",
    async (it, expect, world) => {
      await throughShared(world, it, "shut");
      await expect.poll(() => world.value(it.ref("shut"), "{.status.id}{.status.secretName}")).not.toBe("");
    },
    ofEachSort,
    (world) => world.platform.faults({ route: "* *", fault: "slow-provisioning", factor: 50 }),
  ),

  promise(
    "keeps what it has while it is not admitted any more, and changes nothing",
    async (it, expect, world) => {
      await notAllowed(world, it);
      const id = await world.value(it.ref("shut"), "{.status.id}");
      await throughShared(world, it, "shut", it.change?.(it.name("shut")).spec);
      const generation = await world.value(it.ref("shut"), "{.metadata.generation}");
      await expect.poll(() => world.value(it.ref("shut"), "{.status.observedGeneration}")).toBe(generation);
      await notAllowed(world, it);
      expect(await world.value(it.ref("shut"), "{.status.id}")).toBe(id);
      expect(await it.there("shut")).toHaveLength(1);
    },
    ofEachSort,
    (world) => share(world, { namespaces: nobody }),
  ),

  promise(
    "goes on when it is admitted again",
    async (it, expect, world) => {
      await world.untilReady(it.ref("shut"));
      const { shows } = it.change?.(it.name("shut")) ?? { shows: it.shows(it.name("shut")) };
      expect(await it.there("shut")).toEqual(containing(shows));
      expect(await it.effects("shut")).toHaveLength(1);
    },
    ofEachSort,
    async (world) => {
      await world.platform.faults();
      await share(world, { namespaces: all });
    },
  ),

  promise(
    "is not deleted while it is not admitted",
    async (it, expect, world) => {
      await notAllowed(world, it);
      await world.askToRemove(it.ref("shut"));
      await expect.poll(() => world.value(it.ref("shut"), ready)).toContain("set deletionPolicy: Retain");
      expect(await it.effects("shut")).toHaveLength(1);
    },
    ofEachSort,
    (world) => share(world, { namespaces: nobody }),
  ),

  promise(
    "is deleted when it is admitted again",
    async (it, expect, world) => {
      await world.untilGone(it.ref("shut"));
      await expect.poll(() => it.effects("shut")).toEqual([]);
    },
    ofEachSort,
    (world) => share(world, { namespaces: all, adoption: "Any" }),
  ),
];
