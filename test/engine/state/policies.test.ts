import { expect, test } from "vitest";
import { recreatePolicyOf } from "../../../src/engine/state/policies.ts";
import { server } from "../../../src/kinds/compute/server/server.ts";
import { kinds } from "../../../src/kinds/index.ts";
import { hasResource } from "../../../src/kinds/kind.ts";
import { objectOf } from "../support/fixtures.ts";

test("a kind that holds data or an address is not created again by default, and any other is when it was deleted", () => {
  const byDefault = (policy: string) =>
    kinds
      .filter(hasResource)
      .filter((kind) => "recreatePolicy" in kind.spec.shape)
      .filter((kind) => recreatePolicyOf(kind, objectOf(kind.kind, "a", {})) === policy)
      .map(({ kind }) => kind)
      .sort();
  expect(byDefault("Never")).toEqual(["IPBlock", "KafkaCluster", "KafkaTopic", "Snapshot", "Volume"]);
  expect(byDefault("WhenDeleted")).toContain("Server");
  expect(byDefault("WhenMissing")).toEqual([]);
});

test("a resource that spec names by its id is created again only if spec or a person says so", () => {
  const policyOf = (spec: object) => recreatePolicyOf(server, objectOf("Server", "a", { spec }));
  expect(policyOf({ externalId: "id" })).toBe("Never");
  expect(policyOf({ externalId: "id", recreatePolicy: "WhenMissing" })).toBe("WhenMissing");
  expect(policyOf({})).toBe("WhenDeleted");
});
