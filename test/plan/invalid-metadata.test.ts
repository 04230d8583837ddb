import { expect, test } from "vitest";
import { schemaOf } from "../../src/cli/manifests/schemas.ts";
import { readCluster } from "../../src/diagnostics/cluster.ts";
import { KubeError } from "../../src/kube/client/errors.ts";
import type { KubeCall, KubeClient } from "../../src/kube/client/transport.ts";
import { manifestsIn } from "../../src/plan/inputs/manifests.ts";
import { makePlan } from "../../src/plan/make.ts";

const reason = (status: number) => (status === 403 ? "Forbidden" : "NotFound");

/** An API server without objects; `status` is its answer to lists and reads. Dry runs succeed. */
const serverWith = (status: number): Pick<KubeClient, "request" | "namespace"> => ({
  namespace: "shop",
  async request<Answer>({ method, body }: KubeCall): Promise<Answer> {
    if (method === "GET") throw new KubeError({ status, reason: reason(status), message: "no" });
    return body as Answer;
  },
});

async function planned(text: string, status: number, destroy = false) {
  const client = serverWith(status);
  const { signal } = new AbortController();
  const { items } = await makePlan({
    manifests: manifestsIn([{ from: "shop.yaml", text }], "shop"),
    cluster: { reader: readCluster(client), client: client as KubeClient },
    platform: () => Promise.reject(new Error("no token")),
    schemaOf,
    destroy,
    sources: { signal, progress: () => {}, missing: () => {} },
  });
  return items;
}

const document = (metadata: string, spec = "{size: 1, location: de/txl}") =>
  `{apiVersion: mooring.dev/v1alpha1, kind: IPBlock, metadata: ${metadata}, spec: ${spec}}`;
const good = document("{name: good}");

test.each([
  ["an invalid name", "{name: Bad_Name}", "Bad_Name", '"Bad_Name" is not a valid name'],
  ["a name that leads to another path", "{name: ../secrets}", "../secrets", "is not a valid name"],
  ["a name that is a number", "{name: 5}", "(document 1 of shop.yaml)", "metadata.name: "],
  ["no name", "{}", "(document 1 of shop.yaml)", "metadata.name: "],
  ["an invalid namespace", "{name: a, namespace: Bad_Space}", "a", '"Bad_Space" is not a valid namespace'],
  ["a label that is a number", "{name: a, labels: {tier: 1}}", "a", "metadata.labels.tier: "],
])("one manifest with %s does not end the plan of the others", async (_, metadata, name, message) => {
  for (const status of [404, 403]) {
    const items = await planned(`${document(metadata)}\n---\n${good}\n`, status);
    expect(items.map((each) => [each.name, each.action === "invalid"])).toEqual([
      [name, true],
      ["good", false],
    ]);
    expect(items[0]?.message).toContain(message);
  }
});

test("a reference to an invalid name or namespace does not end the plan of the others", async () => {
  const spec = "{size: 1, location: de/txl, accountRef: {name: ../x, namespace: Bad_Space}}";
  const lan = `{apiVersion: mooring.dev/v1alpha1, kind: Lan, metadata: {name: lan}, spec: {datacenterRef: {name: ../x, namespace: Bad_Space}}}`;
  for (const status of [404, 403]) {
    const items = await planned([document("{name: bad}", spec), lan, good].join("\n---\n"), status);
    expect(items.map(({ name }) => name)).toEqual(["bad", "lan", "good"]);
  }
});

test("a deletion names the manifest that has no valid name", async () => {
  const items = await planned(`${document("{name: Bad_Name}")}\n---\n${good}\n`, 404, true);
  expect(items).toMatchObject([{ name: "Bad_Name", action: "invalid" }]);
});
