import { bad, by, fixedField, good, long, observed, otherId, someId } from "../../manifests.ts";
import { replaced, type Subject } from "../../subject.ts";
import { core, home, inPlace, manifest } from "../../surroundings.ts";
import { subject as volume } from "./volume.ts";

const spec = { volumeRef: { name: "source" } };
const base = { kind: "Snapshot", spec };
const described = { spec: { description: "changed" }, shows: { description: "changed" } };
const other = { spec: { volumeRef: { name: "other-source" } }, shows: {} };
const RESTORE_AT = "mooring.dev/restore-at";

const copy = "a snapshot is the copy of one volume";
const copyById = by(base, { volumeRef: undefined, volumeId: someId, datacenterRef: { name: "berlin" } });
const bootCopy = by(base, { volumeRef: undefined, serverRef: { name: "web" } });

export const subject: Subject = {
  ...base,
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
  manifests: {
    accepted: [
      ...good(base, "Snapshot", [
        ["of a Volume", {}],
        ["of a Server's boot volume", { volumeRef: null, serverRef: { name: "web" } }],
        ["of a volume by id", { volumeRef: null, volumeId: someId, datacenterRef: { name: "berlin" } }],
        ["of a volume by id, in a datacenter by id", { volumeRef: null, volumeId: someId, datacenterId: someId }],
        ["at its longest", { name: long(255), description: long(1024) }],
        ["with a name and a description of many letters", { name: "Größe 🚢", description: "one\n\ttwo\r\n" }],
        ["taken over, of a volume", { externalId: someId }],
        ["taken over, of an unknown volume", { externalId: someId, volumeRef: null }],
        ["only observed, by nothing but its id", { ...observed, volumeRef: null }],
      ]),
    ],
    refused: [
      ...bad(base, "Snapshot", [
        ["no volume", { volumeRef: null }, "exactly one of volumeRef, serverRef and volumeId is required"],
        [
          "two volumes",
          { volumeId: someId, datacenterId: someId },
          "exactly one of volumeRef, serverRef and volumeId is required; only with externalId all may be missing",
        ],
        [
          "two volumes, taken over",
          { volumeId: someId, datacenterId: someId, externalId: someId },
          "exactly one of volumeRef, serverRef and",
        ],
        ["a Volume and a Server", { serverRef: { name: "web" } }, "exactly one of volumeRef, serverRef and volumeId"],
        [
          "a volume by id without a datacenter",
          { volumeRef: null, volumeId: someId },
          "volumeId needs exactly one of datacenterRef and datacenterId",
        ],
        [
          "a datacenter besides its Volume",
          { datacenterRef: { name: "berlin" } },
          "without volumeId remove both, a Volume or Server knows its datacenter",
        ],
        [
          "a datacenter without a volume, taken over",
          { volumeRef: null, datacenterId: someId, externalId: someId },
          "without volumeId remove both",
        ],
        [
          "a volume's id that is none",
          { volumeRef: null, volumeId: "data", datacenterId: someId },
          "spec.volumeId",
          "UUID",
        ],
        ["a Volume of another namespace", { volumeRef: { name: "a/b" } }, "spec.volumeRef.name", "name of an object"],
        ["a description of 1025 characters", { description: long(1025) }, "spec.description", "1024"],
        ["observed without an id", { managementPolicy: "Observe" }, "managementPolicy Observe needs externalId"],
      ]),
    ],
    changes: {
      accepted: [...good(base, "Snapshot", [["another name and description", { name: "b", description: "new" }]])],
      fixed: [
        fixedField(base, "volumeRef", { name: "other" }, copy),
        fixedField(bootCopy, "serverRef", { name: "other" }, copy),
        fixedField(copyById, "volumeId", otherId, copy),
        fixedField(copyById, "datacenterRef", { name: "other" }, copy),
        fixedField(by(copyById, { datacenterRef: undefined, datacenterId: someId }), "datacenterId", otherId, copy),
      ],
    },
  },
};
