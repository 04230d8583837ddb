import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { parseAllDocuments } from "yaml";
import { z } from "zod";
import { connect } from "../../../src/kube/client/config.ts";
import { cluster, namespace } from "../../cluster/harness.ts";
import { type Landscape, landscape } from "../../cluster/landscape.ts";
import { metricPipeline } from "../../cluster/objects.ts";
import { run } from "../../processes.ts";
import { program } from "../../run/program.ts";

const bindings = z.object({
  items: z.array(z.looseObject({ subjects: z.array(z.looseObject({ namespace: z.string().optional() })).optional() })),
});
const review = z.looseObject({ status: z.looseObject({ allowed: z.boolean() }) });
const manifest = z.looseObject({ kind: z.string(), metadata: z.looseObject({ namespace: z.string().optional() }) });

describe("an operator with Roles in one namespace", () => {
  let world: Landscape;
  let own: string;
  beforeAll(async () => {
    world = await landscape({ rolesOnly: true, elected: true });
    const { stdout } = await world.kubectl("get", "rolebinding", "mooring", "-o", "jsonpath={.subjects[0].namespace}");
    own = stdout;
  });

  it("makes, publishes, keeps credentials and cleans up there", async () => {
    await world.untilReady("account/main");
    const pipeline = metricPipeline("web");
    await world.apply(pipeline);
    await world.untilReady("metricpipeline/web");
    expect(await world.value("secret/web-metricpipeline", "{.data.key}")).not.toBe("");
    expect(await world.value("secret/token", "{.metadata.labels}{.metadata.finalizers}")).toBe(
      '{"mooring.dev/credentials":"true"}["mooring.dev/finalizer"]',
    );
    await world.remove(pipeline);
    expect(await world.platform.made()).toEqual({});
  });

  it("has no right that is cluster-wide, and none in another namespace", async () => {
    const { kubectl, kubeconfig } = cluster();
    const { stdout } = await kubectl(["get", "clusterrolebindings", "-o", "json"]);
    const { items } = bindings.parse(JSON.parse(stdout));
    expect(items.filter(({ subjects = [] }) => subjects.some((each) => each.namespace === own))).toEqual([]);
    const elsewhere = await namespace("elsewhere");
    const admin = await connect({ kubeconfig });
    onTestFinished(() => admin.close());
    /** In all namespaces if none is given. */
    const can = async (verb: string, called: string, namespace?: string) => {
      const [resource, group = ""] = called.split(/\.(.*)/s);
      const resourceAttributes = { verb, resource, group, namespace };
      const groups = ["system:authenticated", "system:serviceaccounts", `system:serviceaccounts:${own}`];
      const spec = { user: `system:serviceaccount:${own}:mooring`, groups, resourceAttributes };
      const path = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
      return review.parse(await admin.request({ method: "POST", path, body: { spec } })).status.allowed;
    };
    expect(await can("list", "secrets", world.namespace)).toBe(true);
    for (const resource of ["secrets", "configmaps", "servers.mooring.dev", "leases.coordination.k8s.io"]) {
      for (const verb of ["get", "list", "create", "patch"]) {
        expect([verb, resource, await can(verb, resource, elsewhere)]).toEqual([verb, resource, false]);
        expect([verb, resource, await can(verb, resource)]).toEqual([verb, resource, false]);
      }
    }
  });

  it("asks for nothing else but whether its namespace is being deleted, and does without that", async () => {
    const refused = world.operator
      .log()
      .split("\n")
      .filter((line) => line.includes("forbidden"));
    expect(refused.filter((line) => !line.includes('"kind":"Namespace"'))).toEqual([]);
  });
});

it("mooring rights prints Roles and nothing cluster-wide for the namespaces that it is given", async () => {
  const { code, stdout } = await run(program(), ["rights", "--namespace", "op", ...["a", "b"].flatMap(watching)]);
  expect(code).toBe(0);
  const printed = parseAllDocuments(stdout).map((document) => manifest.parse(document.toJS()));
  expect(printed.map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? ""}`.trim())).toEqual([
    "Namespace",
    "ServiceAccount op",
    ...["a", "b", "op"].flatMap((where) => [`Role ${where}`, `RoleBinding ${where}`]),
  ]);
});

it("mooring rights prints with --metrics-auth what asks who may read the metrics, and nothing else cluster-wide", async () => {
  const { stdout } = await run(program(), ["rights", "--namespace", "op", ...watching("a"), "--metrics-auth"]);
  const printed = parseAllDocuments(stdout).map((document) => manifest.parse(document.toJS()));
  const clusterWide = printed.filter(({ kind }) => kind.startsWith("Cluster"));
  expect(clusterWide.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual([
    "ClusterRole mooring-op-metrics-auth",
    "ClusterRoleBinding mooring-op-metrics-auth",
    "ClusterRole mooring-op-metrics-reader",
  ]);
});

const watching = (name: string): string[] => ["--watch-namespace", name];
