import {
  DataCentersApi,
  ImagesApi,
  LocationsApi,
  VolumePropertiesLicenceTypeEnum,
  VolumesApi,
} from "@ionos-cloud/sdk-nodejs";
import { describe, expect, it } from "vitest";
import { expectRefusal, idOf, known, sdkForFile } from "./sdk.ts";

const sdk = await sdkForFile();
const datacenters = new DataCentersApi(sdk.configuration);
const volumes = new VolumesApi(sdk.configuration);

const newDatacenter = (name: string, location: string) =>
  sdk.made(datacenters.datacentersPost({ datacenter: { properties: { name, location } } }));
await newDatacenter("beta", "de/txl");
await newDatacenter("alpha", "de/fra");
const datacenterId = await newDatacenter("gamma", "de/fra");
for (const [name, size] of [
  ["large", 100],
  ["small", 5],
  ["medium", 20],
] as const) {
  const properties = { name, size, licenceType: VolumePropertiesLicenceTypeEnum.Linux };
  await sdk.made(volumes.datacentersVolumesPost({ datacenterId, volume: { properties } }));
}

/** The SDK declares a map but reads the fields of an object. */
const filters = (values: Record<string, string>) => Object.assign(new Map<string, string>(), values);

const names = ({ data }: { data: { items?: { properties?: { name?: string } }[] } }) =>
  data.items?.map(({ properties }) => properties?.name);

describe("pages", () => {
  it("follow each other by offset and limit, and lead to each other", async () => {
    const page = (offset: number) => datacenters.datacentersGet({ depth: 1, offset, limit: 2 });
    const [first, second] = [await page(0), await page(2)];
    expect([...known(names(first)), ...known(names(second))]).toEqual(["beta", "alpha", "gamma"]);
    expect(first.data).toMatchObject({ offset: 0, limit: 2, _links: { next: expect.stringContaining("offset=2") } });
    expect(first.data._links).not.toHaveProperty("prev");
    expect(second.data._links).toMatchObject({ prev: expect.stringContaining("offset=0") });
    expect(second.data._links).not.toHaveProperty("next");
  });

  it("end behind the last one", async () => {
    expect((await datacenters.datacentersGet({ offset: 3 })).data.items).toEqual([]);
  });

  it("have limits that the answer names", async () => {
    const beyond = datacenters.datacentersGet({ limit: 10_001 });
    await expectRefusal(beyond, 422, "limit");
  });
});

describe("the order", () => {
  it("is that of a property", async () => {
    expect(names(await datacenters.datacentersGet({ depth: 1, orderBy: "name" }))).toEqual(["alpha", "beta", "gamma"]);
  });

  it("of numbers is that of their values", async () => {
    const listed = await volumes.datacentersVolumesGet({ datacenterId, depth: 1, orderBy: "size" });
    expect(names(listed)).toEqual(["small", "medium", "large"]);
  });

  it("comes before the end of the results", async () => {
    const listed = await datacenters.datacentersGet({ depth: 1, orderBy: "name", maxResults: 2 });
    expect(names(listed)).toEqual(["alpha", "beta"]);
  });
});

describe("filters", () => {
  const found = async (values: Record<string, string>) =>
    names(await datacenters.datacentersGet({ depth: 1, filters: filters(values) }));

  it("find what contains a text, whatever its case", async () => {
    expect(await found({ name: "LPH" })).toEqual(["alpha"]);
    expect(await found({ location: "de/fra" })).toEqual(["alpha", "gamma"]);
  });

  it("must all match", async () => {
    expect(await found({ location: "de/fra", name: "gam" })).toEqual(["gamma"]);
    expect(await found({ location: "de/txl", name: "gam" })).toEqual([]);
  });

  it("work on metadata, too", async () => {
    expect(await found({ "metadata.createdBy": sdk.platform.ready.username })).toHaveLength(3);
    expect(await found({ "metadata.createdBy": "somebody else" })).toEqual([]);
  });

  it("find images by their aliases", async () => {
    const wanted = { imageAliases: "ubuntu:latest", imageType: "HDD", location: "de/fra" };
    const { data } = await new ImagesApi(sdk.configuration).imagesGet({ depth: 1, filters: filters(wanted) });
    for (const { properties } of known(data.items)) {
      expect(properties).toMatchObject({ imageType: "HDD", cloudInit: "V1" });
      expect(properties.imageAliases).toContain("ubuntu:latest");
    }
    expect(data.items).not.toEqual([]);
  });
});

it("a configuration has defaults for all calls", async () => {
  const configuration = sdk.configured({ apiKey: sdk.platform.ready.token }).setDepth(1).setPretty(false);
  const { data } = await new LocationsApi(configuration).locationsGet();
  expect(data.items?.map(idOf)).toContain("de/fra");
  for (const { properties } of known(data.items)) expect(properties).toHaveProperty("cpuArchitecture");
});
