import { replaced, type Subject } from "./subject.ts";
import { inDatacenter, inPlace, manifest, moved } from "./surroundings.ts";

/** The life's own datacenters: a LAN that others' NICs lie in cannot go. */
const places = ["wired", "rewired"].map((name) => manifest("Datacenter", name, { location: "de/txl" }));
const wired = { datacenterRef: { name: "wired" } };
const open = { spec: { public: true }, shows: { public: true } };

export const lan: Subject = {
  kind: "Lan",
  spec: inDatacenter,
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
};
