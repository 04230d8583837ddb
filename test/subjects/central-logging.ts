import { switched } from "../cluster/hands.ts";
import type { Subject } from "./subject.ts";

const [on, off] = [{ enabled: true }, { enabled: false }];

/** There is one per region: each has a region of its own, by the Account that is called like it. */
export const centralLogging: Subject = {
  kind: "CentralLogging",
  spec: on,
  own: (name) => ({ accountRef: { name } }),
  wire: { collection: "centrals", path: (ground, name) => `/logging/${ground.regions[name]}/central` },
  hands: switched,
  shows: () => on,
  unlike: on,
  place: (name) => ({ accountRef: { name } }),
  change: () => ({ spec: on, shows: on }),
  life: () => ({
    changes: [
      { title: "off", spec: off, shows: off },
      { title: "on", spec: on, shows: on },
    ],
    restores: off,
  }),
};
