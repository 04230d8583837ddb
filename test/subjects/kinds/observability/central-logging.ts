import { switched } from "../../../cluster/hands.ts";
import { bad, each, good, observed } from "../../manifests.ts";
import type { Subject } from "../../subject.ts";

const [on, off] = [{ enabled: true }, { enabled: false }];
const base = { kind: "CentralLogging", spec: on };

/** There is one per region: each has a region of its own, by the Account that is called like it. */
export const subject: Subject = {
  ...base,
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
  manifests: {
    accepted: [
      ...good(base, "CentralLogging", [
        ...each("enabled", [true, false]),
        ["left as it is when deleted", { deletionPolicy: "Retain" }],
        ["only observed, by nothing but its id", { ...observed, enabled: null }],
        ["only observed, by nothing at all", { managementPolicy: "Observe", enabled: null }],
      ]),
    ],
    refused: [
      ...bad(base, "CentralLogging", [
        ["neither on nor off", { enabled: null }, "enabled is required"],
        ["on in a word", { enabled: "on" }, "spec.enabled", "must be of type boolean"],
        ["a region of its own", { region: "de/txl" }, 'unknown field "spec.region"'],
      ]),
    ],
    changes: {
      accepted: [...good(base, "CentralLogging", [["switched off", { enabled: false }]])],
      refused: [
        ...bad(base, "CentralLogging", [
          ["another Account", { accountRef: { name: "other" } }, "accountRef cannot be changed"],
        ]),
      ],
    },
  },
};
