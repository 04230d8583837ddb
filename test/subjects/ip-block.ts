import type { Subject } from "./subject.ts";
import { core } from "./surroundings.ts";

export const ipBlock: Subject = {
  kind: "IPBlock",
  spec: { location: "de/txl", size: 1 },
  wire: {
    collection: "ipblocks",
    path: () => `${core}/ipblocks`,
    body: (name) => ({ properties: { name, location: "de/txl", size: 1 } }),
  },
  change: (name) => ({ spec: { name: `${name}-again` }, shows: { name: `${name}-again` } }),
  fixedChange: { spec: { size: 2 }, shows: { size: 2 } },
};
