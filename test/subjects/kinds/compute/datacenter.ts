import { bad, by, good, long } from "../../manifests.ts";
import type { Subject } from "../../subject.ts";
import { core } from "../../surroundings.ts";

const base = { kind: "Datacenter", spec: { location: "de/txl" } };

export const subject: Subject = {
  ...base,
  wire: {
    collection: "datacenters",
    path: () => `${core}/datacenters`,
    body: (name) => ({ properties: { name, location: "de/txl" } }),
  },
  change: () => ({ spec: { description: "changed" }, shows: { description: "changed" } }),
  fixedChange: { spec: { location: "de/fra" }, shows: { location: "de/fra" } },
  manifests: {
    accepted: [
      ...good(base, "Datacenter", [
        ["as small as can be", {}],
        ["through a ClusterAccount", { accountRef: { kind: "ClusterAccount", name: "shared" } }],
        ["a location of three parts", { location: "de/fra/2" }],
        ["everything at its longest", { name: long(255), description: long(1024) }],
        ["kept when deleted, in a named Account", { deletionPolicy: "Retain", accountRef: { name: "main" } }],
      ]),
    ],
    refused: [
      ...bad(base, "A reference to an Account", [
        [
          "of another namespace",
          { accountRef: { name: "a", namespace: "b" } },
          'unknown field "spec.accountRef.namespace"',
        ],
        [
          "of another kind",
          { accountRef: { kind: "Secret", name: "main" } },
          "spec.accountRef.kind",
          '"ClusterAccount"',
        ],
        ["without a name", { accountRef: { kind: "ClusterAccount" } }, "spec.accountRef.name", "Required value"],
      ]),
      ...bad(base, "Datacenter", [
        ["no location", { location: null }, "spec", "location is required"],
        [
          "observed without an id",
          { managementPolicy: "Observe" },
          "spec",
          "managementPolicy Observe needs externalId",
        ],
        ["an externalId with a slash", { externalId: "a/b" }, "spec.externalId", "must be a UUID"],
        ["an externalId that leads elsewhere", { externalId: ".." }, "spec.externalId", "must be a UUID"],
        ["a name of two lines", { name: "a\nb" }, "spec.name", "must be one line without control characters"],
        ["a name with a line separator", { name: "a\u2028b" }, "spec.name", "must be one line"],
        [
          "an escape in a description",
          { description: "a\u001b[2Jb" },
          "spec.description",
          "must not contain control char",
        ],
        ["an unknown replacePolicy", { replacePolicy: "Always" }, "spec.replacePolicy", "Unsupported value"],
        [
          "a city as location",
          { location: "Berlin" },
          "spec.location",
          "must be a location <country>/<site>, for example de/txl",
        ],
        ["an empty location", { location: "" }, "spec.location", "must be a location"],
        ["a location as a number", { location: 7 }, "spec.location", "must be of type string"],
        ["an empty name", { name: "" }, "spec.name", "at least 1 chars long"],
        ["a name of 256 characters", { name: long(256) }, "spec.name", "255"],
        ["a description of 1025 characters", { description: long(1025) }, "spec.description", "1024"],
        [
          "another deletion policy",
          { deletionPolicy: "Orphan" },
          "spec.deletionPolicy",
          'supported values: "Delete", "Retain"',
        ],
        ["an Account as text", { accountRef: "main" }, "spec.accountRef", "must be of type object"],
        ["an Account without a name", { accountRef: {} }, "spec.accountRef.name", "Required value"],
        [
          "an Account of another namespace",
          { accountRef: { name: "other/main" } },
          "spec.accountRef.name",
          "must be the name of an object",
        ],
        ["an unknown field", { locaton: "de/txl" }, 'unknown field "spec.locaton"'],
      ]),
    ],
    changes: {
      accepted: [...good(base, "Datacenter", [["another name and description", { name: "b", description: "new" }]])],
      refused: [
        ...bad(base, "Datacenter", [
          [
            "an Account set later",
            { accountRef: { name: "other" } },
            "accountRef cannot be changed: to move the Datacenter to another Account, set deletionPolicy: Retain, delete the object and create it again with externalId",
          ],
        ]),
        ...bad(by(base, { accountRef: { name: "main" } }), "Datacenter of an Account", [
          ["another Account", { accountRef: { name: "other" } }, "accountRef cannot be changed"],
          ["no Account", { accountRef: null }, "accountRef cannot be changed"],
        ]),
      ],
      fixed: bad(base, "Datacenter", [
        [
          "another location",
          { location: "de/fra" },
          "location cannot be changed: a datacenter cannot move; keep it, or set replacePolicy: WhenNeeded, which deletes the Datacenter and creates a new one",
        ],
      ]),
    },
  },
};
