import { describe, expect, it } from "vitest";
import { z } from "zod";
import { oneOfEverything } from "../../simulator/one-of-everything.ts";
import { type IdOf, reads } from "./read-methods.ts";
import { sdkForFile } from "./sdk.ts";
import { declaredReads, mismatches } from "./types.ts";

const resourceShape = z.looseObject({
  id: z.string(),
  type: z.string(),
  href: z.string(),
  properties: z.looseObject({}).optional(),
  entities: z.record(z.string(), z.looseObject({ items: z.array(z.looseObject({})).optional() })).optional(),
});
type Resource = z.infer<typeof resourceShape>;
const collectionShape = z.looseObject({ type: z.literal("collection"), items: z.array(resourceShape).min(1) });

/** Each depth shows more: the resource, its collections, and their members. */
function expectDepth(resource: Resource, depth: number) {
  expect(resource).toHaveProperty("properties");
  if (depth === 0) expect(resource).not.toHaveProperty("entities");
  for (const { items } of Object.values(resource.entities ?? {})) {
    if (depth === 1) expect(items).toBeUndefined();
    else for (const each of items ?? [{}]) expect(each).toHaveProperty("properties");
  }
}

const sdk = await sdkForFile();
const at = await oneOfEverything(sdk.platform);
const id: IdOf = (name) => at(`{${name}}`);

it("the table has every method of the SDK that reads", () => {
  expect(reads.map(({ method }) => method).toSorted()).toEqual(declaredReads.toSorted());
});

describe.each([0, 1, 3])("at depth %i", (depth) => {
  it.each(reads)("$method reads what the SDK declares", async ({ method, call, shape, type }) => {
    const { status, data } = await call(sdk.configuration, id, depth);
    expect(status).toBe(200);
    // The SDK declares a text file but asks for JSON, and the platform returns JSON.
    if (method !== "k8sKubeconfigGet") expect(mismatches(method, data)).toEqual([]);
    if (shape === "item") {
      const resource = resourceShape.parse(data);
      expect(resource).toMatchObject({ type });
      expectDepth(resource, depth);
    }
    if (shape === "collection") {
      const { items } = collectionShape.parse(data);
      for (const each of items) {
        if (type !== "") expect(each).toMatchObject({ type });
        if (depth > 0) expectDepth(each, depth);
        else expect(Object.keys(each)).toEqual(["id", "type", "href"]);
      }
    }
  });
});
