import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { temporaryFolder } from "../../../src/simulator/programs/swept.ts";
import { type Landscape, landscape } from "../landscape.ts";
import { datacenter, ipBlock, server } from "../objects.ts";
import { commandLine } from "../programs/command-line.ts";

const labelRoute = "/cloudapi/v6/datacenters/{datacenterId}/labels";
const named = (name: string) => ["--cluster-name", name, "--resync", "3s", "--retry", "10m"];
const account = z.object({ spec: z.object({ endpoints: z.record(z.string(), z.string()) }) });

/** The labels on the platform: the id of the resource, and the value. */
async function labelsOf({ platform }: Landscape): Promise<Map<string, string>> {
  const labels = z
    .object({ items: z.array(z.object({ properties: z.object({ resourceId: z.string(), value: z.string() }) })) })
    .parse(await platform.call("GET", "/cloudapi/v6/labels?depth=1"));
  return new Map(labels.items.map(({ properties: { resourceId, value } }) => [resourceId, value]));
}
const idOf = (world: Landscape, name: string) => world.value(name, "{.status.id}");

describe("two clusters on one contract", () => {
  const folder = temporaryFolder("labels");
  let blue: Landscape;
  let green: Landscape;
  let endpoints: Record<string, string>;
  const { run } = commandLine(() => blue, folder.path);

  beforeAll(async () => {
    blue = await landscape({ operator: named("blue") });
    green = await landscape({ bare: true, operator: named("green") });
    ({ endpoints } = account.parse(await blue.get("account/main")).spec);
    const shared = await blue.get("account/main");
    const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "token" } };
    await green.apply(
      { ...secret, stringData: { token: blue.platform.token } },
      { apiVersion: shared.apiVersion, kind: "Account", metadata: { name: "main" }, spec: shared.spec },
      datacenter("theirs"),
      server("inside", { datacenterRef: { name: "theirs" } }),
    );
    await blue.apply(datacenter("ours"), ipBlock("address"));
    await blue.untilReady("datacenter/ours", "ipblock/address");
    await green.untilReady("server/inside");
  });
  afterAll(() => folder.remove());

  it("label what they create, and nothing that is in it or that they have adopted", async () => {
    await blue.platform.call("POST", "/cloudapi/v6/datacenters", {
      properties: { name: "by-hand", location: "de/txl" },
    });
    const adopted = (await blue.platform.resources("datacenters")).find((each) => each.properties?.name === "by-hand");
    await blue.apply(datacenter("adopted", { externalId: adopted?.id, name: "by-hand" }));
    await blue.untilReady("datacenter/adopted");
    const wanted = new Map([
      [await idOf(blue, "datacenter/ours"), "blue"],
      [await idOf(blue, "ipblock/address"), "blue"],
      [await idOf(green, "datacenter/theirs"), "green"],
    ]);
    await expect.poll(() => labelsOf(blue)).toEqual(wanted);
    await blue.platform.resetCalls();
    const lists = async () => (await blue.platform.calls()).byRoute["GET /cloudapi/v6/labels"] ?? 0;
    await expect.poll(lists).toBeGreaterThanOrEqual(6);
    expect(Object.keys((await blue.platform.calls()).byRoute).filter((route) => route.includes("POST"))).toEqual([]);
    expect(await labelsOf(blue)).toEqual(wanted);
  });

  it("are told apart by mooring orphans, for a user of one of them", async () => {
    const theirs = await idOf(green, "datacenter/theirs");
    await expect.poll(async () => (await labelsOf(blue)).get(theirs)).toBe("green");
    await blue.kubectl("create", "rolebinding", "viewer", "--clusterrole=mooring-view", "--user=viewer");
    await blue.platform.call("POST", "/cloudapi/v6/ipblocks", {
      properties: { name: "lost", location: "de/txl", size: 1 },
    });
    const env = { MOORING_ENDPOINTS: JSON.stringify(endpoints), MOORING_TOKEN: blue.platform.token };
    const { stdout, stderr } = await run("orphans -o json", { user: "viewer", env });
    expect(stdout, stderr).toMatch(/^\{/);
    const { without_object, of_other_clusters } = z
      .object({ without_object: z.array(z.looseObject({})), of_other_clusters: z.array(z.looseObject({})) })
      .parse(JSON.parse(stdout));
    expect(without_object).toMatchObject([{ kind: "IPBlock", name: "lost" }]);
    expect(of_other_clusters).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ kind: "Datacenter", id: theirs, cluster: "green" }),
        expect.objectContaining({ kind: "Server", name: "inside", cluster: "green" }),
      ]),
    );
    const table = (await run("orphans -o wide", { user: "viewer", env })).stdout;
    const [own = "", others = ""] = table.split("Resources that other clusters have created");
    expect(own).toContain("DELETE");
    expect(others).toMatch(/theirs.*green/);
    expect(others).not.toContain("DELETE ");
  });
});

it("a resource that was created before the operator was stopped is labelled by the next one", async () => {
  const world = await landscape({ operator: named("blue") });
  await world.platform.faults({ route: `POST ${labelRoute}`, fault: "status", status: 503 });
  await world.apply(datacenter("dc"));
  await world.untilReady("datacenter/dc");
  await world.operator.stop();
  await world.platform.faults();
  expect(await labelsOf(world)).toEqual(new Map());
  await world.anotherOperator();
  await expect.poll(() => labelsOf(world)).toEqual(new Map([[await idOf(world, "datacenter/dc"), "blue"]]));
});

it("a label that the user may not write leaves objects Ready, and is not asked for again before its pause is over", async () => {
  const world = await landscape({ operator: named("blue") });
  await world.platform.faults({ route: `POST ${labelRoute}`, fault: "status", status: 403 });
  await world.apply(datacenter("one"), datacenter("two"));
  const calls = async () => (await world.platform.calls()).byRoute;
  await expect.poll(async () => (await calls())[`POST ${labelRoute}`]).toBe(1);
  await world.apply(datacenter("three"));
  await world.untilReady("datacenter/one", "datacenter/two", "datacenter/three");
  const lists = async () => (await calls())["GET /cloudapi/v6/datacenters"] ?? 0;
  const before = await lists();
  await expect.poll(lists).toBeGreaterThan(before + 5);
  expect((await calls())[`POST ${labelRoute}`]).toBe(1);
  expect((await calls())["GET /cloudapi/v6/labels"]).toBe(1);
  expect(
    world.operator
      .log()
      .split("\n")
      .filter((line) => line.includes("cluster label")),
  ).toHaveLength(1);
  await world.untilReady("datacenter/one", "datacenter/two", "datacenter/three");
});
