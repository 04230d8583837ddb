import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { type Landscape, landscape } from "../landscape.ts";
import { datacenter } from "../objects.ts";

let world: Landscape;
let home = "";
let id = "";
const soon = { timeout: 90_000 };
const message = '{.status.conditions[?(@.type=="Ready")].message}';
const made = z.looseObject({ id: z.string() });

const adopting = (spec: object = {}) => ({
  apiVersion: "mooring.dev/v1alpha1",
  kind: "Volume",
  metadata: { name: "data" },
  spec: { datacenterRef: { name: "dc" }, externalId: id, ...spec },
});
const there = async (volume: string) =>
  (await world.platform.resources("volumes")).find((each) => each.id === volume)?.properties;
const refusalOf = async (object: object): Promise<string> =>
  world.apply(object).then(
    () => "nothing is refused",
    (error) => String(error),
  );

beforeAll(async () => {
  world = await landscape({ operator: ["--retry", "1s", "--annotate-after", "1s"] });
  await world.apply(datacenter("dc"));
  await world.untilReady("datacenter/dc");
  home = await world.value("datacenter/dc", "{.status.id}");
});

/** A volume that somebody makes without Mooring. */
async function foreign(name: string, type: string): Promise<string> {
  const properties = { name, size: 10, type, licenceType: "OTHER" };
  const created = await world.platform.call("POST", `/cloudapi/v6/datacenters/${home}/volumes`, { properties });
  const volume = made.parse(created).id;
  const isDone = async () =>
    (await world.platform.resources("volumes")).some((each) => each.id === volume && each.state === "AVAILABLE");
  await expect.poll(isDone, soon).toBe(true);
  return volume;
}

describe("a Volume that was adopted without its type", () => {
  it("is not Ready with another type, and says which one is there and how to keep it", async () => {
    id = await foreign("production", "SSD Premium");
    await world.apply(adopting());
    await world.untilReady("volume/data");
    await world.platform.resetCalls();
    await world.apply(adopting({ type: "HDD" }));
    await world.untilReason("volume/data", "ImmutableFieldChanged");
    expect(await world.value("volume/data", message)).toBe(
      "type is SSD Premium on the platform, not HDD, and cannot be changed in place (the technology of a volume is fixed at creation): set what is there or change spec back, which keeps the Volume; a Volume with externalId is not replaced: to have a new one, say in spec all that it is to have, then remove externalId",
    );
    await world.apply(adopting({ type: "HDD", replacePolicy: "WhenNeeded" }));
    await world.annotate("volume/data", "mooring.dev/allow-data-loss=true");
    await world.untilReason("volume/data", "ImmutableFieldChanged");
    await world.annotate("volume/data", "mooring.dev/allow-data-loss-");
    expect(await world.platform.writes()).toEqual([]);
  });

  it("is Ready with the type that is there, which is fixed from then on, and nothing is written", async () => {
    await world.apply(adopting({ type: "SSD Premium", replacePolicy: "Never" }));
    await world.untilReady("volume/data");
    expect(await world.value("volume/data", "{.status.id}")).toBe(id);
    expect(await refusalOf(adopting({ type: "HDD" }))).toContain("type cannot be changed");
    expect(await world.platform.writes()).toEqual([]);
    expect(await there(id)).toMatchObject({ name: "production", size: 10, type: "SSD Premium" });
  });
});

it("a Volume that was lost is not made again without what only the lost one had", async () => {
  const lost = await foreign("archive", "SSD Standard");
  const archive = (spec: object) => ({
    ...adopting({ externalId: lost, size: 10, licenceType: "OTHER", ...spec }),
    metadata: { name: "archive" },
  });
  await world.apply(archive({}));
  await world.untilReady("volume/archive");
  await world.platform.call("DELETE", `/cloudapi/v6/datacenters/${home}/volumes/${lost}`);
  await expect.poll(() => there(lost), soon).toBeUndefined();
  await world.annotate("volume/archive", "mooring.dev/reconcile-at=now");
  await world.untilReason("volume/archive", "DeletedExternally");
  await world.platform.resetCalls();
  await world.annotate("volume/archive", `mooring.dev/recreate=${lost}`);
  await world.untilReason("volume/archive", "InvalidSpec");
  expect(await world.value("volume/archive", message)).toBe(
    "type is required to create this Volume; spec leaves it out, which is possible only while there is the one in externalId: set it; the previous one had type SSD Standard",
  );
  expect(await world.platform.writes()).toEqual([]);
  await world.apply(archive({ type: "SSD Standard" }));
  await world.untilReady("volume/archive");
  const anew = await world.value("volume/archive", "{.status.id}");
  expect(anew).not.toBe(lost);
  expect(await there(anew)).toMatchObject({ type: "SSD Standard" });
});
