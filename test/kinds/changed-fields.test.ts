import { expect, test } from "vitest";
import { scalingGroup } from "../../src/kinds/compute/scaling-group/scaling-group.ts";
import { server } from "../../src/kinds/compute/server/server.ts";
import { volume } from "../../src/kinds/compute/volume/volume.ts";
import type { Inputs } from "../../src/kinds/desired.ts";
import type { Kind } from "../../src/kinds/kind.ts";
import { group, groupItem } from "./compute/scaling-group/groups.ts";
import { createServer } from "./compute/server/platform-server.ts";
import { inputs, mapped, sent } from "./mapped.ts";

const named = (kind: Kind, spec: object, item: unknown, given: Inputs = inputs()) => {
  const { drift, next } = mapped(kind).desire(spec).compare(item, given);
  return { differs: drift.map(({ field }) => field), step: `${next?.action}: ${next?.fields}` };
};

test("a write names the fields that it changes, not all that differ", () => {
  const disk = { datacenterRef: { name: "berlin" }, size: 2, type: "HDD", attachTo: { serverRef: { name: "web" } } };
  const refs = { server: { id: "srv-2", status: {} } };
  const found = { id: "vol-1", properties: { name: "web", size: 1, type: "SSD Standard", bootServer: "srv-1" } };
  expect(named(volume, disk, found, inputs({ refs }))).toEqual({
    differs: ["size", "type", "attachTo"],
    step: "update: size",
  });
  const grown = { ...found, properties: { ...found.properties, size: 2 } };
  expect(named(volume, disk, grown, inputs({ refs })).step).toBe("detach: attachTo");

  const nic = { name: "public", lan: 1 };
  const machine = { datacenterRef: { name: "berlin" }, type: "VCPU", cores: 1, ram: 1024, nics: [nic] };
  const made = createServer(sent(mapped(server).desire(machine).body(inputs())));
  const wanted = { ...machine, cores: 2, powerState: "Stopped", nics: [{ ...nic, dhcp: false }] };
  expect(named(server, wanted, made.item())).toEqual({
    differs: ["cores", "nics[public].dhcp", "powerState"],
    step: "update: cores",
  });
  expect(named(server, { ...wanted, cores: 1 }, made.item()).step).toBe("update: nics[public].dhcp");

  const elsewhere = groupItem(group(), { properties: { datacenter: { id: "dc-2" } } });
  expect(named(scalingGroup, group({ maxReplicas: 9 }), elsewhere)).toEqual({
    differs: ["datacenterRef", "maxReplicas"],
    step: "update: maxReplicas",
  });
});
