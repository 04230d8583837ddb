import { replaced, type Subject } from "./subject.ts";
import { core, home, inPlace, manifest } from "./surroundings.ts";
import { volume } from "./volume.ts";

const spec = { volumeRef: { name: "source" } };
const described = { spec: { description: "changed" }, shows: { description: "changed" } };
const other = { spec: { volumeRef: { name: "other-source" } }, shows: {} };
const RESTORE_AT = "mooring.dev/restore-at";

export const snapshot: Subject = {
  kind: "Snapshot",
  spec,
  wire: {
    collection: "snapshots",
    path: () => `${core}/snapshots`,
    creation: (ground) => `${inPlace("volumes")(ground)}/${ground.volume}/create-snapshot`,
    body: (name) => ({ properties: { name } }),
  },
  change: () => described,
  fixedChange: other,
  needs: () => [home, manifest("Volume", "source", volume.spec), manifest("Volume", "other-source", volume.spec)],
  life: () => {
    const later = { ...spec, ...described.spec };
    return {
      changes: [
        { title: "update", spec: later, shows: described.shows },
        { title: "restore", spec: later, annotations: { [RESTORE_AT]: "first" }, says: { restored: "first" } },
        replaced(later, other),
      ],
    };
  },
};
