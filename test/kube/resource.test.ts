import { expect, test } from "vitest";
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

test("a name cannot leave its place in the path", () => {
  expect(pathOf(NODES, { name: "../secrets?x" })).toBe("/api/v1/nodes/..%2Fsecrets%3Fx");
});

test("keys and API versions are what kubectl shows", () => {
  expect(keyOf({ metadata: { namespace: "a", name: "b" } })).toBe("a/b");
  expect(keyOf({ metadata: { name: "b" } })).toBe("b");
  expect([apiVersionOf(WIDGETS), apiVersionOf(NODES)]).toEqual(["example.dev/v1", "v1"]);
});
