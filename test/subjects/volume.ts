import { replaced, type Subject } from "./subject.ts";
import { home, host, hostRef, inDatacenter, inPlace } from "./surroundings.ts";

const empty = { size: 10, type: "HDD", licenceType: "OTHER" };
const spec = { ...inDatacenter, ...empty };
const grown = { spec: { size: 20 }, shows: { size: 20 } };
const faster = { spec: { type: "SSD Standard" }, shows: { type: "SSD Standard" } };

export const volume: Subject = {
  kind: "Volume",
  spec,
  wire: {
    collection: "volumes",
    path: inPlace("volumes"),
    body: (name) => ({ properties: { name, ...empty } }),
  },
  place: () => inDatacenter,
  change: () => grown,
  fixedChange: faster,
  needs: ({ nth }) => [home, host(nth), host(nth + 1)],
  life: ({ nth }) => {
    const larger = { ...spec, ...grown.spec };
    const carried = { ...larger, attachTo: hostRef(nth + 1) };
    return {
      changes: [
        { title: "update", spec: larger, shows: grown.shows },
        { title: "attach", spec: { ...larger, attachTo: hostRef(nth) } },
        { title: "move", spec: carried },
        replaced(carried, faster),
        { title: "detach", spec: replaced(larger, faster).spec, shows: { deviceNumber: null } },
      ],
    };
  },
};
