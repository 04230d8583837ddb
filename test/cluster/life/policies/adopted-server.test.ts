import { beforeAll, expect, it } from "vitest";
import { z } from "zod";
import { type Landscape, landscape } from "../../landscape.ts";
import { datacenter } from "../../objects.ts";

let world: Landscape;
let home = "";
let id = "";
const made = z.looseObject({ id: z.string() });
const ready = '{.status.conditions[?(@.type=="Ready")].message}';
const eth0 = { name: "eth0", lan: 1 };
const adopting = (nics: object[], more: object = {}) => ({
  apiVersion: "mooring.dev/v1alpha1",
  kind: "Server",
  metadata: { name: "taken" },
  spec: { datacenterRef: { name: "dc" }, externalId: id, nics, ...more },
});

beforeAll(async () => {
  world = await landscape({ operator: ["--settle", "3s", "--retry", "1s", "--resync", "2s"] });
  await world.apply(datacenter("dc"));
  await world.untilReady("account/main", "datacenter/dc");
  home = await world.value("datacenter/dc", "{.status.id}");
  const nic = (properties: object) => ({ properties: { lan: 1, dhcp: false, firewallActive: true, ...properties } });
  const nics = { items: [nic({ name: "eth0" }), nic({ name: "eth1" })] };
  const properties = { name: "production", type: "VCPU", cores: 1, ram: 1024 };
  const server = { properties, entities: { nics } };
  id = made.parse(await world.platform.call("POST", `/cloudapi/v6/datacenters/${home}/servers`, server)).id;
});

it("a server with a NIC that spec does not name is not adopted, and keeps it", async () => {
  const isThere = async () => (await world.platform.resources("servers")).some(({ state }) => state === "AVAILABLE");
  await expect.poll(isThere, { timeout: 90_000 }).toBe(true);
  await world.platform.resetCalls();
  await world.apply(adopting([eth0]));
  await world.untilReason("server/taken", "NotAdoptable");
  expect(await world.value("server/taken", ready)).toContain(
    `Server ${id} is not adopted: nics[eth1] is on the platform and not in spec, which would remove it: add it to spec, or leave out nics`,
  );
  expect(await world.platform.writes()).toEqual([]);
});

it("it is adopted when spec names them, and its firewalls stay on", async () => {
  await world.apply(adopting([eth0, { name: "eth1", lan: 1 }]));
  await world.untilReady("server/taken");
  expect(await world.value("server/taken", "{.status.nics[*].name} {.status.nics[*].firewallActive}")).toBe(
    "eth0 eth1 true true",
  );
  expect(await world.platform.writes()).toEqual([]);
});

it("once it is adopted, a NIC can be removed", async () => {
  await world.apply(adopting([eth0]));
  const left = () => world.value("server/taken", "{.status.nics[*].name}");
  await expect.poll(left, { timeout: 90_000 }).toBe("eth0");
  expect(await world.platform.writes()).toEqual([
    "DELETE /cloudapi/v6/datacenters/{datacenterId}/servers/{serverId}/nics/{nicId}",
  ]);
});

it("when it is lost, no server of the default model takes its place", async () => {
  await world.platform.call("DELETE", `/cloudapi/v6/datacenters/${home}/servers/${id}`);
  await world.untilReason("server/taken", "DeletedExternally");
  const message = await world.value("server/taken", ready);
  expect(message).toMatch(
    new RegExp(
      `^Server ${id} was deleted .*; cores and ram are required .*; type of the adopted Server was VCPU, and spec`,
    ),
  );
  await world.platform.resetCalls();
  await world.apply(adopting([eth0], { type: "VCPU", cores: 1, ram: 1024 }));
  await expect
    .poll(() => world.value("server/taken", ready), { timeout: 60_000 })
    .toContain(
      "it is not created again, because recreatePolicy is Never or spec has externalId; to create a new one, set the annotation",
    );
  expect(await world.platform.writes()).toEqual([]);
  await world.kubectl("annotate", "server/taken", `mooring.dev/recreate=${id}`);
  await world.untilReady("server/taken");
  expect(await world.value("server/taken", "{.status.type}")).toBe("VCPU");
  expect(await world.value("server/taken", "{.status.id}")).not.toBe(id);
  expect(await world.platform.writes()).toEqual(["POST /cloudapi/v6/datacenters/{datacenterId}/servers"]);
});
