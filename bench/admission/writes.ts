import { setTimeout as delay } from "node:timers/promises";
import type { KubeClient } from "../../src/kube/client/transport.ts";
import { type KubeObject, pathOf, type Resource } from "../../src/kube/resource.ts";
import { subjects } from "../../test/subjects/index.ts";
import { each } from "../scale/population.ts";
import { cpuOf } from "../scale/proc.ts";
import type { Variant } from "./variants.ts";

export const operations = ["create", "status", "spec"] as const;
export type Operation = (typeof operations)[number];

const AT_ONCE = 4;
const NAMESPACE = "default";

export interface Bench {
  client: KubeClient;
  /** The process of the API server. */
  apiserver: number;
}

/** Makes a variant known, and waits until its objects can be written. */
export async function serve({ client }: Bench, { crd, resource }: Variant): Promise<void> {
  const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  await client.request({ method: "POST", path, body: crd });
  for (let attempt = 0; ; attempt++) {
    try {
      await client.request({ method: "GET", path: pathOf(resource), query: { limit: "1" } });
      return;
    } catch (error) {
      if (attempt === 600) throw error;
      await delay(100);
    }
  }
}

export async function forget({ client }: Bench, { resource }: Variant): Promise<void> {
  const name = `${resource.plural}.${resource.group}`;
  const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${name}`;
  await client.request({ method: "DELETE", path });
}

/** Milliseconds of CPU of the API server for each of so many writes. */
export async function costOf(bench: Bench, variant: Variant, operation: Operation, names: readonly string[]) {
  const before = cpuOf(bench.apiserver);
  await each(names, (name) => write(bench.client, variant.resource, operation, name), AT_ONCE);
  return (1000 * (cpuOf(bench.apiserver) - before)) / names.length;
}

/** The same write again and again, which the API server does not store. */
export async function dryCostOf(bench: Bench, variant: Variant, name: string, writes: number): Promise<number> {
  const before = cpuOf(bench.apiserver);
  const times = Array.from({ length: writes }, () => name);
  await each(times, (each) => write(bench.client, variant.resource, "status", each, true), AT_ONCE);
  return (1000 * (cpuOf(bench.apiserver) - before)) / writes;
}

function subjectOf(kind: string) {
  const subject = subjects.find((each) => each.kind === kind);
  if (!subject) throw new Error(`there is no ${kind} in test/subjects`);
  return subject;
}

/** Which write comes next, so that each changes something. */
let turn = 0;

async function write(client: KubeClient, resource: Resource, operation: Operation, name: string, dry = false) {
  const { spec, own, change } = subjectOf(resource.kind);
  const namespace = resource.namespaced ? NAMESPACE : undefined;
  const query = dry ? { dryRun: "All" } : {};
  turn += 1;
  if (operation === "create") {
    const object: KubeObject = {
      apiVersion: `${resource.group}/${resource.version}`,
      kind: resource.kind,
      metadata: { name, ...(namespace !== undefined && { namespace }) },
      spec: { ...spec, ...own?.(name) },
    };
    return client.request({ method: "POST", path: pathOf(resource, { namespace }), query, body: object });
  }
  const subresource = operation === "status" ? "status" : undefined;
  const body = operation === "status" ? { status: statusOf(resource.kind) } : { spec: change?.(name).spec ?? {} };
  const path = pathOf(resource, { namespace, name, subresource });
  return client.request({ method: "PATCH", path, query, contentType: "application/merge-patch+json", body });
}

/** About what Mooring writes when an object becomes Ready. */
function statusOf(kind: string): object {
  const id = "72e73b81-8551-4e74-b398-fc63b39994af";
  const lastTransitionTime = "2026-01-01T00:00:00Z";
  const message = `${kind} is up to date, ${turn}`;
  return {
    observedGeneration: 1,
    id,
    state: "AVAILABLE",
    conditions: [{ type: "Ready", status: "True", reason: "Available", message, lastTransitionTime }],
    ...(kind === "Server" && {
      vmState: "RUNNING",
      cores: 2,
      ram: 2048,
      ips: ["192.0.2.1"],
      bootVolumeId: id,
      nics: [{ id, name: "public", lan: 1, mac: "02:01:00:00:00:01", ips: ["192.0.2.1"], firewallActive: false }],
    }),
  };
}
