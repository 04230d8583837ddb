import { setTimeout as delay } from "node:timers/promises";
import { afterAll, describe, expect, it } from "vitest";
import { kinds } from "../../../src/kinds/index.ts";
import { checkOut, lastLanded } from "../../crash/former.ts";
import { chosenKinds, subjectsOf } from "../../crash/lives/lives.ts";
import { CREDENTIALS, manifest } from "../../crash/lives/manifests.ts";
import { crashMatrix, faultsOf } from "../../crash/matrix.ts";
import { complaints, render } from "../../crash/verdict/print.ts";
import { chance } from "../../soak/chance.ts";
import { populate } from "../../soak/population.ts";
import { createSoakObjects } from "../../soak/soak-objects.ts";
import { moveIn, soakObjectsOf, type Tenant } from "../../soak/tenants.ts";
import { judge, unrest } from "../../soak/verdict.ts";
import { accountSpec } from "../../subjects/surroundings.ts";
import { type Platform, startPlatform } from "../chaos/platform.ts";
import { openStage, type Stage } from "../chaos/stage.ts";
import { until } from "../chaos/wait.ts";
import { cluster } from "../harness.ts";

const revision = lastLanded();
const former = revision === undefined ? undefined : checkOut(revision);
afterAll(() => former?.remove());

// `make crash ARGS="--from REVISION"` does this at every call of every kind.
describe("an upgrade from the version that landed last", () => {
  it.skipIf(!former)(
    "finds what was being created, replaced, rotated or deleted, and finishes it",
    {
      timeout: 600_000,
    },
    async () => {
      const subjects = subjectsOf(chosenKinds(kinds, ["Datacenter", "MetricPipeline"]));
      // A change is the least risky phase.
      const writes = ["create", "replace", "rotate", "delete"];
      const moments = ["executed"] as const;
      const { kubeconfig } = cluster();
      const result = await crashMatrix({ kubeconfig, subjects, moments, writes, slice: true, former: former?.path });
      console.log(`from ${revision}\n${render(result)}`);
      expect(faultsOf(result), complaints(result).join("\n\n")).toEqual({
        duplicates: 0,
        leaks: 0,
        lostSecrets: 0,
        stuck: 0,
        writesNotReached: 0,
      });
      const phases = result.kinds.flatMap(({ rows }) => rows.map(({ position }) => position.phase));
      expect(new Set(phases)).toEqual(new Set(writes));
    },
  );

  // `make test-node` does this with the image, the chart and objects of all kinds.
  it.skipIf(!former)(
    "and back duplicates, loses and leaves nothing while objects are created, edited and deleted",
    {
      timeout: 600_000,
    },
    async () => {
      await using stage = await openStage(cluster().kubeconfig);
      await using platform = await startPlatform();
      const tenant = tenantOf(stage, platform);
      const soakObjects = createSoakObjects(soakObjectsOf([tenant]), chance(1));
      const formerly = { main: `${former?.path}/src/main.ts` };
      let leader = await stage.operator(formerly);
      await leader.untilLeading();
      await moveIn(tenant);
      await soakObjects.createAll();
      const { done } = soakObjects;
      const deeds = () => done.created + done.edited + done.deleted;
      const someDeeds = () => {
        const wanted = deeds() + 10;
        return until(() => (deeds() < wanted ? `${deeds()} of ${wanted}` : undefined), { title: "deeds" });
      };
      let ended = false;
      const churn = async () => {
        for (; !ended; await delay(20)) await soakObjects.step();
      };
      const rollOut = async () => {
        try {
          for (const version of [{}, formerly]) {
            // As a Deployment does it: the new pod is there before the other one ends.
            const next = await stage.operator(version);
            await someDeeds();
            expect(leader.leads()).toBe(true);
            await leader.stop();
            await next.untilLeading();
            leader = next;
            await someDeeds();
          }
        } finally {
          ended = true;
        }
      };
      await Promise.all([churn(), rollOut()]);
      const wanted = soakObjects.wantedOf(tenant);
      await until(() => unrest(stage, wanted), { title: "rest", forMs: 300_000 });
      expect(await judge([{ stage, wanted }], platform.steering, undefined, loaded)).toEqual([]);
    },
  );
});

/** Kinds without Secrets: the garbage collection of Secrets is not a part of this cluster. */
const loaded = chosenKinds(kinds, ["Datacenter", "Lan", "Server", "Volume", "IPBlock", "Snapshot"]);

function tenantOf(stage: Stage, platform: Platform): Tenant {
  const account = manifest("Account", "main", accountSpec({ api: platform.url, nth: 0 }));
  const login = { account, secrets: [{ stage, name: CREDENTIALS }], token: platform.token };
  return { stage, platform, login, ...populate(2 * loaded.length, platform.url, loaded, account) };
}
