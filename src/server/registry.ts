import { collectDefaultMetrics, Registry } from "prom-client";

let ofThisProcess: Registry | undefined;

/** A registry with what Node tells of its process. The timer and the observer behind that never end: all registries share them. */
export function createRegistry(): Registry {
  if (!ofThisProcess) {
    ofThisProcess = new Registry();
    collectDefaultMetrics({ register: ofThisProcess });
  }
  return Registry.merge([ofThisProcess]);
}
