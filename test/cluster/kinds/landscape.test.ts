import { beforeAll, describe, expect, it } from "vitest";
import { type Landscape, landscape } from "../landscape.ts";
import { type Sample, samples } from "../samples.ts";

const nameOf = ({ kind, metadata }: Sample) => `${kind.toLowerCase()}/${metadata.name}`;

// test/docs/commands.test.ts and test/clients/helm.test.ts apply it in the order of the file.
describe("the landscape of deploy/samples, applied at once in the opposite order", () => {
  let world: Landscape;
  let objects: Sample[];
  let ours: string[];

  beforeAll(async () => {
    world = await landscape({ bare: true, simulator: ["--speed", "60"] });
    objects = (await samples("landscape.yaml", world.platform)).toReversed();
    ours = objects.filter(({ kind }) => kind !== "Secret").map(nameOf);
    await world.apply(...objects);
  });

  const value = (name: string, path: string) => world.value(name, `{.status.${path}}`);
  const json = async (name: string, path: string): Promise<unknown> => JSON.parse(await value(name, path));

  /** Cluster-scoped objects may belong to other tests. */
  async function shown(): Promise<string[]> {
    const { stdout } = await world.kubectl("get", "mooring", "-o", "name");
    const names = stdout.split("\n").map((name) => name.replace(".mooring.dev", ""));
    return names.filter((name) => name !== "").sort();
  }

  it("becomes Ready", async () => {
    await world.untilReady(...ours);
  });

  it("is shown as a whole by kubectl get mooring", async () => {
    expect(await shown()).toEqual(ours.toSorted());
  });

  it("an IPBlock shows its addresses, and which server has which of them", async () => {
    const server = { serverId: await value("server/web", "id"), serverName: "web" };
    const [first, second] = [await value("ipblock/shop", "ips[0]"), await value("ipblock/shop", "ips[1]")];
    expect(new Set([first, second, ""]).size).toBe(3);
    const nicId = await value("server/web", 'nics[?(@.name=="public")].id');
    const datacenterId = await value("datacenter/shop", "id");
    await expect.poll(() => json("ipblock/shop", "consumers")).toEqual([{ ip: first, nicId, ...server, datacenterId }]);
    expect(await value("server/web", 'nics[?(@.name=="public")].ips[0]')).toBe(first);
  });

  it("NICs are in the LANs of the Lan objects", async () => {
    const lans = ["front", "back"].map((name) => value(`lan/${name}`, "id"));
    const found = ["public", "private"].map((name) => value("server/web", `nics[?(@.name=="${name}")].lan`));
    expect(await Promise.all(found)).toEqual(await Promise.all(lans));
    expect(await value("lan/front", "public")).toBe("true");
  });

  it.each([
    ["orders", "orders-data", 50],
    ["cache", "cache-data", 20],
  ])("server %s and its volume %s know of each other", async (server, volume, size) => {
    expect(await value(`volume/${volume}`, "serverId")).toBe(await value(`server/${server}`, "id"));
    const deviceNumber = Number(await value(`volume/${volume}`, "deviceNumber"));
    expect(deviceNumber).toBeGreaterThan(0);
    const id = await value(`volume/${volume}`, "id");
    await expect.poll(() => json(`server/${server}`, "volumes")).toEqual([{ id, name: volume, size, deviceNumber }]);
  });

  it("a snapshot is a copy of its volume, and a new volume has started from it", async () => {
    const snapshot = "snapshot/orders-before-migration";
    expect([await value(snapshot, "size"), await value(snapshot, "location")]).toEqual(["50", "de/txl"]);
    const copy = await value("volume/orders-copy", "id");
    const found = (await world.platform.resources("volumes")).find(({ id }) => id === copy);
    expect(found?.properties).toMatchObject({ image: await value(snapshot, "id"), size: 60 });
  });

  it("a flow log watches the NIC that it names", async () => {
    const [found] = await world.platform.resources("flowlogs");
    expect(found).toMatchObject({
      id: await value("flowlog/web-rejected", "id"),
      nicId: await value("server/web", 'nics[?(@.name=="public")].id'),
    });
    expect(await value("flowlog/web-rejected", "bucket")).toBe("flow-logs");
  });

  it("a scaling group shows its replicas and the servers behind them", async () => {
    await expect.poll(() => value("scalinggroup/workers", "replicas")).toBe("2");
    const [one, two] = [0, 1].map((index) => value("scalinggroup/workers", `servers[${index}].serverId`));
    const servers = (await world.platform.resources("servers")).map(({ id }) => id);
    expect(servers).toEqual(expect.arrayContaining([await one, await two]));
  });

  it("disappears with one kubectl delete, and nothing is left on the platform", async () => {
    expect((await world.kubectl("delete", "--timeout=90s", ...objects.map(nameOf))).stderr).toBe("");
    expect(await shown()).toEqual([]);
    expect(await world.platform.made()).toEqual({});
  });
});
