import { describe, expect, test } from "vitest";
import { resolveReferences } from "../../../../src/engine/observe/spec/references.ts";
import { createObjects } from "../../../../src/engine/state/objects.ts";
import type { Reference, Shown } from "../../../../src/kinds/desired.ts";
import { kinds } from "../../../../src/kinds/index.ts";
import type { KubeObject } from "../../../../src/kube/resource.ts";
import { API, objectOf, readyCondition } from "../../support/fixtures.ts";
import { unsealed } from "../../support/unsigned.ts";
import { child, desired, waiting } from "./wanted.ts";

const byName = desired({
  references: [{ role: "datacenter", kind: "Datacenter", field: "datacenterRef", target: { name: "dc" } }],
});

const granted = objectOf("Grant", "all", {
  spec: { namespaces: { names: ["shop"] }, kinds: ["Datacenter"] },
  metadata: { name: "all", namespace: "other" },
});

function resolve(
  parent?: Partial<KubeObject>,
  wanted = byName,
  kept?: Record<string, string>,
  ...grants: KubeObject[]
) {
  const objects = createObjects(kinds, unsealed, () => {});
  for (const grant of grants) objects.store("Grant").put(grant);
  if (parent) objects.store("Datacenter").put(objectOf("Datacenter", "dc", parent));
  return resolveReferences(objects, child, wanted, kept);
}
const bound = (more: Partial<Reference>) =>
  desired({
    references: [{ role: "datacenter", kind: "Datacenter", field: "datacenterRef", target: { name: "dc" }, ...more }],
  });

const notReady = (reason: string, message: string, status: "False" | "Unknown" = "False") => ({
  id: "d-1",
  conditions: [{ ...readyCondition("False"), status, reason, message }],
});

describe("a reference", () => {
  test("by id needs no object", () => {
    expect(resolve(undefined, bound({ target: { id: "d-7" } }))).toEqual({
      value: { parents: { datacenter: "d-7" }, refs: { datacenter: { id: "d-7", status: {} } }, abroad: [] },
    });
  });

  test("by id shows what an object of the namespace knows of it", () => {
    const status = { id: "d-7", location: "de/txl" };
    expect(resolve({ status }, bound({ target: { id: "d-7" } }))).toMatchObject({
      value: { refs: { datacenter: { id: "d-7", status: { location: "de/txl" } } } },
    });
  });

  test("by name is the id of a parent that is Ready", () => {
    const status = { id: "d-1", endpoint: API, conditions: [readyCondition()] };
    expect(resolve({ status })).toEqual({
      value: { parents: { datacenter: "d-1" }, refs: { datacenter: { id: "d-1", status, name: "dc" } }, abroad: [] },
    });
  });

  test("to a part of an object is what its status says of that part", () => {
    const status = { id: "d-1", location: "de/txl", conditions: [readyCondition()] };
    const part = { what: "location", of: (shown: Shown) => (shown.location === "de/txl" ? "here" : undefined) };
    expect(resolve({ status }, bound({ part }))).toMatchObject({ value: { parents: { datacenter: "here" } } });
    expect(resolve({ status: { ...status, location: "de/fra" } }, bound({ part }))).toEqual(
      waiting("ReferenceNotFound", "datacenterRef: Datacenter dc has no location"),
    );
  });

  test("to a part that is not there names those that are", () => {
    const status = { id: "d-1", endpoint: API, conditions: [readyCondition()] };
    const part = { what: "NIC nosuch", of: () => undefined, all: () => ["public", "private"] };
    expect(resolve({ status }, bound({ part }))).toMatchObject({
      obstacle: {
        reason: "ReferenceNotFound",
        message: expect.stringMatching(/has no NIC nosuch; valid: public, private$/),
      },
    });
  });

  test("that is only used gives no parent", () => {
    const status = { id: "d-1", endpoint: API, conditions: [readyCondition()] };
    expect(resolve({ status }, bound({ bond: "use" }))).toMatchObject({
      value: { parents: {}, refs: { datacenter: { id: "d-1" } } },
    });
  });

  test("to nothing names field, kind, name and namespace", () => {
    expect(resolve()).toEqual(waiting("ReferenceNotFound", "datacenterRef: Datacenter dc not found in namespace shop"));
  });

  test("does not reach into another namespace by itself", () => {
    const status = { id: "d-1", endpoint: API, conditions: [readyCondition()] };
    expect(resolve({ metadata: { name: "dc", namespace: "other" }, status })).toMatchObject({
      obstacle: { reason: "ReferenceNotFound" },
    });
  });

  test("into another namespace leads there by a Grant, and tells that it does", () => {
    const wanted = bound({ target: { namespace: "other", name: "dc" } });
    const metadata = { name: "dc", namespace: "other" };
    const status = { id: "d-1", endpoint: API, conditions: [readyCondition()] };
    expect(resolve({ metadata, status }, wanted)).toMatchObject({
      obstacle: { reason: "ReferenceNotGranted" },
    });
    expect(resolve({ metadata, status }, wanted, undefined, granted)).toEqual({
      value: {
        parents: { datacenter: "d-1" },
        refs: { datacenter: { id: "d-1", status, name: "other/dc" } },
        abroad: ["datacenter"],
      },
    });
    expect(resolve({ metadata }, wanted, undefined, granted)).toEqual(
      waiting("ReferenceNotReady", "datacenterRef: waiting for Datacenter other/dc to be Ready"),
    );
  });

  test("names the pause of a parent that is not there yet, and goes on under one that is", () => {
    const metadata = { name: "dc", annotations: { "mooring.dev/paused": "true" } };
    const message = "Datacenter dc is paused: remove its annotation mooring.dev/paused";
    expect(resolve({ metadata })).toEqual(waiting("ReferenceNotReady", `datacenterRef: ${message}`));
    const status = { id: "d-1", endpoint: API, conditions: [readyCondition()] };
    expect(resolve({ metadata: { ...metadata, deletionTimestamp: "2026-01-01T00:00:00Z" }, status })).toEqual(
      waiting("ReferenceNotReady", `datacenterRef: Datacenter dc is being deleted; ${message}`),
    );
    const part = { what: "NIC a", of: () => undefined };
    expect(resolve({ metadata, status }, bound({ part }))).toEqual(
      waiting("ReferenceNotFound", `datacenterRef: Datacenter dc has no NIC a; ${message}`),
    );
    expect(resolve({ metadata, status })).toMatchObject({ value: { parents: { datacenter: "d-1" } } });
  });

  test.each([
    ["has no resource yet", undefined],
    ["has no conditions yet", { id: "d-1" }],
    ["nobody has looked at yet", notReady("Pending", "Waiting for the operator", "Unknown")],
  ])("waits for a parent that %s", (_, status) => {
    expect(resolve({ status })).toEqual(
      waiting("ReferenceNotReady", "datacenterRef: waiting for Datacenter dc to be Ready"),
    );
  });

  test.each([
    ["Creating", "the platform is creating the Datacenter", "Creating: the platform is creating the Datacenter"],
    ["Rejected", "spec.location: de/nowhere", "Rejected: spec.location: de/nowhere"],
    ["RateLimited", "the platform asks to slow down until 2026-01-01T00:00:05Z", "RateLimited"],
    [
      "ProvisioningFailed",
      "no capacity; next attempt at 2026-01-01T00:00:05Z; set the annotation x to retry now",
      "ProvisioningFailed: no capacity",
    ],
    ["Rejected", "x".repeat(1000), `Rejected: ${"x".repeat(300)}…`],
  ])("says why its parent is not Ready: %s %s", (reason, message, said) => {
    expect(resolve({ status: notReady(reason, message) })).toEqual(
      waiting("ReferenceNotReady", `datacenterRef: waiting for Datacenter dc to be Ready: ${said}`),
    );
  });

  test("names what is at the bottom of a row of waiting objects, and nothing that passes there", () => {
    const behind = (end: string) =>
      notReady("ReferenceNotReady", `datacenterRef: waiting for Datacenter a to be Ready${end}`);
    const plain = "datacenterRef: waiting for Datacenter dc to be Ready";
    expect(resolve({ status: behind("") })).toEqual(waiting("ReferenceNotReady", plain));
    expect(resolve({ status: behind(": Creating: soon") })).toEqual(waiting("ReferenceNotReady", plain));
    const message = `${plain}: ReferenceNotReady: datacenterRef: waiting for Datacenter a to be Ready: Rejected: no`;
    expect(resolve({ status: behind(": Rejected: no") })).toEqual(waiting("ReferenceNotReady", message));
  });

  test("waits for the end of a parent that is being deleted", () => {
    const metadata = { name: "dc", deletionTimestamp: "2026-01-01T00:00:00Z" };
    expect(resolve({ metadata, status: { id: "d-1", conditions: [readyCondition()] } })).toEqual(
      waiting("ReferenceNotReady", "datacenterRef: Datacenter dc is being deleted"),
    );
  });
});

describe("a reference of a resource that exists", () => {
  const kept = { datacenter: "d-0" };

  test.each([["place"], ["seed"]] as const)("of the bond %s may lead nowhere", (bond) => {
    expect(resolve(undefined, bound({ bond }), kept)).toEqual({ value: { parents: kept, refs: {}, abroad: [] } });
  });

  test("does not move it", () => {
    const status = { id: "d-1", endpoint: API, conditions: [readyCondition()] };
    expect(resolve({ status }, byName, kept)).toMatchObject({ value: { parents: kept } });
  });

  test("that it uses has to be there, changing or not", () => {
    expect(resolve(undefined, bound({ bond: "use" }), kept)).toMatchObject({
      obstacle: { reason: "ReferenceNotFound" },
    });
    const status = { id: "d-1", endpoint: API, conditions: [readyCondition("False")] };
    expect(resolve({ status }, bound({ bond: "use" }), kept)).toMatchObject({
      value: { parents: kept, refs: { datacenter: { id: "d-1" } } },
    });
  });
});

describe("a reference into another namespace of a resource that exists", () => {
  const kept = { datacenter: "d-0" };
  const abroad = (bond: Reference["bond"]) =>
    bound({ target: { namespace: "other", name: "dc" }, ...(bond && { bond }) });

  test.each([["place"], ["seed"]] as const)("of the bond %s needs no Grant any more", (bond) => {
    const status = { id: "d-1", endpoint: API, conditions: [readyCondition()] };
    expect(resolve({ metadata: { name: "dc", namespace: "other" }, status }, abroad(bond), kept)).toEqual({
      value: { parents: kept, refs: {}, abroad: ["datacenter"] },
    });
  });

  test("that it uses is not followed without one", () => {
    const [metadata, status] = [{ name: "dc", namespace: "other" }, { id: "d-1" }];
    expect(resolve({ metadata, status }, abroad("use"), kept, granted)).toMatchObject({
      value: { refs: { datacenter: { id: "d-1" } } },
    });
    expect(resolve({ metadata, status }, abroad("use"), kept)).toMatchObject({
      obstacle: { reason: "ReferenceNotGranted" },
    });
  });
});

test("two objects that name each other report that, and do not block each other", () => {
  const objects = createObjects(kinds, unsealed, () => {});
  const datacenterRef = { name: "dc" };
  const owning = { id: "r-1", conditions: [readyCondition()] };
  const put = (kind: string, name: string, spec: object, more: object = {}) => {
    const object = objectOf(kind, name, { spec: { datacenterRef, ...spec }, ...more });
    objects.store(kind).put(object);
    const wanted = kinds.find((each) => each.kind === kind)?.resource?.desire(object.spec);
    return () => wanted && resolveReferences(objects, object, wanted);
  };
  put("Datacenter", "dc", {}, { status: owning });
  const [boots, attached] = [{ bootVolumeRef: { name: "os" } }, { attachTo: { serverRef: { name: "web" } } }];
  const server = put("Server", "web", boots);
  const volume = put("Volume", "os", attached);
  const each = "and each would wait for the other: remove one of the two";
  expect(server()).toEqual(waiting("InvalidSpec", `bootVolumeRef: Volume os names this Server in attachTo, ${each}`));
  expect(volume()).toEqual(waiting("InvalidSpec", `attachTo: Server web names this Volume in bootVolumeRef, ${each}`));
  put("Server", "web", boots, { status: owning });
  put("Volume", "os", attached, { status: owning });
  expect([objects.dependents("Server/shop/web"), objects.dependents("Volume/shop/os")]).toEqual([[], []]);
  put("Volume", "os", {}, { status: owning });
  expect(objects.dependents("Volume/shop/os")).toEqual(["Server/shop/web"]);
});
