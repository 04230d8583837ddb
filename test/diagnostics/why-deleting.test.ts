import { expect, it } from "vitest";
import type { Sources } from "../../src/diagnostics/sources.ts";
import { problems } from "../../src/diagnostics/why/problems.ts";
import { whyNotReady } from "../../src/diagnostics/why/why-not-ready.ts";
import type { KubeObject } from "../../src/kube/resource.ts";
import { clusterOf } from "../tools/landscape.ts";

const leaving = (kind: string, name: string, spec: object, reason: string, message: string): KubeObject => ({
  apiVersion: "mooring.dev/v1alpha1",
  kind,
  metadata: { name, namespace: "shop", uid: name, deletionTimestamp: "2026-03-01T11:00:00Z" },
  spec,
  status: { account: "shop/main", conditions: [{ type: "Ready", status: "False", reason, message }] },
});
const sourcesOf = (objects: KubeObject[]): Sources => ({
  platform: () => Promise.reject(new Error("no platform")),
  cluster: async () => clusterOf(objects),
  now: () => Date.parse("2026-03-01T12:00:00Z"),
  signal: new AbortController().signal,
  progress: () => {},
});

const waiting = (...keys: string[]) => `waiting for the deletion of ${keys.join(", ")}`;
const lan = leaving(
  "Lan",
  "inner",
  { datacenterRef: { name: "old" } },
  "Rejected",
  "Cannot delete lan which contains nics",
);
const stream = leaving("KafkaCluster", "stream", {}, "NotEmpty", "KafkaCluster still holds KafkaTopic orders");
const datacenter = leaving(
  "Datacenter",
  "old",
  {},
  "Deleting",
  waiting("Lan/shop/inner (Rejected)", "Server/shop/gone"),
);
const account = leaving("Account", "main", {}, "Deleting", waiting("Datacenter/shop/old", "KafkaCluster/shop/stream"));

const causesIn = async (...objects: KubeObject[]) => {
  const found = (await problems(sourcesOf(objects), {})).problems;
  return Object.fromEntries(found.map(({ cause, affected }) => [cause, affected.map(({ object }) => object)]));
};

it("an object that waits for the deletion of another one is no root cause", async () => {
  expect(await causesIn(account, datacenter, lan, stream)).toEqual({
    "Lan/shop/inner": expect.arrayContaining(["Account/shop/main", "Datacenter/shop/old", "Lan/shop/inner"]),
    "KafkaCluster/shop/stream": ["KafkaCluster/shop/stream"],
  });
  const sources = sourcesOf([account, datacenter, lan, stream]);
  const found = await whyNotReady(sources, { kind: "account", name: "main", namespace: "shop" });
  expect(found).toMatchObject({ cause: { object: "Lan/shop/inner", reason: "Rejected" } });
  expect(found.waits_for.map(({ object }) => object)).toEqual(["Datacenter/shop/old", "KafkaCluster/shop/stream"]);
});

it("also where the message does not name the one that stays", async () => {
  const block = leaving("IPBlock", "ips", {}, "Deleting", "the platform deletes it");
  const many = leaving("Account", "main", {}, "Deleting", `${waiting("IPBlock/shop/ips")} and 2 more`);
  expect(Object.keys(await causesIn(many, block, stream))).toEqual(["KafkaCluster/shop/stream", "IPBlock/shop/ips"]);
  const sources = sourcesOf([many, block, stream]);
  const found = await whyNotReady(sources, { kind: "account", name: "main", namespace: "shop" });
  expect(found).toMatchObject({ cause: { object: "KafkaCluster/shop/stream", reason: "NotEmpty" } });
});

it("is what is paused, also if that is still Ready", async () => {
  const paused = leaving("Lan", "inner", { datacenterRef: { name: "old" } }, "Available", "");
  paused.metadata.annotations = { "mooring.dev/paused": "true" };
  paused.status = { conditions: [{ type: "Ready", status: "True", reason: "Available", message: "there" }] };
  const [problem] = (await problems(sourcesOf([datacenter, paused]), {})).problems;
  expect(problem).toMatchObject({ cause: "Lan/shop/inner", reason: "Paused", who: "you" });
  expect(problem?.message).toBe("paused: mooring resume Lan/shop/inner, or remove the annotation mooring.dev/paused");
});

it("waits for the operator where what it waits for is gone or of another namespace", async () => {
  const last = leaving("Datacenter", "old", {}, "Deleting", waiting("an object of another namespace", "Lan/shop/gone"));
  const [problem] = (await problems(sourcesOf([last]), {})).problems;
  expect(problem).toMatchObject({ cause: "Datacenter/shop/old", who: "operator" });
});
