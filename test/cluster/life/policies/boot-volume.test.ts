import { beforeAll, expect, it } from "vitest";
import { z } from "zod";
import { type Landscape, landscape } from "../../landscape.ts";
import { datacenter, server, volume } from "../../objects.ts";

let world: Landscape;
let home = "";
const made = z.looseObject({ id: z.string() });
const ready = '{.status.conditions[?(@.type=="Ready")].message}';
const bootVolume = { size: 10, type: "HDD", imageAlias: "ubuntu:latest" };
const bootIdOf = (name: string) => world.value(`server/${name}`, "{.status.bootVolumeId}");

beforeAll(async () => {
  world = await landscape({ operator: ["--settle", "3s", "--retry", "1s", "--resync", "2s"] });
  await world.apply(datacenter("dc"));
  await world.untilReady("account/main", "datacenter/dc");
  home = await world.value("datacenter/dc", "{.status.id}");
});

it("a boot volume belongs to the Server that asks for it, and no Volume adopts it", async () => {
  await world.apply(server("web", { bootVolume }));
  await world.untilReady("server/web");
  const id = await bootIdOf("web");
  await world.platform.resetCalls();
  await world.apply(volume("boot", { externalId: id }));
  await world.untilReason("volume/boot", "NotAdoptable");
  expect(await world.value("volume/boot", ready)).toContain(`Volume ${id} belongs to Server/`);
  await world.remove("volume/boot");
  expect(await world.platform.writes()).toEqual([]);
});

it("a Server does not adopt a boot volume that a Volume has", async () => {
  const path = `/cloudapi/v6/datacenters/${home}/servers`;
  const boot = { properties: { name: "root", size: 10, type: "HDD", licenceType: "OTHER" } };
  const theirs = { properties: { name: "theirs", cores: 1, ram: 1024 }, entities: { volumes: { items: [boot] } } };
  const { id } = made.parse(await world.platform.call("POST", path, theirs));
  const shown = z.looseObject({ properties: z.looseObject({ bootVolume: z.looseObject({ id: z.string() }) }) });
  const read = async () => shown.safeParse(await world.platform.call("GET", `${path}/${id}?depth=3`)).data;
  await expect.poll(read, { timeout: 90_000 }).toBeDefined();
  const root = (await read())?.properties.bootVolume.id;
  await world.apply(volume("root", { externalId: root, size: 10, type: "HDD", licenceType: "OTHER" }));
  await world.untilReady("volume/root");
  const asking = server("theirs", {
    externalId: id,
    cores: 1,
    ram: 1024,
    bootVolume: { size: 10, type: "HDD", licenceType: "OTHER" },
  });
  await world.apply(asking);
  await world.untilReason("server/theirs", "NotAdoptable");
  expect(await world.value("server/theirs", ready)).toContain(
    `its bootVolume is Volume ${root}, which another object has`,
  );
});

it("when it is lost, the Server says so, and takes no other volume for it", async () => {
  await world.apply(
    volume("data", { size: 10, type: "HDD", attachTo: { serverRef: { name: "web" } }, deletionPolicy: "Retain" }),
  );
  await world.untilReady("volume/data");
  const data = await world.value("volume/data", "{.status.id}");
  const boot = await bootIdOf("web");
  await world.platform.call("DELETE", `/cloudapi/v6/datacenters/${home}/volumes/${boot}`);
  await world.untilReason("server/web", "Drifted");
  expect(await world.value("server/web", ready)).toMatch(
    /^bootVolume is absent on the platform, .*deletionPolicy: Retain/,
  );
  expect(await bootIdOf("web")).toBe(boot);
  await world.remove("server/web");
  const volumes = await world.platform.resources("volumes");
  expect(volumes.map(({ id }) => id)).toContain(data);
});

it("a volume that a kept server boots from stays with it", async () => {
  await world.apply(volume("disk", { size: 10, type: "HDD" }));
  await world.untilReady("volume/disk");
  await world.apply(
    server("kept", { bootVolume: undefined, bootVolumeRef: { name: "disk" }, deletionPolicy: "Retain" }),
  );
  await world.untilReady("server/kept");
  await world.untilReady("volume/disk");
  const id = await world.value("volume/disk", "{.status.id}");
  const { stderr } = await world.kubectl("delete", "--wait=false", "server/kept", "volume/disk");
  expect(stderr).toBe("");
  await world.untilReason("volume/disk", "InUse");
  expect(await world.value("volume/disk", ready)).toMatch(
    new RegExp(
      `^Volume is still used by server .* on the platform\\. .*deletionPolicy: Retain .with externalId: ${id}`,
    ),
  );
  await world.apply(volume("disk", { size: 10, type: "HDD", deletionPolicy: "Retain" }));
  await expect.poll(() => world.value("volume/disk", "{.metadata.name}").catch(() => ""), { timeout: 60_000 }).toBe("");
  expect((await world.platform.resources("volumes")).map((each) => each.id)).toContain(id);
});

it("a volume in use is not detached for a server that may not exist", async () => {
  await world.apply(server("host", {}));
  await world.apply(volume("used", { size: 10, type: "HDD", attachTo: { serverRef: { name: "host" } } }));
  await world.untilReady("server/host", "volume/used");
  await world.platform.resetCalls();
  const nowhere = "00000000-0000-4000-8000-000000000000";
  await world.apply(volume("used", { size: 10, type: "HDD", attachTo: { serverId: nowhere } }));
  await world.untilReason("volume/used", "InvalidSpec");
  expect(await world.value("volume/used", ready)).toMatch(/^attachTo.serverId: .*remove attachTo first/);
  expect(await world.platform.writes()).toEqual([]);
});
