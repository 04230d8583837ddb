import { expect, it } from "vitest";
import { runWith } from "./scripted-cluster.ts";

it.each([
  ["AccessToken", "accesstokens", "token"],
  ["InferenceAccess", "inferenceaccesses", "token"],
  ["KafkaUser", "kafkausers", "certificate"],
  ["MetricPipeline", "metricpipelines", "key"],
])("rotating a %s says what it gets", async (kind, plural, what) => {
  const object = { apiVersion: "mooring.dev/v1alpha1", kind, metadata: { name: "ci", namespace: "shop" }, spec: {} };
  const { code, stdout } = await runWith({ [plural]: [object] }, `rotate ${kind}/ci`);
  expect({ code, stdout }).toEqual({ code: 0, stdout: `${kind}/shop/ci will get a new ${what}\n` });
});

it("an object that only observes gets none", async () => {
  const spec = { managementPolicy: "Observe", externalId: "id" };
  const object = {
    apiVersion: "mooring.dev/v1alpha1",
    kind: "MetricPipeline",
    metadata: { name: "ci", namespace: "shop" },
    spec,
  };
  const { code, stderr } = await runWith({ metricpipelines: [object] }, "rotate MetricPipeline/ci");
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining("is only observed") });
});
