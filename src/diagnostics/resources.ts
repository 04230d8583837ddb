import type { KubeObject } from "../kube/resource.ts";
import { allObjects, isReady, kindOf, type ObjectAsked, objectNamed, summaryOf } from "./objects.ts";
import type { Sources } from "./sources.ts";

/** A list of objects in short form. */
export async function listResources(
  sources: Sources,
  asked: { kind?: string | undefined; namespace?: string | undefined; not_ready?: boolean | undefined },
) {
  const of = asked.kind === undefined ? undefined : [kindOf(asked.kind)];
  const all = [...(await allObjects(sources, asked.namespace, of)).values()];
  const chosen = asked.not_ready ? all.filter(({ object }) => !isReady(object)) : all;
  return {
    items: chosen.map(summaryOf),
    ready: all.filter(({ object }) => isReady(object)).length,
    total: all.length,
  };
}

const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

/** An object without internal fields and without those that only repeat others. */
export function shown(object: KubeObject): KubeObject {
  const { annotations: { [LAST_APPLIED]: _, ...annotations } = {}, ...metadata } = object.metadata;
  const { internal: __, ...status } = Object(object.status ?? {});
  return { ...object, metadata: { ...metadata, annotations }, status };
}

export async function getResource({ cluster, signal }: Sources, asked: ObjectAsked) {
  const { kind, object } = await objectNamed(await cluster(), asked, signal);
  return { ...shown(object), description: kind.description };
}
