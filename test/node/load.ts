import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { kinds } from "../../src/kinds/index.ts";
import { platformAt } from "../cluster/chaos/platform.ts";
import { openStage } from "../cluster/chaos/stage.ts";
import { until } from "../cluster/chaos/wait.ts";
import { CREDENTIALS, manifest } from "../crash/lives/manifests.ts";
import { collectionOf } from "../crash/verdict/verdict.ts";
import { chance } from "../soak/chance.ts";
import { populate, soakedKinds } from "../soak/population.ts";
import { createSoakObjects, type SoakObjects } from "../soak/soak-objects.ts";
import { moveIn, soakObjectsOf, type Tenant } from "../soak/tenants.ts";
import { judge, totals, unrest } from "../soak/verdict.ts";
import { accountSpec } from "../subjects/surroundings.ts";
import type { Say } from "./given.ts";
import { bothReady } from "./hand-over.ts";
import { namespaced, namespacedKinds, type PlatformInCluster } from "./install.ts";
import { NODE } from "./machine.ts";
import { operatorPods, type Tools } from "./tools.ts";

/** A version of the operator. */
export interface Rollout {
  /** The end of the image's name in its pods. */
  image: string;
  deploy(tools: Tools): Promise<unknown>;
}

interface Load {
  kubeconfig: string;
  platform: PlatformInCluster;
  objects: number;
  /** Rolled out one after the other under load. */
  rollouts: readonly Rollout[];
  say: Say;
}

/** A user has at most a hundred tokens. */
const manyOf = soakedKinds.filter(({ resource }) => resource?.place.product !== "auth");

/** Collections of permanent resources. */
export const permanent = kinds.filter(({ resource }) => resource?.identity.permanent).map(collectionOf);

/** Many objects of all kinds; then upgrades while they are created, edited and deleted. Nothing may be lost. */
export async function bearLoad(tools: Tools, { kubeconfig, platform, objects, rollouts, say }: Load): Promise<void> {
  await using stage = await openStage(kubeconfig);
  const account = manifest("Account", "main", accountSpec({ api: platform.url, nth: 0 }));
  const tenant: Tenant = {
    stage,
    platform: platformAt(platform.url, platform.token, platform.control),
    login: { account, secrets: [{ stage, name: CREDENTIALS }], token: platform.token },
    ...populate(objects, platform.url, manyOf, account),
  };
  const { steering } = tenant.platform;
  // From now on, every resource on the platform must belong to one of these objects.
  await tools.kubectl("delete", namespacedKinds, "--all", "--timeout=180s");
  const left = Object.keys(await steering.made()).filter((each) => !permanent.includes(each));
  if (left.length > 0) throw new Error(`all samples are deleted, and the platform still has ${left.join(", ")}`);
  await moveIn(tenant);
  const soakObjects = createSoakObjects(soakObjectsOf([tenant]), chance(1));
  const atRest = () =>
    until(() => unrest(stage, soakObjects.wantedOf(tenant)), { title: "rest", forMs: 1_200_000, everyMs: 5000 });

  const restarts = (await operatorPods(tools)).reduce((sum, pod) => sum + pod.restarts, 0);
  const memory = watchMemory(tools);
  await soakObjects.createAll();
  await atRest();
  const { peakMb, restMb } = await memory.end();
  const limitMb = await memoryLimitMb(tools);
  if (peakMb > limitMb) throw new Error(`the operator needs ${peakMb} MB; its limit is ${limitMb} MB`);
  const pods = await operatorPods(tools);
  if (pods.reduce((sum, pod) => sum + pod.restarts, 0) !== restarts) throw new Error(JSON.stringify(pods));
  say(`${objects} objects: at most ${peakMb} MB while they are made, ${restMb} MB at rest, limit ${limitMb} MB`);

  const { deeds } = await upgradeUnderLoad(tools, soakObjects, rollouts);
  await atRest();
  const places = [{ stage, wanted: soakObjects.wantedOf(tenant) }];
  const problems = await judge(places, steering, undefined, manyOf);
  for (const { fault, message } of problems) console.log(`${fault}: ${message}`);
  if (problems.length > 0) throw new Error(totals(objects, problems));
  say(`${rollouts.length} rolling upgrades while ${deeds}: ${totals(objects, problems)}`);
}

const DEEDS = ["created", "edited", "deleted"] as const;

async function upgradeUnderLoad(
  tools: Tools,
  soakObjects: SoakObjects,
  rollouts: readonly Rollout[],
): Promise<{ deeds: string }> {
  const before = { ...soakObjects.done };
  let ended = false;
  const churn = async () => {
    for (; !ended; await delay(20)) await soakObjects.step();
  };
  const roll = async ({ image: wanted, deploy }: Rollout) => {
    await deploy(tools);
    await bothReady(tools);
    const pods = await operatorPods(tools);
    if (pods.some(({ image }) => !image.endsWith(wanted))) throw new Error(`not ${wanted}: ${JSON.stringify(pods)}`);
    // The current leader has continued objects of another one.
    await delay(20_000);
  };
  const rolling = async () => {
    try {
      for (const rollout of rollouts) await roll(rollout);
    } finally {
      ended = true;
    }
  };
  await Promise.all([churn(), rolling()]);
  const deeds = DEEDS.map((each) => `${soakObjects.done[each] - before[each]} objects are ${each}`).join(", ");
  return { deeds };
}

const summary = z.looseObject({
  pods: z.array(
    z.looseObject({
      podRef: z.looseObject({ name: z.string(), namespace: z.string() }),
      containers: z
        .array(z.looseObject({ memory: z.looseObject({ workingSetBytes: z.number().optional() }).optional() }))
        .default([]),
    }),
  ),
});

/** The memory of the operator's pods by the kubelet: the maximum, and the last value. */
function watchMemory({ kubectl }: Tools) {
  let ended = false;
  let peakMb = 0;
  let restMb = 0;
  const sample = async () => {
    const answer = await kubectl("get", "--raw", `/api/v1/nodes/${NODE}/proxy/stats/summary`);
    const { pods } = summary.parse(JSON.parse(answer));
    const operators = pods.filter(({ podRef }) => /^mooring-[0-9a-f]+-/.test(podRef.name));
    const bytes = operators.flatMap(({ containers }) => containers.map(({ memory }) => memory?.workingSetBytes ?? 0));
    restMb = Math.ceil(Math.max(0, ...bytes) / 2 ** 20);
    peakMb = Math.max(peakMb, restMb);
  };
  const looking = (async () => {
    for (; !ended; await delay(3000)) await sample();
  })();
  return {
    async end() {
      ended = true;
      await looking;
      await sample();
      if (peakMb === 0) throw new Error("the kubelet tells nothing of the operator's memory");
      return { peakMb, restMb };
    },
  };
}

async function memoryLimitMb({ kubectl }: Tools): Promise<number> {
  const path = "jsonpath={.spec.template.spec.containers[0].resources.limits.memory}";
  const limit = (await kubectl(...namespaced, "get", "deployment", "mooring", "--output", path)).match(
    /^(\d+)(Mi|Gi)$/,
  );
  if (!limit) throw new Error("the Deployment has no memory limit in Mi or Gi");
  return Number(limit[1]) * (limit[2] === "Gi" ? 1024 : 1);
}
