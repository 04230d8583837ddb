import { z } from "zod";

const definition = z.looseObject({
  spec: z.looseObject({
    versions: z.array(z.looseObject({ schema: z.looseObject({ openAPIV3Schema: z.looseObject({}) }) })).min(1),
  }),
});

/** The schema of the objects of a CustomResourceDefinition, without the fields that all objects share. */
export function schemaIn(crd: unknown): object {
  const schema = definition.parse(crd).spec.versions[0]?.schema.openAPIV3Schema ?? {};
  const text = { type: "string" };
  const metadata = { type: "object", properties: { name: text } };
  const open = { type: "object", properties: undefined };
  return {
    ...schema,
    properties: { ...Object(schema.properties), apiVersion: text, kind: text, metadata: { ...open, rules: metadata } },
  };
}
