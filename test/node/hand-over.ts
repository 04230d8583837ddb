import { stringify } from "yaml";
import { until } from "../cluster/chaos/wait.ts";
import type { Say } from "./given.ts";
import { ctr } from "./machine.ts";
import { holder, operatorPods, type Pod, SYSTEM, type Tools } from "./tools.ts";

type End = (tools: Tools, pod: Pod) => Promise<unknown> | unknown;

/** Ways to end the leading pod. */
const ends: Record<string, End> = {
  deleted: ({ kubectl }, { name }) => kubectl("--namespace", SYSTEM, "delete", "pod", name, "--wait=false"),
  evicted: ({ feed }, { name }) => {
    const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name, namespace: SYSTEM } };
    const path = `/api/v1/namespaces/${SYSTEM}/pods/${name}/eviction`;
    return feed(JSON.stringify(eviction), "create", "--raw", path, "--filename", "-");
  },
  killed: (_, { container }) => ctr("tasks", "kill", "--signal", "SIGKILL", container),
};

/**
 * However the leading pod ends, an object that is created at that moment becomes Ready: by the other pod, or, if only
 * the container ended, by the next container of the same pod, which takes the Lease immediately.
 */
export async function handOvers(tools: Tools, say: Say): Promise<void> {
  for (const [how, end] of Object.entries(ends)) {
    await bothReady(tools);
    const leader = await holder(tools);
    const pod = (await operatorPods(tools)).find(({ name }) => leader.startsWith(name));
    if (!pod) throw new Error(`the Lease is held by ${leader}, which is no pod`);
    await end(tools, pod);
    const begun = performance.now();
    const name = `handed-over-${how}`;
    const object = {
      apiVersion: "mooring.dev/v1alpha1",
      kind: "Datacenter",
      metadata: { name },
      spec: { location: "de/txl" },
    };
    await tools.feed(stringify(object), "apply", "--filename", "-");
    await tools.kubectl("wait", "datacenter", name, "--for=condition=Ready", "--timeout=240s");
    const seconds = ((performance.now() - begun) / 1000).toFixed(1);
    const next = await holder(tools);
    if (next === leader && how !== "killed") throw new Error(`${how}: ${leader} still holds the Lease`);
    const who = next === leader ? "the same" : "another";
    say(`the pod that leads is ${how}: ${who} one holds the Lease, and a new object is Ready after ${seconds} s`);
  }
  await bothReady(tools);
}

export async function bothReady(tools: Tools): Promise<void> {
  const missing = async () => {
    const pods = await operatorPods(tools);
    return pods.length === 2 && pods.every(({ ready }) => ready) ? undefined : JSON.stringify(pods);
  };
  await until(missing, { title: "two pods that are Ready", forMs: 180_000, everyMs: 1000 });
}
