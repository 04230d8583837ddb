import type { Subject } from "./subject.ts";
import { core } from "./surroundings.ts";

export const datacenter: Subject = {
  kind: "Datacenter",
  spec: { location: "de/txl" },
  wire: {
    collection: "datacenters",
    path: () => `${core}/datacenters`,
    body: (name) => ({ properties: { name, location: "de/txl" } }),
  },
  change: () => ({ spec: { description: "changed" }, shows: { description: "changed" } }),
  fixedChange: { spec: { location: "de/fra" }, shows: { location: "de/fra" } },
};
