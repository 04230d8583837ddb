import { z } from "zod";

const definition = z.looseObject({
  spec: z.looseObject({
    versions: z.array(z.looseObject({ schema: z.looseObject({ openAPIV3Schema: z.looseObject({}) }) })).min(1),
  }),
});

/**
 * The schema of the objects of a CustomResourceDefinition. It adds the fields that all objects share, which a CRD does not
 * list: metadata may have any fields.
 */
export function schemaIn(crd: unknown): object {
  const schema = definition.parse(crd).spec.versions[0]?.schema.openAPIV3Schema ?? {};
  const text = { type: "string" };
  const metadata = { type: "object" };
  return { ...schema, properties: { ...Object(schema.properties), apiVersion: text, kind: text, metadata } };
}
