import { ALLOW_DATA_LOSS } from "../../src/engine/objects/names.ts";
import type { Life } from "./lives.ts";
import { account, datacenter, type Ground, host, hostRef, manifest } from "./manifests.ts";

/** In datacenters of its own: a LAN that others' NICs lie in cannot go. */
export function lan(ground: Ground): Life {
  const places = ["wired", "rewired"].map((name) => manifest("Datacenter", name, { location: "de/txl" }));
  const spec = { datacenterRef: { name: "wired" } };
  const open = { ...spec, public: true };
  return {
    prerequisites: [account(ground), ...places],
    spec,
    changes: [
      { title: "update", spec: open, shows: { public: true } },
      { title: "number", spec: { ...open, ipv6: "AUTO" } },
      {
        title: "replace",
        spec: { ...open, datacenterRef: { name: "rewired" }, replacePolicy: "WhenNeeded" },
        shows: { public: true },
      },
    ],
  };
}

export function ipBlock(ground: Ground): Life {
  const spec = { location: "de/txl", size: 2 };
  const renamed = { ...spec, name: "renamed" };
  return {
    prerequisites: [account(ground)],
    annotations: { [ALLOW_DATA_LOSS]: "true" },
    spec,
    changes: [
      { title: "update", spec: renamed, shows: { name: "renamed" } },
      { title: "replace", spec: { ...renamed, size: 3, replacePolicy: "WhenNeeded" }, shows: { size: 3 } },
    ],
  };
}

/** On a NIC of its own: there can be only one. */
export function flowLog(ground: Ground): Life {
  const spec = {
    ...hostRef(ground.nth),
    nic: "watched",
    action: "Rejected",
    direction: "Ingress",
    bucket: "flow-logs",
  };
  return {
    prerequisites: [account(ground), datacenter, host(ground.nth)],
    spec,
    changes: [
      { title: "replace", spec: { ...spec, action: "Any", replacePolicy: "WhenNeeded" }, shows: { action: "ALL" } },
    ],
  };
}
