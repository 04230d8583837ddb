import { FINALIZER } from "../../../src/engine/state/names.ts";
import type { KubeObject } from "../../../src/kube/resource.ts";
import { API, fakePlatform } from "./fake-platform.ts";
import { datacenterSpec, objectOf, readyCondition } from "./fixtures.ts";

/** Datacenters that are there, claimed and Ready: nothing is left to do. */
export function restingDatacenters(count: number) {
  const platform = fakePlatform();
  const objects = Array.from({ length: count }, (_, index): KubeObject => {
    const name = `d${index}`;
    const id = platform.make(name, { properties: { name, ...datacenterSpec } });
    const conditions = [{ ...readyCondition(), message: "Datacenter is up to date", observedGeneration: 1 }];
    const claim = { id, parents: {}, account: "shop/main", endpoint: API, contract: 1, userId: "u1" };
    return objectOf("Datacenter", name, {
      spec: datacenterSpec,
      metadata: { name, finalizers: [FINALIZER] },
      status: { ...claim, state: "AVAILABLE", location: "de/txl", observedGeneration: 1, conditions },
    });
  });
  return { platform, objects };
}
