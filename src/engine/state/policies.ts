import { z } from "zod";
import { recreatePolicy } from "../../kinds/fields/fields.ts";
import type { Kind } from "../../kinds/kind.ts";
import type { KubeObject } from "../../kube/resource.ts";
import { withLowerUuids } from "../../platform/answers/uuids.ts";
import { memo } from "../../runtime/memo.ts";

const accountRef = z.object({ kind: z.enum(["Account", "ClusterAccount"]).default("Account"), name: z.string() });
export type AccountRef = z.output<typeof accountRef>;

/** The engine's part of spec. Each field is read by itself: an invalid one must not change another one. */
const ours = z.object({
  accountRef: accountRef.optional().catch(undefined),
  deletionPolicy: z.enum(["Delete", "Retain"]).catch("Delete"),
  replacePolicy: z.enum(["Never", "WhenNeeded"]).catch("Never"),
  externalId: z.string().overwrite(withLowerUuids).optional().catch(undefined),
});

/** When a lost resource is created again. Spec need not tell all of one that it names by id; an invalid policy allows nothing. */
export type RecreatePolicy = "WhenDeleted" | "WhenMissing" | "Never";
export function recreatePolicyOf({ spec: { shape } }: Pick<Kind, "spec">, { spec }: KubeObject): RecreatePolicy {
  const field = shape.recreatePolicy?.safeParse(Reflect.get(Object(spec), "recreatePolicy"));
  const policy = recreatePolicy.catch("Never").parse(field?.data);
  return policy === "WhenDeleted" && Object(spec).externalId !== undefined ? "Never" : policy;
}

const lenient = ours.catch(ours.parse({}));

export const policiesOf: (object: KubeObject) => z.output<typeof ours> = memo(({ spec }: KubeObject) =>
  lenient.parse(spec),
);
