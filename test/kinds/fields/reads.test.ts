import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { wire } from "../../../src/kinds/compute/server/wire.ts";
import { readsOf } from "../../../src/kinds/fields/reads.ts";

const server = {
  id: "43f0",
  href: "https://api.example.com/cloudapi/v6/datacenters/1/servers/43f0",
  metadata: { etag: "1", state: "AVAILABLE", createdDate: "2026-01-01T00:00:00Z", createdBy: "a@example.com" },
  properties: { name: "web", cores: 2, nicMultiQueue: false, bootVolume: { id: "v1", href: "https://…" } },
  entities: {
    gpus: { items: [] },
    volumes: { items: [{ id: "v1", metadata: { etag: "2" }, properties: { size: 10, image: "i1" } }] },
    nics: { items: [{ id: "n1", properties: { lan: 1, pciSlot: 6 }, entities: { flowlogs: { items: [] } } }] },
  },
};

describe("the part of a listed item that is kept", () => {
  const keep = readsOf(wire);

  test("is what its kind reads, and who made it and how it is", () => {
    expect(keep(server)).toEqual({
      id: "43f0",
      metadata: { state: "AVAILABLE", createdDate: "2026-01-01T00:00:00Z" },
      properties: { name: "web", cores: 2, bootVolume: { id: "v1" } },
      entities: {
        volumes: { items: [{ id: "v1", properties: { size: 10 } }] },
        nics: { items: [{ id: "n1", properties: { lan: 1 }, entities: {} }] },
      },
    });
  });

  test("reads the same as the whole, also where the platform sends what nobody expects", () => {
    const places = ["id", "metadata", "properties", "entities", "properties.cores", "entities.nics.items"];
    const spoil = (value: unknown, [name = "", ...rest]: string[], by: unknown): unknown =>
      name === "" ? by : { ...Object(value), [name]: spoil(Reflect.get(Object(value), name), rest, by) };
    fc.assert(
      fc.property(fc.constantFrom(...places), fc.jsonValue(), (place, by) => {
        const item = spoil(server, place.split("."), by);
        const [whole, kept] = [wire.safeParse(item), wire.safeParse(keep(item))];
        expect(kept.data).toEqual(whole.data);
        expect(kept.error?.issues).toEqual(whole.error?.issues);
      }),
    );
  });

  test("is all of it where the kind takes all", () => {
    expect(readsOf(z.looseObject({ id: z.string() }))(server)).toBe(server);
  });
});
