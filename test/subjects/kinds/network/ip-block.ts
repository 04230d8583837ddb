import { bad, fixedField, good, long, observed } from "../../manifests.ts";
import type { Subject } from "../../subject.ts";
import { core } from "../../surroundings.ts";

const base = { kind: "IPBlock", spec: { location: "de/txl", size: 1 } };

export const subject: Subject = {
  ...base,
  wire: {
    collection: "ipblocks",
    path: () => `${core}/ipblocks`,
    body: (name) => ({ properties: { name, location: "de/txl", size: 1 } }),
  },
  change: (name) => ({ spec: { name: `${name}-again` }, shows: { name: `${name}-again` } }),
  fixedChange: { spec: { size: 2 }, shows: { size: 2 } },
  manifests: {
    accepted: [
      ...good(base, "IPBlock", [
        ["as small as can be", {}],
        ["as large as can be", { size: 10_000 }],
        ["in a location of three parts", { location: "de/fra/2" }],
        ["with its addresses in a Secret", { output: { secretName: "addresses" } }],
        ["with its addresses in a ConfigMap", { output: { configMapName: "addresses.v2" } }],
        ["only observed, by nothing but its id", { ...observed, location: null, size: null }],
      ]),
    ],
    refused: [
      ...bad(base, "IPBlock", [
        ["no location", { location: null }, "location is required"],
        ["no size", { size: null }, "size is required"],
        ["observed without an id", { managementPolicy: "Observe" }, "managementPolicy Observe needs externalId"],
        ["a location as a slug", { location: "de-txl" }, "spec.location", "must be a location <country>/<site>"],
        ["size 0", { size: 0 }, "spec.size", "greater than or equal to 1"],
        ["10001 addresses", { size: 10_001 }, "spec.size", "less than or equal to 10000"],
        ["half an address", { size: 0.5 }, "spec.size", "must be of type integer"],
        ["a name of 256 characters", { name: long(256) }, "spec.name", "255"],
        ["addresses of one's choice", { ips: ["203.0.113.7"] }, 'unknown field "spec.ips"'],
        ["an output that is nowhere", { output: {} }, "exactly one of secretName and configMapName is required"],
        [
          "an output in two places",
          { output: { secretName: "a", configMapName: "b" } },
          "exactly one of secretName and configMapName is required",
        ],
        ["an output of a bad name", { output: { secretName: "A B" } }, "must be the name of an object"],
      ]),
    ],
    changes: {
      accepted: [
        ...good(base, "IPBlock", [
          ["another name", { name: "b" }],
          ["an output", { output: { configMapName: "b" } }],
        ]),
      ],
      fixed: [
        fixedField(base, "location", "de/fra", "an IPBlock cannot move"),
        fixedField(base, "size", 2, "the size of an IPBlock is fixed at creation"),
      ],
    },
  },
};
