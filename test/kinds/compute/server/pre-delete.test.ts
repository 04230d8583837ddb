import { describe, expect, it } from "vitest";
import { server } from "../../../../src/kinds/compute/server/server.ts";
import { inputs, mapped } from "../../mapped.ts";

const mapping = mapped(server);
const dedicated = { datacenterRef: { name: "berlin" }, cores: 1, ram: 1024 };
const withVolume = { ...dedicated, bootVolume: { size: 10, type: "HDD", imageAlias: "debian:12" } };
const cube = {
  datacenterRef: { name: "berlin" },
  type: "CUBE",
  templateName: "Basic Cube XS",
  bootVolume: { licenceType: "LINUX" },
};

const os = { id: "os", properties: { name: "os", type: "HDD" } };
const data = { id: "data", properties: { name: "data", type: "SSD Premium" } };
const nvme = { id: "nvme", properties: { name: "nvme", type: "DAS" } };

/** Performs preDelete until it returns nothing. Returns what is then deleted with the server. */
function left(spec: object, volumes: object[], boot: string | null): unknown[] {
  const items = volumes.map((volume) => ({ id: "", ...volume }));
  for (;;) {
    const bootVolume = boot === null ? null : { id: boot };
    const item = { id: "srv-1", properties: { bootVolume }, entities: { volumes: { items } } };
    const operation = mapping.desire(spec).preDelete(item, inputs());
    if (!operation) return items.map(({ id }) => id);
    const id = operation.path.replace("/datacenters/dc-1/servers/srv-1/volumes/", "");
    items.splice(
      items.findIndex((volume) => volume.id === id),
      1,
    );
  }
}

describe("a server that is deleted takes along", () => {
  it.each([
    ["its own boot volume and no other", withVolume, [os, data], "os", ["os"]],
    ["its own boot volume, wherever it is listed", withVolume, [data, os], "os", ["os"]],
    ["no volume when it was made without one", dedicated, [os, data], "os", []],
    ["no volume when the platform names none as its boot volume", withVolume, [data], null, []],
    ["the direct-attached volume of a Cube", cube, [nvme, data], "nvme", ["nvme"]],
    ["only that, even if the Cube boots from another one", cube, [nvme, data], "data", ["nvme"]],
  ])("%s", (_, spec, volumes, boot, ids) => {
    expect(left(spec, volumes, boot)).toEqual(ids);
  });

  it.each([
    ["shows nothing of its volumes", {}],
    ["is too shallow to name them", { entities: { volumes: {} } }],
    ["has nothing but the id of one", { entities: { volumes: { items: [os, { id: "x" }] } } }],
  ])("is not known while an answer %s", (_, shown) => {
    const item = { id: "srv-1", properties: { bootVolume: { id: "os" } }, ...shown };
    expect(() => mapping.desire(withVolume).preDelete(item, inputs())).toThrow("the attached volumes are missing");
  });

  it("by writes that name the volume", () => {
    const item = {
      id: "srv-1",
      properties: { bootVolume: { id: "os" } },
      entities: { volumes: { items: [os, data] } },
    };
    expect(mapping.desire(withVolume).preDelete(item, inputs())).toEqual({
      action: "detach volume data",
      method: "DELETE",
      path: "/datacenters/dc-1/servers/srv-1/volumes/data",
    });
  });
});
