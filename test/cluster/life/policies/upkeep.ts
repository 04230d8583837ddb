import type { ExpectStatic } from "vitest";
import { type Subject, subjects } from "../../kinds-under-test.ts";
import type { Landscape } from "../../landscape.ts";
import type { Trial } from "../../trial.ts";
import { containing, none, type Promised, promise, ready } from "./contract.ts";

/** Changes that only a replacement can bring about. */
const replacing = ({ fixedChange, move }: Pick<Subject, "fixedChange" | "move">) => fixedChange ?? move;

/** Applies like Flux, and waits until the object is Ready with the new generation. */
async function reapply(world: Landscape, it: Trial, expect: ExpectStatic, role: string, spec?: object): Promise<void> {
  await world.applyServerSide(it.manifest(it.name(role), spec));
  const generation = await world.value(it.ref(role), "{.metadata.generation}");
  await expect.poll(() => world.value(it.ref(role), "{.status.observedGeneration}")).toBe(generation);
  await world.untilReady(it.ref(role));
}

/** A change of an optional field. A name has a default. */
const optionalChange = ({ spec, change }: Pick<Subject, "spec" | "change">) => {
  const changed = change?.("any").spec ?? {};
  return Object.keys(changed).some((field) => field !== "name" && !(field in spec)) ? change : undefined;
};

/** The life of what an object has brought about. */
export const upkeep: readonly Promised[] = [
  promise("retains: the resource stays when the object goes", async (it, expect, world) => {
    await world.apply(it.manifest(it.name("kept"), { deletionPolicy: "Retain" }));
    await world.untilReady(it.ref("kept"));
    const id = await world.value(it.ref("kept"), "{.status.id}");
    await world.remove(it.ref("kept"));
    // A resource without a name is known by the Event, which may come later.
    await expect.poll(() => it.there("kept")).toEqual([expect.objectContaining({ id })]);
    expect(await it.there("kept")).toEqual(containing(it.shows(it.name("kept"))));
    await it.erase("kept");
  }),

  promise("pauses: nothing is done until the annotation goes", async (it, expect, world) => {
    const name = it.name("paused");
    const metadata = { name, annotations: { "mooring.dev/paused": "true" } };
    await world.apply({ ...it.manifest(name), metadata });
    await expect.poll(() => world.value(it.ref("paused"), "{.status.conditions[*].type}")).toBe("Ready Paused");
    expect(await it.effects("paused")).toEqual([]);
    await it.annotate("paused", "mooring.dev/paused-");
    await world.untilReady(it.ref("paused"));
    expect(await it.effects("paused")).toHaveLength(1);
  }),

  promise(
    "looks when it is asked to, and changes back what somebody has changed",
    async (it, expect, world) => {
      const shows = it.shows(it.name("paused"));
      const reported = () =>
        it.eventCount("paused", "Updated", new RegExp(`^asked the platform to .*: ${Object.keys(shows)[0]}`));
      // A switch is already on, and its Event may come after Ready.
      const before = it.kind.resource.identity.permanent ? 1 : 0;
      await expect.poll(reported).toBe(before);
      await it.tamper("paused");
      await it.annotate("paused", "mooring.dev/reconcile-at=now");
      await expect.poll(reported).toBe(before + 1);
      await world.untilReady(it.ref("paused"));
      await expect.poll(() => it.there("paused")).toEqual(containing(shows));
    },
    subjects.filter(({ change }) => change),
  ),

  promise(
    "creates again what was removed behind its back",
    async (it, expect, world) => {
      const before = await it.madeAt("paused");
      await it.erase("paused");
      const id = await world.value(it.ref("paused"), "{.status.id}");
      await it.annotate("paused", "mooring.dev/reconcile-at=later");
      if ((await world.value(it.ref("paused"), "{.spec.recreatePolicy}")) === "Never") {
        await world.untilReason(it.ref("paused"), "DeletedExternally");
        await it.annotate("paused", `mooring.dev/recreate=${id}`);
      }
      await it.untilMadeAnew("paused", before);
      expect(await it.there("paused")).toHaveLength(1);
    },
    // Nobody can delete a permanent resource.
    subjects.filter(({ kind }) => !kind.resource.identity.permanent),
  ),

  promise(
    "refuses a change of a fixed field at apply, and replaces the resource where that is allowed",
    async (it, expect, world) => {
      const name = it.name("fixed");
      await world.apply(it.manifest(name));
      await world.untilReady(it.ref("fixed"));
      const before = await it.madeAt("fixed");
      const { spec, shows } = replacing(it) ?? none;
      const [field = ""] = Object.keys(spec);
      await expect(world.apply(it.manifest(name, spec))).rejects.toThrow(`${field} cannot be changed`);

      await world.apply(it.manifest(name, { ...spec, replacePolicy: "WhenNeeded" }));
      if (it.kind.resource.destruction.holdsData) {
        await world.untilReason(it.ref("fixed"), "DataLossNotAllowed");
        expect(await it.madeAt("fixed")).toBe(before);
        await it.annotate("fixed", "mooring.dev/allow-data-loss=true");
      }
      await it.untilMadeAnew("fixed", before);
      expect(await it.there("fixed")).toEqual(containing(shows));
      expect(await it.effects("fixed")).toHaveLength(1);
    },
    subjects.filter(replacing),
  ),

  promise(
    "takes an emptied list for a wish, also by server-side apply, and leaves alone a list that spec does not have",
    async (it, expect, world) => {
      const applied = (spec?: object) => reapply(world, it, expect, "listed", spec);
      await applied();
      for (const { spec, silent, members } of Object.values(it.lists ?? {})) {
        const there = async () => {
          const [found] = await it.there("listed");
          return found && members(found, world.platform);
        };
        expect(await there()).toHaveLength(1);
        if (silent) {
          await applied(silent);
          expect(await there()).toHaveLength(1);
          await applied();
        }
        await applied(spec);
        expect(await there()).toEqual([]);
      }
      await world.remove(it.ref("listed"));
    },
    subjects.filter(({ lists }) => lists),
  ),

  promise(
    "leaves alone what spec no longer says",
    async (it, expect, world) => {
      const { spec, shows } = optionalChange(it)?.(it.name("silent")) ?? none;
      await reapply(world, it, expect, "silent", spec);
      await reapply(world, it, expect, "silent");
      expect(await it.there("silent")).toEqual(containing(shows));
      await world.remove(it.ref("silent"));
    },
    subjects.filter(optionalChange),
  ),

  promise(
    "leaves a Secret of somebody else as it is, and does nothing until it is gone",
    async (it, expect, world) => {
      const name = it.name("barred");
      const secret = `${name}-${it.word}`;
      await world.apply({
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name: secret },
        stringData: { key: "theirs" },
      });
      await world.apply(it.manifest(name));
      await world.untilReason(it.ref("barred"), "SecretNotOwned");
      expect(await world.value(it.ref("barred"), ready)).toContain(secret);
      const theirs = { key: Buffer.from("theirs").toString("base64") };
      expect(JSON.parse(await world.value(`secret/${secret}`, "{.data}"))).toEqual(theirs);
      await world.remove(`secret/${secret}`);
      await world.untilReady(it.ref("barred"));
      expect(JSON.parse(await world.value(`secret/${secret}`, "{.data}"))).not.toEqual(theirs);
      await world.remove(`${it.word}/${name}`);
    },
    subjects.filter(({ kind }) => kind.resource.secret),
  ),

  promise("deletes: nothing is left of what the object has brought about", async (it, expect, world) => {
    const role = replacing(it) ? "fixed" : "paused";
    await world.remove(it.ref(role));
    // Garbage collection of the Secret takes a moment.
    if (it.kind.resource.secret?.certificate) await expect.poll(() => it.effects(role)).toEqual([]);
    else expect(await it.effects(role)).toEqual([]);
  }),
];
