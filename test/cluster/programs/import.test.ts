import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { z } from "zod";
import { temporaryFolder } from "../../../src/simulator/programs/swept.ts";
import { type Result, run } from "../../processes.ts";
import { program } from "../../run/program.ts";
import { image } from "../../subjects/surroundings.ts";
import { fillGround, type Ground } from "../ground.ts";
import { cluster } from "../harness.ts";
import { subjects } from "../kinds-under-test.ts";
import { type Landscape, landscape } from "../landscape.ts";

let world: Landscape;
const folder = temporaryFolder("import");
afterAll(() => folder.remove());

const document = z.object({
  changes: z.boolean(),
  items: z.array(
    z.looseObject({
      kind: z.string(),
      name: z.string(),
      action: z.string(),
      writes: z.boolean(),
      fields: z.array(z.looseObject({ field: z.string(), from: z.string(), to: z.string() })),
    }),
  ),
  cost: z.looseObject({ before: z.number(), after: z.number(), currency: z.string() }),
});

/** Runs a command with the administrator's rights. */
function mooring(...args: string[]): Promise<Result> {
  const { PATH, HOME } = process.env;
  const where = ["--kubeconfig", cluster().kubeconfig, "-n", world.namespace];
  return run(program(), [...args, ...where], { env: { PATH, HOME } });
}

async function planned(path: string, ...more: string[]) {
  const { code, stdout, stderr } = await mooring("plan", "-f", path, "-o", "json", ...more);
  expect(stdout, stderr).toMatch(/^\{/);
  return { code, stderr, ...document.parse(JSON.parse(stdout)) };
}

const created = z.looseObject({ id: z.string() });
const state = z.record(z.string(), z.unknown());

/** A landscape without Mooring: one resource of every kind that can be imported, and a Cube. */
async function makeLandscape(): Promise<void> {
  const { platform } = world;
  const post = async (path: string, body: object) => created.parse(await platform.call("POST", path, body)).id;
  const isBusy = async () => {
    const { requests: _, ...made } = state.parse(await platform.call("GET", "/_simulator/state"));
    return /"(BUSY|PROVISIONING|DEPLOYING|CREATING)"/.test(JSON.stringify(made));
  };
  const settled = async () => {
    while (await isBusy()) await delay(200);
  };
  const core = "/cloudapi/v6";
  const datacenter = await post(`${core}/datacenters`, { properties: { name: "Old Shop", location: "de/txl" } });
  await settled();
  const inside = `${core}/datacenters/${datacenter}`;
  const lan = await post(`${inside}/lans`, { properties: { name: "brokers", public: false } });
  await settled();
  const boot = { name: "host-boot", size: 10, type: "SSD Standard", ...image };
  const server = await post(`${inside}/servers`, {
    properties: { name: "host", cores: 1, ram: 1024 },
    entities: {
      volumes: { items: [{ properties: boot }] },
      nics: { items: [{ properties: { name: "found", lan: 1 } }] },
    },
  });
  const volume = await post(`${inside}/volumes`, {
    properties: { name: "source", size: 10, type: "HDD", licenceType: "LINUX" },
  });
  await settled();
  await platform.call("POST", `${inside}/servers/${server}/volumes`, { id: volume });
  await settled();
  const [nic] = await platform.resources("nics");
  const make = async (kind: string, name: string, within: Ground) =>
    (await subjects
      .find((each) => each.kind.kind === kind)
      ?.hands(world, within, name)
      .createByHand()) ?? "";
  const ground = await fillGround({ datacenter, volume, server, lan, nics: { found: nic?.id ?? "" } }, make);
  await settled();
  for (const kind of ["IPBlock", "Server", "Snapshot", "ScalingGroup", "MetricPipeline", "LogPipeline", "KafkaTopic"]) {
    await make(kind, `by-hand`, ground);
  }
  await make("FlowLog", "found", ground);
  await settled();
  const [block] = await platform.resources("ipblocks");
  const { ips } = z.object({ ips: z.array(z.string()) }).parse(block?.properties);
  const gateway = await post(`${inside}/natgateways`, { properties: { name: "nat", publicIps: ips.slice(-1) } });
  await settled();
  const capture = { name: "of-nat", action: "REJECTED", direction: "INGRESS", bucket: "flow-logs" };
  await post(`${inside}/natgateways/${gateway}/flowlogs`, { properties: capture });
  const { items } = z
    .object({ items: z.array(z.looseObject({ id: z.string() })) })
    .parse(await platform.call("GET", `${core}/templates?depth=1`));
  await post(`${inside}/servers`, {
    properties: { name: "cube", type: "CUBE", templateUuid: items[0]?.id },
    entities: { volumes: { items: [{ properties: { name: "cube-boot", type: "DAS", ...image } }] } },
  });
  await settled();
}

/** Writes to the platform since the counters were reset. */
const writes = async () =>
  Object.keys((await world.platform.calls()).byRoute).filter((route) => /^(POST|PUT|PATCH|DELETE) /.test(route));

beforeAll(async () => {
  world = await landscape({ simulator: ["--seed", "36", "--speed", "60"], operator: ["--resync", "1h"] });
  await world.untilReady("account/main");
  await makeLandscape();
});

const files = (name: string) => readdirSync(join(folder.path, name)).sort();

describe("an existing landscape", () => {
  let names: string[];

  it("is imported as one file per object, with references and without a secret", async () => {
    await world.platform.resetCalls();
    const { code, stderr } = await mooring("import", "-o", join(folder.path, "observed"));
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(stderr).not.toContain(world.platform.token);
    expect(await writes()).toEqual([]);
    names = files("observed").map((file) => file.replace(".yaml", "").replace("-", "/"));
    expect(names).toEqual([
      "datacenter/old-shop",
      "flowlog/found",
      "flowlog/of-nat",
      "ipblock/by-hand",
      "kafkacluster/stream",
      "kafkatopic/by-hand",
      "lan/brokers",
      "logpipeline/by-hand",
      "metricpipeline/by-hand",
      "scalinggroup/by-hand",
      "server/by-hand",
      "server/cube",
      "server/host",
      "snapshot/by-hand",
      "volume/host-boot",
      "volume/os",
      "volume/source",
    ]);
    const host = readFileSync(join(folder.path, "observed/server-host.yaml"), "utf8");
    for (const words of ["managementPolicy: Observe", "lanRef:", "bootVolumeRef:", "datacenterRef:"])
      expect(host).toContain(words);
  });

  it("is Ready when applied, without a write to the platform, and its plan is empty", async () => {
    const path = join(folder.path, "observed");
    const before = await planned(path);
    expect(before.items.map(({ action, writes: isWritten }) => [action, isWritten])).toEqual(
      before.items.map(() => ["adopt", false]),
    );
    expect((await world.kubectl("apply", "-f", path)).stderr).toBe("");
    await world.untilReady(...names);
    expect(await writes()).toEqual([]);
    expect(await planned(path)).toMatchObject({ code: 0, changes: false });
  });

  it("is managed with --manage once the observers are gone, and one edit is one change", async () => {
    const { code: deleted } = await world.kubectl("delete", "-f", join(folder.path, "observed"), "--timeout=120s");
    expect(deleted).toBe(0);
    const path = join(folder.path, "managed");
    const { code, stderr } = await mooring("import", "--manage", "-o", path);
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(stderr).not.toContain("only observed");
    expect((await world.kubectl("apply", "-f", path)).stderr).toBe("");
    await world.untilReady(...names);
    expect(await writes()).toEqual([]);
    expect(await planned(path)).toMatchObject({ code: 0, changes: false });

    const file = join(path, "server-host.yaml");
    writeFileSync(file, readFileSync(file, "utf8").replace("cores: 1", "cores: 2"));
    const plan = await planned(path);
    expect(plan).toMatchObject({ code: 2, changes: true });
    expect(plan.items.filter(({ action }) => action !== "none")).toMatchObject([
      {
        kind: "Server",
        name: "host",
        action: "change",
        writes: true,
        fields: [{ field: "cores", from: "1", to: "2" }],
      },
    ]);
    expect(plan.cost.after).toBeGreaterThan(plan.cost.before);
    expect(await writes()).toEqual([]);
    await world.kubectl("apply", "-f", file);
    await expect.poll(() => world.value("server/host", "{.status.cores}")).toBe("2");
    expect(await writes()).toEqual([expect.stringMatching(/^PATCH .*servers/)]);
    expect(await planned(path)).toMatchObject({ code: 0 });
  });

  it("of any kind: one edit is one change in the plan, and one write of the operator", async () => {
    const edits = subjects.flatMap(({ kind: { kind }, change }) => {
      const file = names.find((name) => name.startsWith(`${kind.toLowerCase()}/`) && name !== "volume/host-boot");
      return change && file !== undefined ? [{ kind, file, spec: change("edited").spec }] : [];
    });
    expect(edits.map(({ kind }) => kind).sort()).toEqual([
      "Datacenter",
      "IPBlock",
      "Lan",
      "LogPipeline",
      "MetricPipeline",
      "ScalingGroup",
      "Server",
      "Snapshot",
      "Volume",
    ]);
    const edited = join(folder.path, "edited");
    mkdirSync(edited);
    for (const { file, spec } of edits) {
      const name = `${file.replace("/", "-")}.yaml`;
      const object = parse(readFileSync(join(folder.path, "managed", name), "utf8"));
      writeFileSync(join(edited, name), stringify({ ...object, spec: { ...object.spec, ...spec } }));
    }
    const { items } = await planned(edited);
    expect(items.map(({ kind, action, writes: isWritten }) => [kind, action, isWritten]).sort()).toEqual(
      edits.map(({ kind }) => [kind, "change", true]).sort(),
    );
    await world.platform.resetCalls();
    expect((await world.kubectl("apply", "-f", edited)).stderr).toBe("");
    await world.untilReady(...edits.map(({ file }) => file));
    await expect.poll(async () => (await planned(edited)).code).toBe(0);
    const { byRoute } = await world.platform.calls();
    const written = Object.entries(byRoute).filter(([route]) => !/^(GET|HEAD) /.test(route));
    expect(written.map(([route, count]) => [route.split(" ")[0], count])).toEqual(
      edits.map(() => [expect.stringMatching(/^(PATCH|PUT)$/), 1]),
    );
  });
});

describe("a plan", () => {
  const write = (name: string, ...objects: object[]) => {
    const path = join(folder.path, name);
    writeFileSync(path, objects.map((each) => JSON.stringify(each)).join("\n---\n"));
    return path;
  };
  const datacenter = (name: string, spec: object) => ({
    apiVersion: "mooring.dev/v1alpha1",
    kind: "Datacenter",
    metadata: { name, labels: { part: "plan" } },
    spec,
  });

  it("refuses what the API server refuses, in its words, with exit code 1", async () => {
    const { code, items } = await planned(write("bad.yaml", datacenter("bad", { location: "Berlin" })));
    expect(code).toBe(1);
    expect(items).toMatchObject([{ action: "invalid", message: expect.stringContaining("must be a location") }]);
  });

  it("says what a forbidden replacement needs, and what --prune and --destroy delete", async () => {
    const path = write("fixed.yaml", datacenter("fixed", { location: "de/txl" }));
    await world.kubectl("apply", "-f", path);
    await world.untilReady("datacenter/fixed");
    const moved = write("moved.yaml", datacenter("fixed", { location: "de/fra" }));
    expect((await planned(moved)).items).toMatchObject([
      { action: "replace", replacement: { allowed: false, allowedBy: "replacePolicy: WhenNeeded" } },
    ]);
    const other = write("other.yaml", datacenter("new", { location: "de/txl" }));
    expect((await planned(other, "--prune", "-l", "part=plan")).items).toMatchObject([
      { name: "new", action: "create" },
      { name: "fixed", action: "delete", writes: true },
    ]);
    expect((await planned(path, "--destroy")).items).toMatchObject([{ action: "delete" }]);
  });
});
