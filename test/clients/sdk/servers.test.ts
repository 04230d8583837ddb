import {
  DataCentersApi,
  ImagesApi,
  type Server,
  ServersApi,
  VolumePropertiesLicenceTypeEnum,
  VolumePropertiesTypeEnum,
  VolumesApi,
} from "@ionos-cloud/sdk-nodejs";
import { describe, expect, it } from "vitest";
import { disk, newDatacenter } from "./ground.ts";
import { expectRefusal, idOf, known, sdkForFile, seen } from "./sdk.ts";

const sdk = await sdkForFile();
const datacenters = new DataCentersApi(sdk.configuration);
const servers = new ServersApi(sdk.configuration);
const volumes = new VolumesApi(sdk.configuration);
const datacenterId = await newDatacenter(sdk);

const nvme = {
  properties: {
    name: "nvme",
    type: VolumePropertiesTypeEnum.Das,
    licenceType: VolumePropertiesLicenceTypeEnum.Linux,
  },
};
const flexible = { cores: 2, ram: 4096 };
const cube = { type: "CUBE", templateUuid: "72e73b81-8551-4e74-b398-fc63b39994af" };

const newServer = (server: Server) => sdk.made(servers.datacentersServersPost({ datacenterId, server }));
const newCube = () => newServer({ properties: { name: "cube", ...cube }, entities: { volumes: { items: [nvme] } } });

const serverOf = async (serverId: string, depth = 0) =>
  (await servers.datacentersServersFindById({ datacenterId, serverId, depth })).data;

describe("the life of", () => {
  it("a datacenter", () =>
    sdk.live({
      create: (name) => datacenters.datacentersPost({ datacenter: { properties: { name, location: "de/txl" } } }),
      find: (id) => datacenters.datacentersFindById({ datacenterId: id }),
      put: (id, name) => datacenters.datacentersPut({ datacenterId: id, datacenter: { properties: { name } } }),
      patch: (id, name) => datacenters.datacentersPatch({ datacenterId: id, datacenter: { name, location: "de/txl" } }),
      remove: (id) => datacenters.datacentersDelete({ datacenterId: id }),
    }));

  it.each([
    { model: "Dedicated Core", properties: { ...flexible, type: "ENTERPRISE", cpuFamily: "INTEL_ICELAKE" } },
    { model: "vCPU", properties: { ...flexible, type: "VCPU" } },
    { model: "Cube", properties: cube, entities: { volumes: { items: [nvme] } } },
  ])("a server of the model $model", ({ properties, entities }) =>
    sdk.live({
      create: (name) =>
        servers.datacentersServersPost({
          datacenterId,
          server: { properties: { name, ...properties }, ...(entities && { entities }) },
        }),
      find: (serverId) => servers.datacentersServersFindById({ datacenterId, serverId }),
      put: (serverId, name) =>
        servers.datacentersServersPut({ datacenterId, serverId, server: { properties: { name, ...properties } } }),
      patch: (serverId, name) => servers.datacentersServersPatch({ datacenterId, serverId, server: { name } }),
      remove: (serverId) => servers.datacentersServersDelete({ datacenterId, serverId }),
    }),
  );
});

it.each([
  { model: "Dedicated Core", create: () => newServer({ properties: flexible }) },
  { model: "vCPU", create: () => newServer({ properties: { ...flexible, type: "VCPU" } }) },
  { model: "Cube", create: () => newCube() },
])("a server of the model $model is sent back as it was read, with a new name", async ({ create }) => {
  const serverId = await create();
  const server = await serverOf(serverId, 1);
  const properties = { ...server.properties, name: "renamed" };
  await sdk.done(servers.datacentersServersPut({ datacenterId, serverId, server: { ...server, properties } }));
  expect((await serverOf(serverId)).properties).toEqual(properties);
});

describe("a server with volumes and NICs in one call", () => {
  it("is answered with the ids of everything, which are there afterwards", async () => {
    const { id, entities } = await sdk.done(
      servers.datacentersServersPost({
        datacenterId,
        server: {
          properties: { name: "web", ...flexible },
          entities: {
            volumes: { items: [disk("os"), disk("data")] },
            nics: { items: [{ properties: { lan: 7, dhcp: true } }] },
          },
        },
      }),
    );
    const server = await serverOf(known(id), 3);
    expect(server.properties).toMatchObject({ vmState: "RUNNING", bootVolume: { type: "volume" } });
    expect(server.metadata).toMatchObject({ state: "AVAILABLE" });
    expect(server.entities?.volumes?.items?.map(idOf)).toEqual(entities?.volumes?.items?.map(idOf));
    expect(server.entities?.nics?.items?.map(idOf)).toEqual(entities?.nics?.items?.map(idOf));
    expect(server.entities?.nics?.items).toMatchObject([{ properties: { lan: 7, ips: [expect.any(String)] } }]);
  });

  it.each([
    [true, 404],
    [false, 200],
  ])("goes with its volumes when deleteVolumes is %s", async (deleteVolumes, status) => {
    const serverId = await newServer({
      properties: { name: "web", ...flexible },
      entities: { volumes: { items: [disk("os")] } },
    });
    const volumeId = idOf(known((await serverOf(serverId, 2)).entities?.volumes?.items?.[0]));
    await sdk.done(servers.datacentersServersDelete({ datacenterId, serverId, deleteVolumes }));
    const found = volumes.datacentersVolumesFindById({ datacenterId, volumeId });
    expect(await seen(found)).toMatchObject({ status });
  });
});

it("a datacenter comes with its LANs, volumes and servers in one call", async () => {
  const made = await sdk.done(
    datacenters.datacentersPost({
      datacenter: {
        properties: { name: "whole", location: "de/fra" },
        entities: {
          lans: { items: [{ properties: { name: "front" } }] },
          volumes: { items: [disk("data")] },
          servers: { items: [{ properties: { name: "web", ...flexible } }] },
        },
      },
    }),
  );
  const { entities } = (await datacenters.datacentersFindById({ datacenterId: idOf(made), depth: 3 })).data;
  expect(entities?.lans?.items).toMatchObject([{ properties: { name: "front" } }]);
  expect(entities?.volumes?.items?.map(idOf)).toEqual(made.entities?.volumes?.items?.map(idOf));
  expect(entities?.servers?.items?.map(idOf)).toEqual(made.entities?.servers?.items?.map(idOf));
});

describe("the actions of a server", () => {
  it("start, stop and reboot a server with cores of its own", async () => {
    const serverId = await newServer({ properties: { name: "web", ...flexible } });
    await sdk.done(servers.datacentersServersStopPost({ datacenterId, serverId }));
    expect((await serverOf(serverId)).properties.vmState).toBe("SHUTOFF");
    await sdk.done(servers.datacentersServersStartPost({ datacenterId, serverId }));
    expect((await serverOf(serverId)).properties.vmState).toBe("RUNNING");
    await sdk.done(servers.datacentersServersRebootPost({ datacenterId, serverId }));
    await sdk.done(servers.datacentersServersUpgradePost({ datacenterId, serverId }));
    const suspended = servers.datacentersServersSuspendPost({ datacenterId, serverId });
    await expectRefusal(suspended, 422, "suspend is not available");
  });

  it("suspend and resume a Cube", async () => {
    const serverId = await newCube();
    await sdk.done(servers.datacentersServersSuspendPost({ datacenterId, serverId }));
    expect((await serverOf(serverId)).properties.vmState).toBe("SUSPENDED");
    await sdk.done(servers.datacentersServersResumePost({ datacenterId, serverId }));
    expect((await serverOf(serverId)).properties.vmState).toBe("RUNNING");
    const stopped = servers.datacentersServersStopPost({ datacenterId, serverId });
    await expectRefusal(stopped, 422, "stop is not available");
  });
});

it("a CD is put into a server's drive and taken out", async () => {
  const serverId = await newServer({ properties: { name: "rescue", ...flexible } });
  const images = (await new ImagesApi(sdk.configuration).imagesGet({ depth: 1 })).data.items ?? [];
  const isCd = ({ properties }: (typeof images)[number]) =>
    properties.imageType === "CDROM" && properties.location === "de/fra";
  const cdrom = known(images.find(isCd));
  const cdromId = await sdk.made(servers.datacentersServersCdromsPost({ datacenterId, serverId, cdrom }));
  const { data } = await servers.datacentersServersCdromsFindById({ datacenterId, serverId, cdromId });
  expect(data.properties).toMatchObject({ imageType: "CDROM" });
  await sdk.done(servers.datacentersServersCdromsDelete({ datacenterId, serverId, cdromId }));
  expect((await servers.datacentersServersCdromsGet({ datacenterId, serverId })).data.items).toEqual([]);
});
