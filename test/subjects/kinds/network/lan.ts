import { bad, datacenterById, each, fixedParent, good, long, someId } from "../../manifests.ts";
import { replaced, type Subject } from "../../subject.ts";
import { inDatacenter, inPlace, manifest, moved } from "../../surroundings.ts";

const base = { kind: "Lan", spec: inDatacenter };

/** The life's own datacenters: a LAN that others' NICs lie in cannot go. */
const places = ["wired", "rewired"].map((name) => manifest("Datacenter", name, { location: "de/txl" }));
const wired = { datacenterRef: { name: "wired" } };
const open = { spec: { public: true }, shows: { public: true } };

export const subject: Subject = {
  ...base,
  wire: {
    collection: "lans",
    path: inPlace("lans"),
    body: (name) => ({ properties: { name, public: false } }),
  },
  place: () => inDatacenter,
  nobody: "4711",
  change: () => open,
  move: moved,
  needs: () => places,
  life: () => ({
    spec: wired,
    changes: [
      { title: "update", spec: { ...wired, ...open.spec }, shows: open.shows },
      { title: "number", spec: { ...wired, ...open.spec, ipv6: "AUTO" } },
      replaced(open.spec, { spec: { datacenterRef: { name: "rewired" } }, shows: open.shows }),
    ],
  }),
  manifests: {
    accepted: [
      ...good(base, "Lan", [
        ["as small as can be", {}],
        ["in a datacenter by id", datacenterById],
        ["public, at its longest", { name: long(255), public: true }],
        ...each("ipv6", ["AUTO", "fd00:2000:0:1::/64", "FD00:2000:0000:0001:0000:0000:0000:0000/64"]),
        ["only observed, by its number", { managementPolicy: "Observe", externalId: "1" }],
      ]),
    ],
    refused: [
      ...bad(base, "A reference into a namespace", [
        [
          "in upper case",
          { datacenterRef: { namespace: "Shop" } },
          "spec.datacenterRef.namespace",
          "name of a namespace",
        ],
        ["with a dot", { datacenterRef: { namespace: "a.b" } }, "spec.datacenterRef.namespace", "name of a namespace"],
      ]),
      ...bad(base, "Lan", [
        ["no datacenter", { datacenterRef: null }, "exactly one of datacenterRef and datacenterId is required"],
        ["two datacenters", { datacenterId: someId }, "exactly one of datacenterRef and datacenterId is required"],
        ["observed without an id", { managementPolicy: "Observe" }, "managementPolicy Observe needs externalId"],
        ["a UUID for a number", { externalId: someId }, "spec.externalId", "Too long"],
        ["a number that is none", { externalId: "0" }, "spec.externalId", "must be the number of a LAN"],
        ["public as text", { public: "yes" }, "spec.public", "must be of type boolean"],
        ["an empty name", { name: "" }, "spec.name", "at least 1 chars long"],
        [
          "an IPv4 block",
          { ipv6: "10.0.0.0/24" },
          "spec.ipv6",
          "must be AUTO or a /64 block, for example fd00:2000:0:1::/64",
        ],
        ["a block of another size", { ipv6: "fd00::/56" }, "spec.ipv6", "must be AUTO or a /64 block"],
        ["an address for a block", { ipv6: "fd00::1" }, "spec.ipv6", "must be AUTO or a /64 block"],
        ["a block that is none", { ipv6: "fd00::1::/64" }, "spec.ipv6", "must be AUTO or a /64 block"],
        ["auto in lower case", { ipv6: "auto" }, "spec.ipv6", "must be AUTO or a /64 block"],
        ["an unknown field", { pcc: someId }, 'unknown field "spec.pcc"'],
      ]),
    ],
    changes: {
      accepted: [
        ...good(base, "Lan", [["another name, public, with IPv6", { name: "b", public: true, ipv6: "AUTO" }]]),
      ],
      fixed: [...fixedParent(base, "datacenter", "a LAN cannot move to another datacenter")],
    },
  },
};
