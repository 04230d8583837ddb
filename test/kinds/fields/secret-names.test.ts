import { describe, expect, it } from "vitest";
import { secretNameOf } from "../../../src/kinds/fields/secrets/keys.ts";
import { kinds } from "../../../src/kinds/index.ts";
import { nameProblem } from "../../../src/kube/resource.ts";

const keyed = kinds.filter(({ spec, resource }) => resource?.secret && "secretName" in spec.shape);
const longest = "a".repeat(253);
const dotted = `${"a".repeat(220)}${".b".repeat(16)}c`;

describe("the Secret of an object without secretName", () => {
  it.each(keyed.map(({ kind }) => kind))("has a valid name, however long that of the %s is", (kind) => {
    for (const name of [longest, dotted, "a".repeat(242), `${"a".repeat(225)}-${"-".repeat(26)}b`]) {
      const found = secretNameOf({}, { name }, kind);
      expect(nameProblem({ name: found }), found).toBeUndefined();
      expect(found).toMatch(/^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/);
      expect(found.endsWith(`-${kind.toLowerCase()}`)).toBe(true);
    }
  });

  it("has the object's whole name if there is room for it", () => {
    expect(secretNameOf({}, { name: "a".repeat(241) }, "AccessToken")).toBe(`${"a".repeat(241)}-accesstoken`);
  });
});
