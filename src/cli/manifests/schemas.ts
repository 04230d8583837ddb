import type { Kind } from "../../kinds/kind.ts";
import { schemaIn } from "../../plan/schema/objects.ts";
import { customResourceDefinition } from "./crd.ts";

const schemas = new Map<string, object>();

/** The schema of the objects of a kind, as the CRD of this version has it. */
export function schemaOf(kind: Kind): object {
  const schema = schemas.get(kind.kind) ?? schemaIn(customResourceDefinition(kind));
  schemas.set(kind.kind, schema);
  return schema;
}
