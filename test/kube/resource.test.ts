import { describe, expect, it, test } from "vitest";
import { apiVersionOf, keyOf, pathOf, type Resource } from "../../src/kube/resource.ts";
import { WIDGETS } from "./objects.ts";

const NODES: Resource = { group: "", version: "v1", kind: "Node", plural: "nodes", namespaced: false };

test("paths name a collection, an object, or a part of it", () => {
  expect(pathOf(WIDGETS)).toBe("/apis/example.dev/v1/widgets");
  expect(pathOf(WIDGETS, { namespace: "a" })).toBe("/apis/example.dev/v1/namespaces/a/widgets");
  expect(pathOf(WIDGETS, { namespace: "a", name: "b", subresource: "status" })).toBe(
    "/apis/example.dev/v1/namespaces/a/widgets/b/status",
  );
  expect(pathOf(NODES, { namespace: "ignored", name: "n" })).toBe("/api/v1/nodes/n");
});

describe("a name or namespace that is none of Kubernetes becomes no path", () => {
  const long = "a".repeat(254);
  it.each([".", "..", "", "../secrets?x", "a/b", "a%2fb", "Web", "-a", "a-", ".a", "a_b", long])("name %j", (name) => {
    expect(() => pathOf(NODES, { name })).toThrow("is not a valid name in Kubernetes");
    expect(() => pathOf(WIDGETS, { namespace: "a", name })).toThrow("is not a valid name in Kubernetes");
  });

  it.each([".", "..", "a.b", "a/b", "A", "a".repeat(64)])("namespace %j", (namespace) => {
    expect(() => pathOf(WIDGETS, { namespace })).toThrow("is not a valid namespace in Kubernetes");
    expect(() => pathOf(WIDGETS, { namespace, name: "a" })).toThrow("is not a valid namespace in Kubernetes");
  });

  it.each(["a", "0", "a.b-c.9", "a".repeat(253)])("but %j does", (name) => {
    expect(pathOf(NODES, { name })).toBe(`/api/v1/nodes/${name}`);
  });

  it("and roles have their own rule: anything that stays in its place", () => {
    const roles = { ...NODES, group: "rbac.authorization.k8s.io", plural: "clusterroles" };
    expect(pathOf(roles, { name: "system:a" })).toBe("/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Aa");
    for (const name of [".", "..", "a/b", "a%b"]) expect(() => pathOf(roles, { name })).toThrow("is not a valid name");
  });
});

test("keys and API versions are what kubectl shows", () => {
  expect(keyOf({ metadata: { namespace: "a", name: "b" } })).toBe("a/b");
  expect(keyOf({ metadata: { name: "b" } })).toBe("b");
  expect([apiVersionOf(WIDGETS), apiVersionOf(NODES)]).toEqual(["example.dev/v1", "v1"]);
});
