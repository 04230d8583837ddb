import { expect, test } from "vitest";
import { customResourceDefinition } from "../../src/cli/manifests/crd.ts";
import { datacenter } from "../../src/kinds/compute/datacenter.ts";
import { KubeError } from "../../src/kube/client/errors.ts";
import { dryRun, offline } from "../../src/plan/inputs/dry-run.ts";
import { manifestsIn } from "../../src/plan/inputs/manifests.ts";
import { baseOf, refusal } from "../../src/plan/outcome.ts";
import { schemaIn } from "../../src/plan/schema/objects.ts";

const failure = (status: number, message: string) => new KubeError({ status, reason: "InternalError", message });

function asked(name: string, spec: string) {
  const text = `{apiVersion: mooring.dev/v1alpha1, kind: Datacenter, metadata: {name: ${name}}, spec: ${spec}}`;
  const [manifest] = manifestsIn([{ from: "bad.yaml", text }], "shop").objects;
  if (!manifest) throw new Error("there is no manifest");
  return { manifest, live: undefined, schema: {}, signal: new AbortController().signal };
}

test("a plan refuses an object with an invalid name, and asks the API server nothing about it", async () => {
  const invalid = asked("Bad_Name", "{location: de/txl}");
  const client = { request: () => Promise.reject(new Error("the API server was asked")) };
  const refused = expect.stringContaining('"Bad_Name" is not a valid name in Kubernetes');
  expect(offline(invalid)).toMatchObject({ refused });
  expect(await dryRun(client, invalid)).toMatchObject({ refused });
});

test("a plan refuses an object with a field that its kind does not have, although the API server calls it an error of its own", async () => {
  const message =
    "failed to create typed patch object (shop/a; mooring.dev/v1alpha1, Kind=Datacenter): .spec.zone: field not declared in schema";
  const client = { request: () => Promise.reject(failure(500, message)) };
  expect(await dryRun(client, asked("a", "{zone: 1}"))).toMatchObject({
    refused: ".spec.zone: field not declared in schema",
  });
});

test("a plan fails if the API server does", async () => {
  const client = { request: () => Promise.reject(failure(500, "etcd has no leader")) };
  await expect(dryRun(client, asked("a", "{}"))).rejects.toThrow("etcd has no leader");
});

test.each([
  ["of an immutable field is a replacement", "{location: de/fra}", "replace"],
  ["of an immutable field to an invalid value is invalid", "{location: 5}", "invalid"],
  ["of an immutable field beside an invalid one is invalid", "{location: de/fra, description: 5}", "invalid"],
])("a refused change %s", (_, spec, action) => {
  const given = asked("a", spec);
  const live = { ...given.manifest.object, spec: { location: "de/txl" }, status: { id: "some-id" } };
  const candidate = offline({ ...given, live, schema: schemaIn(customResourceDefinition(datacenter)) });
  expect(refusal(candidate, baseOf(candidate), candidate.refused ?? "")).toMatchObject({ action });
});
