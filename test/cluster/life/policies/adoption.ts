import { type Subject, subjects } from "../../kinds-under-test.ts";
import { api } from "../../landscape.ts";
import type { Trial } from "../../trial.ts";
import { containing, none, type Promised, promise, reads, ready } from "./contract.ts";

/** An object with only the id of its resource and the fields that the platform does not know. */
const naming = (it: Trial, role: string, spec: object) => ({
  apiVersion: api,
  kind: it.kind.kind,
  metadata: { name: it.name(role) },
  spec: { ...it.place(it.name(role)), ...it.otherFields?.(it.name(role)), ...spec },
});

/** Whether the platform shows the immutable field. It does not show the source of a snapshot. */
const isSeen = ({ fixedChange }: Pick<Subject, "fixedChange">) =>
  fixedChange !== undefined && !Object.keys(fixedChange.spec).some((field) => field.endsWith("Ref"));

/** Taking over what is on the platform, or only looking at it. */
export const adoption: readonly Promised[] = [
  promise(
    "does not own a resource that differs in a fixed field: it is left alone, and spec can be corrected",
    async (it, expect, world) => {
      const externalId = await it.createByHand("found");
      const before = reads(await it.there("found"));
      const { spec } = it.fixedChange ?? none;
      const [field = ""] = Object.keys(spec);
      const ask = async () => {
        await world.apply(naming(it, "found", { externalId, ...spec }));
        await world.untilReason(it.ref("found"), "NotAdoptable");
      };
      await ask();
      const message = await world.value(it.ref("found"), ready);
      expect(message).toMatch(new RegExp(`is not adopted: ${field} is .+ on the platform and .+ in spec`));
      expect(await world.value(it.ref("found"), "{.status.id}")).toBe("");
      await world.remove(it.ref("found"));
      expect(reads(await it.there("found"))).toEqual(before);
      await ask();
    },
    subjects.filter(isSeen),
  ),

  promise(
    "adopts an existing resource by its id alone, leaves it as it is, and then brings it in line with spec",
    async (it, expect, world) => {
      const externalId = isSeen(it) ? (await it.there("found"))[0]?.id : await it.createByHand("found");
      const before = reads(await it.there("found"));
      await world.apply(naming(it, "found", { externalId }));
      await world.untilReady(it.ref("found"));
      expect(await world.value(it.ref("found"), "{.status.id}")).toBe(externalId);
      expect(reads(await it.there("found"))).toEqual(before);
      const reported = new RegExp(`^adopting ${it.kind.kind} ${externalId}$`);
      await expect.poll(() => it.eventCount("found", "Adopting", reported)).toBe(1);
      if (!it.change) return;
      const { spec, shows } = it.change(it.name("found"));
      await world.apply(naming(it, "found", { externalId, ...spec }));
      await expect.poll(() => it.there("found")).toEqual(containing(shows));
      await world.untilReady(it.ref("found"));
    },
  ),

  promise(
    "does not end the key of what it adopts, and tells the way to a new one",
    async (it, expect, world) => {
      expect(await it.there("found")).toEqual([expect.objectContaining({ keyVersion: 1 })]);
      expect(await world.value(it.ref("found"), "{.status.advice}")).toContain("mooring.dev/rotate-at");
      expect(await world.value(it.ref("found"), "{.status.secretName}")).toBe("");
    },
    subjects.filter(({ kind, change }) => kind.resource.secret?.key && change),
  ),

  promise(
    "does not adopt what is not there, nor what belongs to another object, unless it is shared",
    async (it, expect, world) => {
      const { onePer, shared } = it.kind.resource.identity;
      await world.apply(it.manifest(it.name("nobody"), { externalId: it.nobody }));
      await world.untilReason(it.ref("nobody"), "NotAdoptable");
      expect(await world.value(it.ref("nobody"), ready)).toContain(`there is no ${it.kind.kind} ${it.nobody}`);
      const id = await world.value(it.ref("found"), "{.status.id}");
      const before = reads(await it.effects("found"));
      expect(before).toHaveLength(1);
      await world.apply(it.manifest(it.name("thief"), { ...it.place(it.name("found")), externalId: id }));
      if (shared) {
        await world.untilReady(it.ref("thief"), it.ref("found"));
        expect(await it.effects("thief")).toHaveLength(1);
      } else {
        const owner = `${it.kind.kind}/${world.namespace}/${it.name("found")}`;
        await world.untilReason(it.ref("thief"), onePer === undefined ? "NotAdoptable" : "OnlyOne");
        expect(await world.value(it.ref("thief"), ready)).toContain(owner);
      }
      await world.remove(it.ref("nobody"), it.ref("thief"));
      expect(reads(await it.effects("found"))).toEqual(before);
    },
  ),

  promise(
    "observes: shows the resource with nothing but its identity in spec, and never touches it",
    async (it, expect, world) => {
      const id = await it.createByHand("watched");
      const all = async () => [reads(await it.there("watched")), reads(await it.effects("watched"))];
      const before = await all();
      const place = it.place(it.name("watched"));
      const spec = { ...place, externalId: id, managementPolicy: "Observe", ...it.unlike };
      await world.apply({ apiVersion: api, kind: it.kind.kind, metadata: { name: it.name("watched") }, spec });
      await world.untilReason(it.ref("watched"), "Observed");
      const [field = ""] = Object.keys(it.unlike);
      expect(await world.value(it.ref("watched"), "{.status.id} {.status.drift[0].field}")).toBe(`${id} ${field}`);
      expect(await all()).toEqual(before);
      await world.remove(it.ref("watched"));
      expect(await all()).toEqual(before);
      await it.erase("watched");
    },
  ),
];
