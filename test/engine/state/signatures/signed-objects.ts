import { claimOf } from "../../../../src/engine/state/object.ts";
import { createSignatures, type Signatures } from "../../../../src/engine/state/signatures.ts";
import { nested } from "../../../../src/engine/status/schema.ts";
import type { KubeObject } from "../../../../src/kube/resource.ts";
import { datacenterSpec, objectOf } from "../../support/fixtures.ts";

export const keys = ["one", "two"];
export const seal = createSignatures({ keys: () => keys });
export const claim = {
  id: "d1",
  parents: {},
  account: "shop/main",
  endpoint: "https://api.test",
  contract: 7,
  nonce: "n1",
};
export const dc = (name: string, more: Partial<KubeObject> = {}) =>
  objectOf("Datacenter", name, { spec: datacenterSpec, ...more });

/** An object whose status was written with a seal. */
export function owning(name: string, by: Signatures = seal, status: object = claim): KubeObject {
  const object = dc(name);
  return { ...object, status: by.signed("Datacenter", object, status) };
}
/** An object whose annotation was written with a seal. */
export function marked(name: string, annotation: string, words: object, by: Signatures = seal): KubeObject {
  return dc(name, {
    metadata: { name, annotations: { [annotation]: by.mark("Datacenter", dc(name), annotation, words) } },
  });
}
/** The same object with everything in its place. */
export const inPlace = ({ status, ...object }: KubeObject): KubeObject => ({ ...object, status: nested(status ?? {}) });
/** The object as it enters a store. */
export function judged(object: KubeObject, by: Signatures = seal, kind = "Datacenter"): KubeObject {
  const arrived = { ...object };
  by.judge(kind, arrived);
  return arrived;
}
export const claimed = (object: KubeObject, by: Signatures = seal) => claimOf(judged(object, by))?.id;
