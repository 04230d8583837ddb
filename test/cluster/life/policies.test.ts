import { beforeAll, describe, expect, it } from "vitest";
import type { Ground } from "../ground.ts";
import type { Landscape } from "../landscape.ts";
import { datacenter, lan } from "../objects.ts";
import { trial } from "../trial.ts";
import { admission } from "./policies/admission.ts";
import { adoption } from "./policies/adoption.ts";
import { containing, openContract, ready } from "./policies/contract.ts";
import { upkeep } from "./policies/upkeep.ts";

let world: Landscape;
let ground: Ground;
beforeAll(async () => {
  ({ world, ground } = await openContract());
});

// A promise may go on with objects of earlier ones. Its kinds run concurrently, because they mostly wait.
for (const { title, kept, keep, before } of [...adoption, ...upkeep, ...admission]) {
  describe(title, () => {
    beforeAll(() => before(world));
    for (const subject of kept) {
      it.concurrent(subject.kind.kind, ({ expect }) => keep(trial(world, ground, subject, expect), expect, world));
    }
  });
}

describe("deletion", () => {
  it("a datacenter is not deleted with somebody else's server in it, unless that is allowed", async () => {
    await world.apply(datacenter("full"));
    await world.untilReady("datacenter/full");
    const id = await world.value("datacenter/full", "{.status.id}");
    await world.platform.call("POST", `/cloudapi/v6/datacenters/${id}/servers`, {
      properties: { name: "stranger", cores: 1, ram: 1024 },
    });
    await world.askToRemove("datacenter/full");
    await world.untilReason("datacenter/full", "NotEmpty");
    expect(await world.value("datacenter/full", ready)).toContain("server stranger");
    await world.annotate("datacenter/full", "mooring.dev/allow-non-empty-delete=yes");
    await world.untilGone("datacenter/full");
    expect((await world.platform.resources("servers")).map(({ properties }) => properties?.name)).not.toContain(
      "stranger",
    );
  });

  describe("a LAN that got the number of ours, after somebody had removed ours, is theirs", () => {
    const named = async (name: string) =>
      (await world.platform.resources("lans")).filter(({ properties }) => properties?.name === name);
    /** Our LAN is deleted and another one has its number, before the next list. */
    async function replaceByHand(name: string) {
      const lans = `/cloudapi/v6/datacenters/${ground.datacenter}/lans`;
      const theirs = `${name}-theirs`;
      await world.apply(lan(name));
      await world.untilReady(`lan/${name}`);
      const number = await world.value(`lan/${name}`, "{.status.id}");
      await world.platform.call("POST", "/_simulator/advance", { seconds: 600 });
      await world.platform.call("DELETE", `${lans}/${number}`);
      await expect.poll(() => named(name)).toEqual([]);
      await world.platform.call("POST", lans, { properties: { name: theirs, public: false } });
      await expect.poll(() => named(theirs)).toEqual([expect.objectContaining({ id: number, state: "AVAILABLE" })]);
      const remove = async () => {
        await world.platform.call("DELETE", `${lans}/${number}`);
        // Its number must be free first; otherwise the next LAN would get it.
        await expect.poll(() => named(theirs)).toEqual([]);
      };
      return { number, theirs, remove };
    }

    it("also when ours is created again", async () => {
      const { number, theirs, remove } = await replaceByHand("numbered");
      await world.annotate("lan/numbered", "mooring.dev/reconcile-at=now");
      await expect
        .poll(() => named("numbered"))
        .toEqual([expect.objectContaining({ id: expect.not.stringMatching(`^${number}$`) })]);
      await world.untilReady("lan/numbered");
      await world.remove("lan/numbered");
      expect(await named(theirs)).toEqual(containing({ public: false }));
      await remove();
    });

    it("also when ours is changed or deleted before anybody has looked", async () => {
      const changed = await replaceByHand("renumbered");
      await world.patch("lan/renumbered", { spec: { public: true } });
      await expect.poll(() => named("renumbered")).toEqual(containing({ public: true }));
      const deleted = await replaceByHand("unnumbered");
      await world.remove("lan/unnumbered");
      for (const { theirs, remove } of [changed, deleted]) {
        expect(await named(theirs)).toEqual(containing({ public: false }));
        await remove();
      }
      await world.remove("lan/renumbered");
    });
  });

  it("a namespace with everything in it disappears, and nothing is left on the platform", async () => {
    // The volume of a server that was adopted by id alone is not in spec, so it remains.
    await world.remove("server/server-found");
    const left = (await world.platform.resources("volumes")).filter(({ properties }) => properties?.name === "os");
    expect(left).toHaveLength(1);
    const volumes = `/cloudapi/v6/datacenters/${ground.datacenter}/volumes`;
    for (const { id } of left) await world.platform.call("DELETE", `${volumes}/${id}`);
    await world.kubectl("delete", "namespace", world.namespace, "--wait=false");
    // The Secret is in this namespace, which is also the operator's.
    await world.askToRemove(`clusteraccount/${world.namespace}`);
    const { stderr } = await world.kubectl("wait", "--for=delete", `namespace/${world.namespace}`, "--timeout=100s");
    expect(stderr).toBe("");
    const { centrals = [], ...others } = await world.platform.made();
    expect(others).toEqual({});
    // A permanent resource remains as it was.
    expect(centrals.filter(({ properties }) => properties?.enabled)).toEqual([]);
  });
});
