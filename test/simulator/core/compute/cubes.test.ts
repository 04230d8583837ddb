import { describe, expect, it } from "vitest";
import { z } from "zod";
import { cubeBody, items, platformForFile, refusal, resource } from "../../platform.ts";

const platform = await platformForFile();
const datacenter = await platform.datacenter();

const post = (body: object) => platform.core("POST", `${datacenter}/servers`, body);
const ready = () => platform.made(`${datacenter}/servers`, cubeBody());
const volumesOf = async (path: string) => items(await platform.core("GET", `${path}/volumes?depth=1`));
const templateShape = z.looseObject({ cores: z.int(), ram: z.int(), storageSize: z.int() });
const usage = z.object({ coresProvisioned: z.int(), ramProvisioned: z.int(), dasVolumeProvisioned: z.int() });
const contractShape = z.looseObject({ properties: z.looseObject({ resourceLimits: usage }) });
const addOn = { properties: { size: 1, type: "HDD", licenceType: "OTHER" } };

describe("a Cube", () => {
  it("has the cores, RAM and NVMe size of its template", async () => {
    const path = await ready();
    expect(resource(await platform.core("GET", path)).properties).toMatchObject({ type: "CUBE", cores: 1, ram: 2048 });
    expect(await volumesOf(path)).toMatchObject([{ properties: { type: "DAS", size: 60 } }]);
  });

  it("has no other size than that of its template, whichever it is", async () => {
    for (const { id, properties } of items(await platform.core("GET", "/templates?depth=1"))) {
      const { cores, ram, storageSize } = templateShape.parse(properties);
      const made = resource(await platform.done("POST", `${datacenter}/servers`, cubeBody({ templateUuid: id })));
      expect(made.properties).toMatchObject({ cores, ram });
      expect(made.entities?.volumes?.items).toMatchObject([{ properties: { size: storageSize } }]);
    }
  });

  it.each([
    ["without a template", cubeBody({ templateUuid: undefined }), "templateUuid"],
    ["with an unknown template", cubeBody({ templateUuid: "x" }), "templateUuid"],
    ["with cores", cubeBody({ cores: 2 }), "properties.cores"],
    ["with RAM", cubeBody({ ram: 2048 }), "properties.ram"],
    ["with a CPU family", cubeBody({ cpuFamily: "AMD_EPYC" }), "properties.cpuFamily"],
    ["in a zone", cubeBody({ availabilityZone: "ZONE_1" }), "properties.availabilityZone"],
    ["with NIC multi-queue", cubeBody({ nicMultiQueue: true }), "properties.nicMultiQueue"],
    ["without its volume", { properties: cubeBody().properties }, "entities.volumes"],
    ["with a volume that is not DAS", cubeBody({}, { type: "HDD", size: 60 }), "items[0].properties.type"],
    ["with a size for its NVMe volume", cubeBody({}, { size: 60 }), "items[0].properties.size"],
    ["with a zone for its NVMe volume", cubeBody({}, { availabilityZone: "ZONE_1" }), "availabilityZone"],
  ])("is refused %s", async (_, body, field) => {
    expect(refusal(await post(body), 422, "100")).toContain(field);
  });

  it("never changes cores, RAM or template", async () => {
    const path = await ready();
    for (const change of [{ cores: 2 }, { ram: 4096 }, { templateUuid: "864c2c89-ea4d-4bf9-9a27-9acfeb436666" }]) {
      refusal(await platform.core("PATCH", path, change), 422, "100");
    }
    expect((await platform.core("PATCH", path, { name: "renamed" })).status).toBe(202);
  });

  it("keeps its NVMe volume: no detaching, no deleting, no resizing", async () => {
    const path = await ready();
    const [volume] = await volumesOf(path);
    refusal(await platform.core("DELETE", `${path}/volumes/${volume?.id}`), 422, "200");
    refusal(await platform.core("DELETE", `${datacenter}/volumes/${volume?.id}`), 422, "200");
    refusal(await platform.core("PATCH", `${datacenter}/volumes/${volume?.id}`, { size: 100 }), 422, "100");
  });

  it("takes 23 add-on volumes and not one more", async () => {
    const path = await ready();
    for (let added = 0; added < 23; added += 1) {
      expect((await platform.core("POST", `${path}/volumes`, addOn)).status).toBe(202);
    }
    expect(refusal(await platform.core("POST", `${path}/volumes`, addOn), 422, "200")).toContain("24 device slots");
    const loose = resource(await platform.done("POST", `${datacenter}/volumes`, addOn));
    refusal(await platform.core("POST", `${path}/volumes`, { id: loose.id }), 422, "200");
    expect(await volumesOf(path)).toHaveLength(24);
  });

  it("suspends and resumes, and is not updated in between", async () => {
    const path = await ready();
    await platform.done("POST", `${path}/suspend`);
    expect(resource(await platform.core("GET", path)).properties.vmState).toBe("SUSPENDED");
    expect(refusal(await platform.core("PATCH", path, { name: "x" }), 422, "200")).toContain("suspended");
    await platform.done("POST", `${path}/resume`);
    expect(resource(await platform.core("GET", path)).properties.vmState).toBe("RUNNING");
    await platform.done("PATCH", path, { name: "x" });
  });

  it("is counted, and so billed, while it is suspended; only its deletion ends that", async () => {
    const used = async () => {
      const [contract] = items(await platform.core("GET", "/contracts?depth=1"));
      return contractShape.parse(contract).properties.resourceLimits;
    };
    const before = await used();
    const path = await ready();
    const running = await used();
    expect(running.coresProvisioned).toBe(before.coresProvisioned + 1);
    await platform.done("POST", `${path}/suspend`);
    expect(await used()).toEqual(running);
    await platform.done("DELETE", path);
    expect(await used()).toEqual(before);
  });

  it.each(["start", "stop"])("refuses %s", async (action) => {
    refusal(await platform.core("POST", `${await ready()}/${action}`), 422, "200");
  });

  it("reboots", async () => {
    await platform.done("POST", `${await ready()}/reboot`);
  });

  it("takes its NVMe volume along when it is deleted, and leaves the others", async () => {
    const path = await ready();
    const [volume] = await volumesOf(path);
    const other = resource(await platform.done("POST", `${path}/volumes`, addOn));
    await platform.done("DELETE", path);
    refusal(await platform.core("GET", `${datacenter}/volumes/${volume?.id}`), 404, "309");
    const left = resource(await platform.core("GET", `${datacenter}/volumes/${other.id}`));
    expect(left.properties.bootServer).toBeNull();
  });
});

it("DAS exists nowhere but in a new Cube", async () => {
  const body = { properties: { type: "DAS", licenceType: "LINUX" } };
  for (const path of [datacenter, await ready()]) {
    expect(refusal(await platform.core("POST", `${path}/volumes`, body), 422, "100")).toContain(".type]");
  }
  const { id } = resource(await platform.done("POST", `${datacenter}/volumes`, addOn));
  const diskless = { ...cubeBody(), entities: { volumes: { items: [{ id }] } } };
  expect(refusal(await post(diskless), 422, "100")).toContain("entities.volumes");
});
