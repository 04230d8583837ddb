import { expect, test } from "vitest";
import { dryRun, offline } from "../../src/plan/inputs/dry-run.ts";
import { manifestsIn } from "../../src/plan/inputs/manifests.ts";

const text = `
apiVersion: mooring.dev/v1alpha1
kind: Datacenter
metadata: {name: Bad_Name}
spec: {location: de/txl}
`;

test("a plan refuses an object with an invalid name, and asks the API server nothing about it", async () => {
  const [manifest] = manifestsIn([{ from: "bad.yaml", text }], "shop").objects;
  if (!manifest) throw new Error("there is no manifest");
  const asked = { manifest, live: undefined, schema: {}, signal: new AbortController().signal };
  const client = { request: () => Promise.reject(new Error("the API server was asked")) };
  const refused = expect.stringContaining('"Bad_Name" is not a valid name in Kubernetes');
  expect(offline(asked)).toMatchObject({ refused });
  expect(await dryRun(client, asked)).toMatchObject({ refused });
});
