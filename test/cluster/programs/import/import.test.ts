import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { z } from "zod";
import { temporaryFolder } from "../../../../src/simulator/programs/swept.ts";
import { type Result, run } from "../../../processes.ts";
import { program } from "../../../run/program.ts";
import { cluster } from "../../harness.ts";
import { subjects } from "../../kinds-under-test.ts";
import { type Landscape, landscape } from "../../landscape.ts";
import { existingLandscape } from "./existing-landscape.ts";
import { addressOf, stateEntries, stateOf } from "./terraform-state.ts";

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

const imported = z.looseObject({
  kind: z.string(),
  metadata: z.looseObject({ name: z.string() }),
  spec: z.looseObject({ externalId: z.string() }),
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

/** Writes to the platform since the counters were reset. */
const writes = async () =>
  Object.keys((await world.platform.calls()).byRoute).filter((route) => /^(POST|PUT|PATCH|DELETE) /.test(route));

beforeAll(async () => {
  world = await landscape({ simulator: ["--seed", "36", "--speed", "60"], operator: ["--resync", "1h"] });
  await world.untilReady("account/main");
  await existingLandscape(world);
});

const files = (name: string) => readdirSync(join(folder.path, name)).sort();

describe("an existing landscape", () => {
  let names: string[];

  it("is imported as one file per object, with references and without a secret", async () => {
    await world.platform.resetCalls();
    const { code, stderr } = await mooring("import", "-o", join(folder.path, "observed"));
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(stderr).not.toContain(world.platform.token);
    expect(stderr).toMatch(/^not in spec: Server host cdroms: \S+ stays in its drive/m);
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

  it("is imported whole from a state of Terraform, with its names, without a write; then all of the state is released", async () => {
    const entries = await stateEntries(world.platform);
    const state = join(folder.path, "terraform.tfstate");
    const cluster = { type: "k8s_cluster", name: "other", attributes: { id: "00000000-0000-4000-8000-000000000000" } };
    writeFileSync(state, stateOf([...entries, cluster]));
    const path = join(folder.path, "terraform");
    const { code, stderr } = await mooring("import", "--from-terraform", state, "-o", path);
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(stderr).not.toContain("hidden");
    expect(stderr).toContain("stays with the other tool: ionoscloud_k8s_cluster.other: it is not imported");
    const resources = (from: string) =>
      files(from).map((file) => {
        const { kind, metadata, spec } = imported.parse(parse(readFileSync(join(folder.path, from, file), "utf8")));
        return { name: `${kind.toLowerCase()}/${metadata.name}`, resource: `${kind} ${spec.externalId}` };
      });
    const found = resources("terraform");
    const sorted = (all: typeof found) => all.map(({ resource }) => resource).sort();
    expect(sorted(found)).toEqual(sorted(resources("observed")));
    const named = found.map(({ name }) => name);
    expect(named).toEqual(expect.arrayContaining(["datacenter/datacenter-1", "server/server-1"]));
    expect(named.filter((name) => /^volume\/server-\d-system$/.test(name))).not.toEqual([]);
    expect(named.filter((name) => /^flowlog\/(nic|natgateway)-1-/.test(name))).toHaveLength(2);
    const released = stderr.split("\n").flatMap((line) => /terraform state rm '(.*)'/.exec(line)?.[1] ?? []);
    expect(released.sort()).toEqual(entries.map(addressOf).sort());

    expect((await world.kubectl("apply", "-f", path)).stderr).toBe("");
    await world.untilReady(...named);
    expect(await writes()).toEqual([]);
    expect(await planned(path)).toMatchObject({ code: 0, changes: false });
    expect((await world.kubectl("delete", "-f", path, "--timeout=120s")).code).toBe(0);
    expect(await writes()).toEqual([]);
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

describe("an imported object of a kind that never changes", () => {
  const objectAt = (name: string) => parse(readFileSync(join(folder.path, "managed", name), "utf8"));
  const written = (name: string, spec: object) => {
    const path = join(folder.path, `replaced-${name}`);
    const object = objectAt(name);
    const metadata = { ...object.metadata, annotations: { "mooring.dev/allow-data-loss": "true" } };
    writeFileSync(path, stringify({ ...object, metadata, spec: { ...object.spec, ...spec } }));
    return path;
  };

  // A cluster with topics is not replaced, so the topic goes first.
  it.each([
    ["FlowLog", "flowlog-found.yaml", "flowlog/found"],
    ["KafkaTopic", "kafkatopic-by-hand.yaml", "kafkatopic/by-hand"],
    ["KafkaCluster", "kafkacluster-stream.yaml", "kafkacluster/stream"],
  ])(
    "such as %s is replaced by one edit, once that is allowed, with the writes of the plan",
    async (kind, file, name) => {
      if (kind === "KafkaCluster") await world.kubectl("delete", "kafkatopic/by-hand", "--timeout=120s");
      const { fixedChange } = subjects.find((each) => each.kind.kind === kind) ?? {};
      const edit = { ...fixedChange?.spec };
      expect(edit).not.toEqual({});
      const before = await world.value(name, "{.status.id}");
      await world.platform.resetCalls();
      const [refused, ...others] = (await planned(written(file, edit))).items;
      const allowedBy = expect.stringMatching(/^a complete spec without externalId, replacePolicy: WhenNeeded/);
      const refusal = { action: "replace", writes: false, replacement: { allowedBy } };
      expect({ refused, others }).toMatchObject({ refused: refusal, others: [] });

      const path = written(file, { ...edit, replacePolicy: "WhenNeeded", externalId: undefined });
      expect((await planned(path)).items).toMatchObject([{ kind, action: "replace", writes: true }]);
      expect(await writes()).toEqual([]);
      expect((await world.kubectl("apply", "-f", path)).stderr).toBe("");
      await expect.poll(() => world.value(name, "{.status.id}"), { timeout: 120_000 }).not.toBe(before);
      await world.untilReady(name);
      const { byRoute } = await world.platform.calls();
      const counts = Object.entries(byRoute).filter(([route]) => !/^(GET|HEAD) /.test(route));
      expect(counts.map(([route, count]) => [route.split(" ")[0], count]).sort()).toEqual([
        ["DELETE", 1],
        ["POST", 1],
      ]);
      await expect.poll(async () => (await planned(path)).code).toBe(0);
    },
  );
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
