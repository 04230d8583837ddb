import type { Kind } from "../../kinds/kind.ts";
import { schemaIn } from "../../plan/schema/objects.ts";
import { customResourceDefinition } from "./crd.ts";

const schemas = new Map<string, object>();

/** The schema of a kind's objects, as in the CRD of this version. */
export function schemaOf(kind: Kind): object {
  const schema = schemas.get(kind.kind) ?? schemaIn(customResourceDefinition(kind));
  schemas.set(kind.kind, schema);
  return schema;
}
