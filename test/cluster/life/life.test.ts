import { beforeAll, describe, expect, it } from "vitest";
import { type Landscape, landscape } from "../landscape.ts";
import { datacenter, lan, server } from "../objects.ts";

let world: Landscape;

beforeAll(async () => {
  world = await landscape();
  await world.apply(datacenter("dc"), server("web"));
  await world.untilReady("account/main", "datacenter/dc", "server/web");
});

describe("from apply to delete", () => {
  it("an Account shows its contract, the end of its token, limits and use", async () => {
    expect(Number(await world.value("account/main", "{.status.contractNumber}"))).toBeGreaterThan(0);
    expect(Date.parse(await world.value("account/main", "{.status.tokenExpiresAt}"))).toBeGreaterThan(Date.now());
    expect(Number(await world.value("account/main", "{.status.limits.coresPerContract}"))).toBeGreaterThan(0);
    expect(await world.value("account/main", "{.status.used.coresProvisioned}")).toMatch(/^\d+$/);
  });

  it("a server has the id, the state and the parts that the platform gave it", async () => {
    const [found] = await world.platform.resources("servers");
    expect(await world.value("server/web", "{.status.id}")).toBe(found?.id);
    expect(await world.value("server/web", "{.status.state}")).toBe("AVAILABLE");
    expect(await world.value("server/web", "{.status.vmState}")).toBe("RUNNING");
    expect(await world.value("server/web", "{.status.nics[0].mac}")).toMatch(/^([0-9a-f]{2}:){5}[0-9a-f]{2}$/i);
    const volumes = await world.platform.resources("volumes");
    expect(volumes.map(({ id }) => id)).toContain(await world.value("server/web", "{.status.bootVolumeId}"));
  });

  it("kubectl describe shows the life of the object in Events", async () => {
    const reported = () => world.describe("server/web");
    await expect.poll(reported).toMatch(/Normal\s+Creating\s+.*mooring\s+creating Server [0-9a-f-]{36}, request/);
    await expect.poll(reported).toMatch(/Normal\s+Created\s+.*mooring\s+Created Server [0-9a-f-]{36}/);
    expect(await reported()).toContain("Available");
  });

  it("kubectl get shows the telling columns, also for all kinds at once", async () => {
    const { stdout } = await world.kubectl("get", "srv");
    expect(stdout).toMatch(/NAME\s+READY\s+REASON\s+STATE\s+VM\s+TYPE\s+IPS\s+PAUSED\s+AGE/);
    expect(stdout).toMatch(/web\s+True\s+Available\s+AVAILABLE\s+RUNNING\s+ENTERPRISE\s+[\d.]+/);
    expect(stdout.split("\n").filter((line) => line.length > 120)).toEqual([]);
    const wide = await world.kubectl("get", "dc", "-o", "wide");
    expect(wide.stdout).toMatch(/STATE\s+ID\s+LOCATION\s+PAUSED\s+SINCE\s+AGE\s+MESSAGE/);
    expect(wide.stdout).toMatch(/AVAILABLE\s+[0-9a-f-]{36}\s+de\/txl\s+\d+\w+\s+\d+\w+\s+Datacenter is up to date/);
    const all = await world.kubectl("get", "mooring", "-o", "name");
    expect(all.stdout.split("\n")).toEqual(
      expect.arrayContaining(["account.mooring.dev/main", "datacenter.mooring.dev/dc", "server.mooring.dev/web"]),
    );
  });

  it("an annotation without effect is reported, and yes pauses like true", async () => {
    await world.kubectl("annotate", "datacenter/dc", "mooring.dev/pause=true", "mooring.dev/paused=yes");
    const advice = () => world.value("datacenter/dc", "{.status.advice}");
    await expect.poll(advice, { timeout: 60_000 }).toContain("did you mean mooring.dev/paused?");
    const { stdout } = await world.kubectl("get", "dc");
    expect(stdout).toMatch(/dc\s+True\s+Available\s+AVAILABLE\s+de\/txl\s+True\s/);
    await expect
      .poll(() => world.describe("datacenter/dc"), { timeout: 60_000 })
      .toMatch(/Warning\s+Advice\s.*mooring/);
    await world.kubectl("annotate", "datacenter/dc", "mooring.dev/pause-", "mooring.dev/paused-");
    await expect.poll(advice, { timeout: 60_000 }).toBe("");
  });

  it("a status shows what helps a reader, and keeps the rest apart", async () => {
    const { nonce, ...shown } = JSON.parse(await world.value("datacenter/dc", "{.status}"));
    expect(nonce).toBeUndefined();
    expect(shown.internal).toMatchObject({ nonce: expect.any(String), signature: expect.any(String) });
    expect(Object.keys(shown).sort()).toEqual(
      "account,conditions,contract,endpoint,id,internal,location,observedGeneration,parents,state,userId,version".split(
        ",",
      ),
    );
  });

  it("an object can be switched to Observe and back to Manage", async () => {
    const id = await world.value("datacenter/dc", "{.status.id}");
    await world.apply(datacenter("dc", { managementPolicy: "Observe", description: "another" }));
    await world.untilReason("datacenter/dc", "Observed");
    expect(await world.value("datacenter/dc", "{.status.drift[*].field}")).toBe("description");
    await world.apply(datacenter("dc"));
    await world.untilReason("datacenter/dc", "Available");
    expect(await world.value("datacenter/dc", "{.status.id}")).toBe(id);
  });

  it("kubectl explain has a text for every field", async () => {
    const { stdout } = await world.kubectl("explain", "server.spec.bootVolume");
    expect(stdout).toContain("Size in GB; can only grow");
  });

  it("tests read what kubectl prints", async () => {
    const conditions = ["[*].type", '[?(@.type=="Ready")].message'].map((each) => `{.status.conditions${each}}`);
    const annotation = "{.metadata.annotations.kubectl\\.kubernetes\\.io/last-applied-configuration}";
    const path = [...conditions, annotation, "{.spec.nics[0].name}", "{.status.nics}", "{.spec.cores}{.none}"].join(
      " | ",
    );
    const { stdout } = await world.kubectl("get", "server", "web", "-o", `jsonpath=${path}`);
    expect(await world.value("server/web", path)).toBe(stdout);
    const names = await world.kubectl("get", "datacenters", "-o", "jsonpath={.items[*].metadata.name}");
    expect(await world.value("datacenters", "{.items[*].metadata.name}")).toBe(names.stdout);
  });

  it("a field that the platform can change is changed in place", async () => {
    const id = await world.value("server/web", "{.status.id}");
    await world.apply(server("web", { cores: 4, ram: 4096 }));
    await expect.poll(() => world.value("server/web", "{.status.cores}")).toBe("4");
    await world.untilReady("server/web");
    expect(await world.value("server/web", "{.status.id}")).toBe(id);
    const found = await world.platform.resources("servers");
    expect(found.map(({ properties }) => properties)).toEqual([expect.objectContaining({ cores: 4, ram: 4096 })]);
    await expect.poll(() => world.describe("server/web")).toMatch(/Updated\s+.*cores, ram/);
  });

  it("a server is stopped and started by its power state", async () => {
    await world.apply(server("web", { cores: 4, ram: 4096, powerState: "Stopped" }));
    await expect.poll(() => world.value("server/web", "{.status.vmState}")).toBe("SHUTOFF");
    await world.untilReady("server/web");
    await world.apply(server("web", { cores: 4, ram: 4096, powerState: "Running" }));
    await expect.poll(() => world.value("server/web", "{.status.vmState}")).toBe("RUNNING");
    await world.untilReady("server/web");
  });

  it("a manual change on the platform is changed back", async () => {
    const [dc] = await world.platform.resources("datacenters");
    const id = await world.value("server/web", "{.status.id}");
    const path = `/cloudapi/v6/datacenters/${dc?.id}/servers/${id}`;
    await world.platform.call("PATCH", path, { name: "renamed" });
    await world.kubectl("annotate", "server", "web", "mooring.dev/reconcile-at=now", "--overwrite");
    await expect
      .poll(async () => (await world.platform.resources("servers"))[0]?.properties?.name, { timeout: 60_000 })
      .toBe("web");
  });

  it("an object that others hold back, when Mooring is done with it, does not hold back its datacenter", async () => {
    const held = { name: "held", finalizers: ["example.com/hold"] };
    await world.apply(datacenter("other"), { ...lan("held", { datacenterRef: { name: "other" } }), metadata: held });
    await world.untilReady("lan/held");
    await world.kubectl("delete", "--wait=false", "lan/held", "datacenter/other");
    await world.untilGone("datacenter/other");
    expect(await world.value("lan/held", "{.metadata.finalizers}")).toBe('["example.com/hold"]');
    const names = (await world.platform.resources("datacenters")).map(({ properties }) => properties?.name);
    expect(names).toEqual(["dc"]);
    await world.kubectl("patch", "lan", "held", "--type=merge", "--patch", '{"metadata":{"finalizers":null}}');
  });

  it("everything goes on both sides when all objects are deleted at once", async () => {
    const deleted = await world.kubectl(
      "delete",
      "servers,datacenters,accounts",
      "--all",
      "--wait=true",
      "--timeout=90s",
    );
    expect(deleted.stderr).toBe("");
    expect(deleted.code).toBe(0);
    expect(await world.platform.resources("servers")).toEqual([]);
    expect(await world.platform.resources("volumes")).toEqual([]);
    expect(await world.platform.resources("datacenters")).toEqual([]);
  });
});
