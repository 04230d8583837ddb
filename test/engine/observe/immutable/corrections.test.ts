import { describe, expect, test } from "vitest";
import { customResourceDefinition } from "../../../../src/cli/manifests/crd.ts";
import { volume } from "../../../../src/kinds/compute/volume/volume.ts";
import { schemaIn } from "../../../../src/plan/schema/objects.ts";
import { problems, withDefaults } from "../../../../src/plan/schema/validate.ts";
import { patched, someId } from "../../../subjects/manifests.ts";

const schema = schemaIn(customResourceDefinition(volume));

/** The refusals of a change of a Volume that has this status. */
function refusals(from: object, to: object, status: object) {
  const stored = (more: object) => {
    const spec = { datacenterId: someId, type: "HDD", licenceType: "OTHER", size: 20, ...more };
    const object = Object(withDefaults(schema, patched({ kind: "Volume", spec }, "shop", "data")));
    return { ...object, status: { id: someId, ...status } };
  };
  return problems(schema, stored(to), stored(from)).join();
}

describe("a size that spec states wrongly while nothing is written", () => {
  test("can be corrected down to what is on the platform, and not below", () => {
    expect(refusals({ size: 2000 }, { size: 20 }, { size: 20 })).toBe("");
    expect(refusals({ size: 2000 }, { size: 25 }, { size: 20 })).toBe("");
    expect(refusals({ size: 2000 }, { size: 19 }, { size: 20 })).toContain(
      "size cannot be less than on the platform (status.size); for a smaller one, create another Volume",
    );
  });

  test("can only grow while status does not show it", () => {
    expect(refusals({ size: 2000 }, { size: 20 }, {})).toContain("size can only grow: keep it, or create another");
  });
});
