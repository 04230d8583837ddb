import { ALLOW_DATA_LOSS } from "../../src/engine/objects/names.ts";
import type { Life } from "./lives.ts";
import { account, datacenter, type Ground, host, hostRef, manifest } from "./manifests.ts";

const empty = { datacenterRef: { name: "home" }, size: 10, type: "HDD", licenceType: "OTHER" };

export function volume(ground: Ground): Life {
  const { nth } = ground;
  const grown = { ...empty, size: 20 };
  const attached = { ...grown, attachTo: hostRef(nth) };
  const moved = { ...grown, attachTo: hostRef(nth + 1) };
  const replaced = { ...moved, type: "SSD Standard", replacePolicy: "WhenNeeded" };
  const { attachTo: _, ...detached } = replaced;
  return {
    prerequisites: [account(ground), datacenter, host(nth), host(nth + 1)],
    annotations: { [ALLOW_DATA_LOSS]: "true" },
    spec: empty,
    changes: [
      { title: "update", spec: grown, shows: { size: 20 } },
      { title: "attach", spec: attached },
      { title: "move", spec: moved },
      { title: "replace", spec: replaced, shows: { type: "SSD Standard" } },
      { title: "detach", spec: detached, shows: { deviceNumber: null } },
    ],
  };
}

const RESTORE_AT = "mooring.dev/restore-at";

export function snapshot(ground: Ground): Life {
  const spec = { volumeRef: { name: "source" } };
  const described = { ...spec, description: "before the migration" };
  return {
    prerequisites: [
      account(ground),
      datacenter,
      manifest("Volume", "source", empty),
      manifest("Volume", "other-source", empty),
    ],
    annotations: { [ALLOW_DATA_LOSS]: "true" },
    spec,
    changes: [
      { title: "update", spec: described, shows: { description: described.description } },
      { title: "restore", spec: described, annotations: { [RESTORE_AT]: "first" }, says: { restored: "first" } },
      {
        title: "replace",
        spec: { ...described, volumeRef: { name: "other-source" }, replacePolicy: "WhenNeeded" },
      },
    ],
  };
}
