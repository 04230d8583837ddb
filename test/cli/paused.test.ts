import { expect, it } from "vitest";
import type { KubeObject } from "../../src/kube/resource.ts";
import { runWith } from "./scripted-cluster.ts";

/** Ready before its last edit, and paused. */
const web: KubeObject = {
  apiVersion: "mooring.dev/v1alpha1",
  kind: "Server",
  metadata: { name: "web", namespace: "shop", generation: 2, annotations: { "mooring.dev/paused": "true" } },
  spec: { cores: 1, ram: 1024 },
  status: {
    observedGeneration: 1,
    conditions: [
      {
        type: "Ready",
        status: "True",
        reason: "Available",
        message: "Server is up to date",
        observedGeneration: 1,
        lastTransitionTime: "2026-03-01T10:00:00Z",
      },
    ],
  },
};

it("waiting for a paused object ends at once, and says how to resume it", async () => {
  const { code, stderr } = await runWith({ servers: [web] }, "wait server/web --timeout 1m");
  expect(code).toBe(3);
  expect(stderr).toBe(
    "Server/shop/web is paused: mooring resume Server/shop/web, or remove the annotation mooring.dev/paused\n",
  );
});

it("waiting for its deletion ends as well: a paused object is not deleted", async () => {
  const leaving = { ...web, metadata: { ...web.metadata, deletionTimestamp: "2026-03-01T11:00:00Z" } };
  const { code, stderr } = await runWith({ servers: [leaving] }, "wait server/web --for deleted --timeout 1m");
  expect({ code, stderr }).toMatchObject({ code: 3, stderr: expect.stringContaining("is paused: mooring resume") });
});

it("so does waiting for a paused object that is up to date: it does not follow its spec", async () => {
  const done = { ...web, metadata: { ...web.metadata, generation: 1 } };
  const { code, stderr } = await runWith({ servers: [done] }, "wait server/web --timeout 1m");
  expect({ code, stderr }).toMatchObject({ code: 3, stderr: expect.stringContaining("is paused: mooring resume") });
});
