import { beforeAll, describe, expect, it } from "vitest";
import { type Landscape, landscape } from "../landscape.ts";
import { datacenter, flowLog, lan, server, snapshot, volume } from "../objects.ts";

let world: Landscape;

beforeAll(async () => {
  world = await landscape({
    simulator: ["--speed", "60"],
    // The resync is so long that only events cause a reconcile.
    operator: ["--create-deadline", "3s", "--settle", "3s", "--retry", "1s", "--resync", "1h"],
  });
  await world.apply(datacenter("dc"));
  await world.untilReady("datacenter/dc");
});

const idOf = (name: string) => world.value(name, "{.status.id}");
const ready = (name: string) => world.value(name, '{.status.conditions[?(@.type=="Ready")].status}');
const named = async (collection: string, name: string) =>
  (await world.platform.resources(collection)).filter(({ properties }) => properties?.name === name);
/** A few polls of 1.5 s on a busy machine. */
const soon = { timeout: 20_000 };

describe("when a resource is deleted, objects that refer to it or live in it are reconciled", () => {
  it("a volume is attached to its server again after that was deleted and created again", async () => {
    const attached = volume("data", { attachTo: { serverRef: { name: "host" } } });
    await world.apply(server("host"), attached);
    await world.untilReady("server/host", "volume/data");
    const [before, id] = [await idOf("server/host"), await idOf("volume/data")];
    await world.remove("server/host");
    await world.apply(server("host"));
    await world.untilReady("server/host");
    const after = await idOf("server/host");
    expect(after).not.toBe(before);
    await expect
      .poll(() => named("volumes", "data"), soon)
      .toEqual([expect.objectContaining({ id, serverId: after, state: "AVAILABLE" })]);
    const shown = async () => [await ready("volume/data"), await world.value("volume/data", "{.status.serverId}")];
    await expect.poll(shown, soon).toEqual(["True", after]);
  });

  it("the flow log of a server that was replaced is on the platform and Ready", async () => {
    await world.apply(server("watched"), flowLog("records", { serverRef: { name: "watched" } }));
    await world.untilReady("flowlog/records");
    const before = await idOf("server/watched");
    const moved = { availabilityZone: "ZONE_1", replacePolicy: "WhenNeeded" };
    await world.annotate("server/watched", "mooring.dev/allow-data-loss=true");
    await world.apply(server("watched", moved));
    await expect.poll(() => idOf("server/watched")).not.toBeOneOf([before, ""]);
    await world.untilReady("server/watched");
    const after = await idOf("server/watched");
    await expect
      .poll(() => named("flowlogs", "records"), soon)
      .toEqual([expect.objectContaining({ serverId: after, state: "AVAILABLE" })]);
    const [log] = await named("flowlogs", "records");
    await expect
      .poll(async () => [await ready("flowlog/records"), await idOf("flowlog/records")], soon)
      .toEqual(["True", log?.id]);
  });

  it("a server that was created again names the boot volume that the one before has left, until that is adopted", async () => {
    await world.apply(server("lost"));
    await world.untilReady("server/lost");
    const [before, boot] = [await idOf("server/lost"), await world.value("server/lost", "{.status.bootVolumeId}")];
    await world.platform.call("DELETE", `/cloudapi/v6/datacenters/${await idOf("datacenter/dc")}/servers/${before}`);
    await world.annotate("server/lost", "mooring.dev/reconcile-at=now");
    await expect.poll(() => idOf("server/lost")).not.toBeOneOf([before, ""]);
    await world.untilReady("server/lost");
    const advice = () => world.value("server/lost", "{.status.advice}");
    await expect.poll(advice).toContain(`Volume ${boot} of the previous Server`);
    await expect.poll(() => world.describe("server/lost")).toMatch(new RegExp(`Warning\\s+Advice.*Volume ${boot}`));
    await world.apply(volume("rescued", { externalId: boot, type: "SSD Standard", licenceType: undefined }));
    await world.untilReady("volume/rescued");
    await world.annotate("server/lost", "mooring.dev/reconcile-at=adopted");
    await expect
      .poll(async () => `${await advice()}${await world.value("server/lost", "{.status.leftBehind}")}`)
      .toBe("");
    await world.remove("server/lost", "volume/rescued");
  });

  it("a Volume that a server boots from comes and goes with it, can be copied, and is deleted after it", async () => {
    const booting = server("booted", { bootVolume: undefined, bootVolumeRef: { name: "os" } });
    const copy = snapshot("os-copy", { volumeRef: undefined, serverRef: { name: "booted" } });
    await world.apply(booting, volume("os"), copy);
    await world.untilReady("server/booted", "volume/os", "snapshot/os-copy");
    const [before, id] = [await idOf("server/booted"), await idOf("volume/os")];
    expect(await world.value("server/booted", "{.status.bootVolumeId}")).toBe(id);
    const serverOf = () => world.value("volume/os", "{.status.serverId}");
    await expect.poll(serverOf, soon).toBe(before);

    await world.askToRemove("volume/os");
    const reason = () => world.value("volume/os", '{.status.conditions[?(@.type=="Stalled")].message}');
    await expect.poll(reason, soon).toContain("Volume is still used by Server/");
    await world.remove("server/booted");
    await world.untilGone("volume/os");
    expect([await named("volumes", "os"), await named("servers", "booted")]).toEqual([[], []]);
    expect(await ready("snapshot/os-copy")).toBe("True");
  });

  it("a LAN does not stay Ready in a datacenter that was deleted with all that was in it", async () => {
    await world.apply(datacenter("full"), lan("inside", { datacenterRef: { name: "full" } }));
    await world.untilReady("lan/inside");
    await world.annotate("datacenter/full", "mooring.dev/allow-non-empty-delete=true");
    await world.remove("datacenter/full");
    expect(await named("lans", "inside")).toEqual([]);
    await expect.poll(() => ready("lan/inside"), soon).not.toBe("True");
    await world.remove("lan/inside");
  });
});
