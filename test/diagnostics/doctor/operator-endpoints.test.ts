import { expect, it } from "vitest";
import type { DoctorInput } from "../../../src/diagnostics/doctor/check.ts";
import { operatorChecks } from "../../../src/diagnostics/doctor/cluster-checks.ts";
import { clusterOf } from "../../tools/landscape.ts";

interface Pod {
  args?: string[];
  env?: object[];
  replicas?: number;
}

/** The doctor's lines about endpoints, for Deployments of the operator whose container has these flags. */
async function linesFor(...pods: Pod[]) {
  const deployments = pods.map(({ args, env, replicas = 2 }, index) => ({
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: `mooring-${index}`, namespace: "mooring-system" },
    spec: { replicas, template: { spec: { containers: [{ name: "operator", args, env }] } } },
  }));
  const cluster = clusterOf(deployments);
  const sources = { now: () => 0, signal: new AbortController().signal, progress: () => {} };
  const input = { cluster, sources, namespace: "shop", version: undefined } as unknown as DoctorInput;
  return (await operatorChecks(input)).filter(({ check }) => check === "endpoints");
}

const api = "--endpoint=api=https://api.example.com";
const others = Object.fromEntries(
  ["monitoring", "logging", "streaming", "inference", "objectStorage"].map((name) => [
    name,
    "https://other.example.com",
  ]),
);

it("names the endpoints that nobody has set once, with the kinds that need them", async () => {
  expect(await linesFor({ args: ["operator", api, "--endpoint", "logging=https://logging.example.com"] })).toEqual([
    {
      area: "operator",
      check: "endpoints",
      status: "warn",
      message:
        "mooring-system/mooring-0: no endpoint is set for monitoring (MetricPipeline), streaming (KafkaCluster, KafkaTopic, KafkaUser), inference (InferenceAccess), objectStorage (ActivityLogExport)",
      fix: "objects of these kinds need it in spec.endpoints of their Account; set it with --endpoint NAME=URL, or all with --platform",
    },
  ]);
});

it("says the same about all shards in one line", async () => {
  expect(await linesFor({ args: ["operator", api] }, { args: ["operator", api, "--shard=a"] })).toHaveLength(1);
});

it.each([
  ["--platform=ionos", { args: ["operator", "--platform=ionos", api] }],
  ["--platform ionos", { args: ["operator", "--platform", "ionos"] }],
  [
    "MOORING_ENDPOINTS",
    { args: ["operator", api], env: [{ name: "MOORING_ENDPOINTS", value: JSON.stringify(others) }] },
  ],
])("is content with %s", async (_, pod) => {
  expect(await linesFor(pod)).toMatchObject([{ status: "ok", message: "every kind has an endpoint" }]);
});

it.each([
  ["the variable is in a ConfigMap", { args: ["operator"], env: [{ name: "MOORING_ENDPOINTS", valueFrom: {} }] }],
  ["no pod runs", { args: ["operator", api], replicas: 0 }],
  ["the container has no flags", {}],
])("guesses nothing where %s", async (_, pod) => {
  expect(await linesFor(pod)).toEqual([]);
});
