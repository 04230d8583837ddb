import { ServersApi, SnapshotsApi, VolumesApi } from "@ionos-cloud/sdk-nodejs";
import { describe, expect, it } from "vitest";
import { disk, newDatacenter } from "./ground.ts";
import { idOf, sdkForFile } from "./sdk.ts";

const sdk = await sdkForFile();
const volumes = new VolumesApi(sdk.configuration);
const servers = new ServersApi(sdk.configuration);
const snapshots = new SnapshotsApi(sdk.configuration);
const datacenterId = await newDatacenter(sdk);

const newVolume = () => sdk.made(volumes.datacentersVolumesPost({ datacenterId, volume: disk("data") }));
const newServer = () =>
  sdk.made(
    servers.datacentersServersPost({ datacenterId, server: { properties: { name: "db", cores: 1, ram: 1024 } } }),
  );

describe("the life of", () => {
  it("a volume", () =>
    sdk.live({
      create: (name) => volumes.datacentersVolumesPost({ datacenterId, volume: disk(name) }),
      find: (volumeId) => volumes.datacentersVolumesFindById({ datacenterId, volumeId }),
      put: (volumeId, name) => volumes.datacentersVolumesPut({ datacenterId, volumeId, volume: disk(name) }),
      patch: (volumeId, name) => volumes.datacentersVolumesPatch({ datacenterId, volumeId, volume: { name } }),
      remove: (volumeId) => volumes.datacentersVolumesDelete({ datacenterId, volumeId }),
    }));

  it("a snapshot", async () => {
    const volumeId = await newVolume();
    await sdk.live({
      create: (name) =>
        volumes.datacentersVolumesCreateSnapshotPost({ datacenterId, volumeId, snapshot: { properties: { name } } }),
      find: (snapshotId) => snapshots.snapshotsFindById({ snapshotId }),
      put: (snapshotId, name) => snapshots.snapshotsPut({ snapshotId, snapshot: { properties: { name } } }),
      patch: (snapshotId, name) => snapshots.snapshotsPatch({ snapshotId, snapshot: { name } }),
      remove: (snapshotId) => snapshots.snapshotsDelete({ snapshotId }),
    });
  });
});

describe("a volume", () => {
  it("is attached to a server and detached", async () => {
    const serverId = await newServer();
    const volumeId = await newVolume();
    const attached = await sdk.done(
      servers.datacentersServersVolumesPost({ datacenterId, serverId, volume: { id: volumeId } }),
    );
    expect(attached.id).toBe(volumeId);
    const found = await servers.datacentersServersVolumesFindById({ datacenterId, serverId, volumeId });
    expect(found.data.properties).toMatchObject({ bootServer: serverId, deviceNumber: expect.any(Number) });
    await sdk.done(servers.datacentersServersVolumesDelete({ datacenterId, serverId, volumeId }));
    const { data } = await servers.datacentersServersVolumesGet({ datacenterId, serverId });
    expect(data.items).toEqual([]);
    expect((await volumes.datacentersVolumesFindById({ datacenterId, volumeId })).status).toBe(200);
  });

  it("is attached by all that was read of it, too", async () => {
    const serverId = await newServer();
    const volumeId = await newVolume();
    const volume = (await volumes.datacentersVolumesFindById({ datacenterId, volumeId })).data;
    await sdk.done(servers.datacentersServersVolumesPost({ datacenterId, serverId, volume }));
    const { data } = await servers.datacentersServersVolumesGet({ datacenterId, serverId });
    expect(data.items?.map(idOf)).toEqual([volumeId]);
  });

  it("is made on a server", async () => {
    const serverId = await newServer();
    await sdk.made(servers.datacentersServersVolumesPost({ datacenterId, serverId, volume: disk("data") }));
    const { data } = await servers.datacentersServersVolumesGet({ datacenterId, serverId, depth: 1 });
    expect(data.items).toMatchObject([{ properties: { name: "data", size: 20 } }]);
  });

  it("becomes a snapshot and is restored from it", async () => {
    const volumeId = await newVolume();
    const at = { datacenterId, volumeId };
    const snapshot = { properties: { name: "before", description: "the update" } };
    const snapshotId = await sdk.made(volumes.datacentersVolumesCreateSnapshotPost({ ...at, snapshot }));
    const { properties } = (await snapshots.snapshotsFindById({ snapshotId })).data;
    expect(properties).toMatchObject({ ...snapshot.properties, location: "de/fra", size: 20 });
    const restoreSnapshot = { properties: { snapshotId } };
    await sdk.done(volumes.datacentersVolumesRestoreSnapshotPost({ ...at, restoreSnapshot }));
    const volume = (await volumes.datacentersVolumesFindById(at)).data;
    expect(volume.metadata).toMatchObject({ state: "AVAILABLE" });
  });
});
