import { describe, expect, it } from "vitest";
import { orphanReport } from "../../src/diagnostics/orphans.ts";
import type { Sources } from "../../src/diagnostics/sources.ts";
import type { KubeObject } from "../../src/kube/resource.ts";
import { Forbidden } from "../../src/platform/answers/errors.ts";
import { platform } from "../import/platform.ts";
import { clusterOf } from "../tools/landscape.ts";

const OWN = "11111111-1111-4111-8111-111111111111";
const OTHER = "22222222-2222-4222-8222-222222222222";
const SERVER = "33333333-3333-4333-8333-333333333333";
const BLOCK = "44444444-4444-4444-8444-444444444444";
const NOBODYS = "55555555-5555-4555-8555-555555555555";

const item = (id: string) => ({ id, properties: { name: id.slice(0, 1) }, metadata: {} });
const label = (resourceType: string, resourceId: string, value: string, key = "mooring-cluster") => ({
  id: `urn:label:${resourceType}:${resourceId}:${key}`,
  type: "label",
  properties: { key, value, resourceType, resourceId, resourceHref: "" },
});
const contract = {
  "/datacenters": [item(OWN), item(OTHER), item(NOBODYS)],
  [`/datacenters/${OTHER}/servers`]: [item(SERVER)],
  "/ipblocks": [item(BLOCK)],
};
const labels = [
  label("datacenter", OWN, "blue"),
  label("datacenter", OTHER, "green"),
  label("ipblock", BLOCK, "green"),
  label("datacenter", NOBODYS, "green", "owner"),
];

const object = (kind: string, name: string, spec: object, status: object = {}): KubeObject => ({
  apiVersion: "mooring.dev/v1alpha1",
  kind,
  metadata: { name, namespace: "shop" },
  spec,
  status,
});
const account = object("Account", "main", { credentialsSecretRef: { name: "token" } }, { clusterName: "blue" });

async function report(collections: Record<string, object[] | Error>, objects: KubeObject[] = [account]) {
  const reader = platform({ ...contract, ...collections });
  const sources: Sources = {
    platform: async () => reader,
    cluster: async () => clusterOf(objects),
    now: () => 0,
    signal: new AbortController().signal,
    progress: () => {},
  };
  const found = await orphanReport(sources);
  const ids = (all: readonly { id: string }[]) => all.map(({ id }) => id);
  const { without_object, of_other_clusters, in_use } = found;
  const lists = { alone: ids(without_object), others: ids(of_other_clusters), used: ids(in_use) };
  return { ...found, ...lists, asked: reader.asked };
}

describe("resources without an object", () => {
  it("that another cluster has labelled, or whose datacenter it has, are listed apart and not offered for deletion", async () => {
    const { alone, others, of_other_clusters, without_object, asked } = await report({ "/labels": labels });
    expect(alone).toEqual([OWN, NOBODYS]);
    expect(without_object[0]).toMatchObject({ id: OWN, cluster: "blue" });
    expect(others).toEqual([OTHER, BLOCK, SERVER]);
    for (const each of of_other_clusters) {
      expect(each).toMatchObject({ cluster: "green", take_over: expect.any(String) });
      expect(each).not.toHaveProperty("delete");
    }
    expect(asked.filter((url) => url.includes("/labels"))).toHaveLength(1);
  });

  it("of another cluster that objects need are in use", async () => {
    const lan = object("Lan", "uplink", { datacenterId: OTHER });
    const { others, used, in_use } = await report({ "/labels": labels }, [account, lan]);
    expect({ others, used }).toEqual({ others: [BLOCK, SERVER], used: [OTHER] });
    expect(in_use[0]).toMatchObject({ cluster: "green" });
  });

  it("are all told apart where no Account shows the name of the cluster, which the answer says", async () => {
    const { alone, others, own_cluster_known } = await report({ "/labels": labels }, []);
    expect(alone).toEqual([NOBODYS]);
    expect(others).toContain(OWN);
    expect(own_cluster_known).toBe(false);
    expect(await report({ "/labels": labels })).toMatchObject({ own_cluster_known: true });
  });

  it("are listed as before where the labels cannot be read, which the answer says", async () => {
    const refused = new Forbidden({ call: "GET /labels", status: 403, detail: "no" });
    const { alone, others, not_checked } = await report({ "/labels": refused });
    expect(alone).toHaveLength(5);
    expect(others).toEqual([]);
    expect(not_checked).toContainEqual({ kind: "labels of clusters", why: expect.stringContaining("403") });
  });
});
