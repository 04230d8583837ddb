import { readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { z } from "zod";
import { startCluster } from "../../../../src/cli/control-plane/start.ts";
import { temporaryFolder } from "../../../../src/simulator/programs/swept.ts";
import { atEnd } from "../../../ending.ts";
import { type Result, run } from "../../../processes.ts";
import { program } from "../../../run/program.ts";
import { cluster } from "../../harness.ts";
import { type Landscape, landscape } from "../../landscape.ts";

const folder = temporaryFolder("import-crossplane");
afterAll(() => folder.remove());
const path = (name: string) => join(folder.path, name);
let world: Landscape;
/** Crossplane has an API server of its own: kubectl would not know whose `lans` or `volumes` another test means. */
let crossplane: { kubeconfig: string; assets: string };

/** A kind of the platform's Crossplane provider, cluster-scoped as in version 1 or namespaced as in version 2. */
const definition = (kind: string, scope: "Cluster" | "Namespaced") => {
  const group = scope === "Cluster" ? "compute.ionoscloud.crossplane.io" : "compute.ionoscloud.m.crossplane.io";
  const plural = `${kind.toLowerCase()}s`;
  const open = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  const policy =
    scope === "Cluster"
      ? { deletionPolicy: { type: "string", enum: ["Orphan", "Delete"], default: "Delete" } }
      : { managementPolicies: { type: "array", items: { type: "string" }, default: ["*"] } };
  const spec = { type: "object", required: ["forProvider"], properties: { forProvider: open, ...policy } };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope,
      names: { kind, plural, singular: kind.toLowerCase(), categories: ["crossplane", "managed", "ionoscloud"] },
      versions: [
        {
          name: "v1alpha1",
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: "object", properties: { spec, status: open } } },
        },
      ],
    },
  };
};
const definitions = [
  definition("Datacenter", "Cluster"),
  definition("Lan", "Cluster"),
  definition("Volume", "Namespaced"),
];

const managed = (kind: string, name: string, id: string, forProvider: object, namespace?: string) => ({
  apiVersion: `compute.ionoscloud.${namespace === undefined ? "" : "m."}crossplane.io/v1alpha1`,
  kind,
  metadata: {
    name,
    ...(namespace !== undefined && { namespace }),
    annotations: { "crossplane.io/external-name": id },
  },
  spec: { forProvider },
});

const shell = (line: string): Promise<Result> => {
  const { HOME, PATH } = process.env;
  const { assets, kubeconfig } = crossplane;
  const env = { HOME, PATH: [assets, PATH].join(delimiter), KUBECONFIG: kubeconfig };
  return run("sh", ["-c", line], { env });
};
const mooring = (...args: string[]) => {
  const { HOME, PATH } = process.env;
  return run(program(), [...args, "--kubeconfig", cluster().kubeconfig, "-n", world.namespace], {
    env: { HOME, PATH },
  });
};
const policies = z.object({
  items: z.array(
    z.looseObject({
      spec: z.looseObject({
        deletionPolicy: z.string().optional(),
        managementPolicies: z.array(z.string()).optional(),
      }),
    }),
  ),
});

beforeAll(async () => {
  const control = await startCluster();
  atEnd(control.stop);
  crossplane = control;
  world = await landscape({ simulator: ["--seed", "37", "--speed", "60"], operator: ["--resync", "1h"] });
  await world.untilReady("account/main");
});

/** Resources on the platform, all but one with an object of Crossplane. Returns the number of the LAN. */
async function makeResources(): Promise<string> {
  const created = z.looseObject({ id: z.string() });
  const post = async (where: string, properties: object) => {
    const { id } = created.parse(await world.platform.call("POST", `/cloudapi/v6${where}`, { properties }));
    await expect
      .poll(async () => JSON.stringify(await world.platform.call("GET", `/cloudapi/v6${where}/${id}`)))
      .toContain('"AVAILABLE"');
    return id;
  };
  const datacenter = await post("/datacenters", { name: "made-by-crossplane", location: "de/txl" });
  const inside = `/datacenters/${datacenter}`;
  const lan = await post(`${inside}/lans`, { name: "lan", public: false });
  const volume = await post(`${inside}/volumes`, { name: "disk", size: 10, type: "HDD", licenceType: "LINUX" });
  await post("/datacenters", { name: "made-by-hand", location: "de/txl" });

  writeFileSync(path("crds.json"), JSON.stringify({ apiVersion: "v1", kind: "List", items: definitions }));
  const wait = "kubectl wait --for=condition=Established -f crds.json";
  const known = await shell(
    `cd ${folder.path} && kubectl create namespace ${world.namespace} && kubectl apply -f crds.json && ${wait}`,
  );
  expect(known).toMatchObject({ code: 0 });
  const inDatacenter = { datacenterConfig: { datacenterId: datacenter } };
  const objects = [
    managed("Datacenter", "shop", datacenter, { name: "made-by-crossplane", location: "de/txl" }),
    managed("Lan", "front", lan, { name: "lan", ...inDatacenter }),
    managed("Volume", "data", volume, { name: "disk", ...inDatacenter }, world.namespace),
  ];
  writeFileSync(path("managed.json"), JSON.stringify({ apiVersion: "v1", kind: "List", items: objects }));
  const made = await shell(`kubectl apply -f ${path("managed.json")}`);
  expect(made).toMatchObject({ code: 0 });
  return lan;
}

it("live resources of Crossplane are imported under their names, and released by the printed commands", async () => {
  const lan = await makeResources();
  const live = await shell(`kubectl get managed -A -o yaml > ${path("live.yaml")}`);
  expect(live).toMatchObject({ code: 0 });
  expect(readFileSync(path("live.yaml"), "utf8")).toContain("deletionPolicy: Delete");
  await world.platform.resetCalls();
  const imported = await mooring("import", "--from-crossplane", path("live.yaml"), "-o", path("landscape"));
  expect(imported, imported.stderr).toMatchObject({ code: 0 });
  const names = ["datacenter/shop", "lan/front", "volume/data"];
  expect((await world.kubectl("apply", "-f", path("landscape"))).stdout.trim().split("\n").sort()).toEqual(
    names.map((name) => name.replace("/", ".mooring.dev/")).map((name) => `${name} created`),
  );
  await world.untilReady(...names);
  expect(await world.value("lan/front", "{.spec.datacenterRef.name}/{.status.id}")).toBe(`shop/${lan}`);

  const commands = imported.stderr.split("\n").flatMap((line) => /^ {2}(kubectl patch .*)$/.exec(line)?.[1] ?? []);
  expect(commands).toHaveLength(3);
  for (const line of commands) expect(await shell(line)).toMatchObject({ code: 0 });
  const { items } = policies.parse(JSON.parse((await shell("kubectl get managed -A -o json")).stdout));
  expect(items.map(({ spec }) => spec.deletionPolicy ?? spec.managementPolicies)).toEqual([
    "Orphan",
    "Orphan",
    ["Observe"],
  ]);
  const { byRoute } = await world.platform.calls();
  expect(Object.keys(byRoute).filter((route) => !/^(GET|HEAD) /.test(route))).toEqual([]);
  expect((await mooring("plan", "-f", path("landscape"))).code).toBe(0);
});
