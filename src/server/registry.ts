import { collectDefaultMetrics, Registry } from "prom-client";

let ofThisProcess: Registry | undefined;

/** A registry with the default metrics of Node. Their timer and observer never end, so all registries share them. */
export function createRegistry(): Registry {
  if (!ofThisProcess) {
    ofThisProcess = new Registry();
    collectDefaultMetrics({ register: ofThisProcess });
  }
  return Registry.merge([ofThisProcess]);
}
