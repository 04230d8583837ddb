import { claimOf } from "../../../../src/engine/state/object.ts";
import type { KubeObject } from "../../../../src/kube/resource.ts";
import { objectOf } from "../../support/fixtures.ts";
import { stage } from "../../support/stage.ts";

export const A = "Datacenter/shop/a";
export const B = "Datacenter/shop/b";
export const body = { properties: { name: "theirs", location: "de/txl" } };

export const naming = (name: string, more: object = {}): KubeObject =>
  objectOf("Datacenter", name, { spec: { externalId: "dc-theirs-0", location: "de/txl", name: "theirs", ...more } });

export function open(...objects: KubeObject[]) {
  const all = stage(objects);
  const id = all.platform.make("theirs", body);
  const owned = (key: string) => {
    const object = all.objects.find(key)?.object;
    return object && claimOf(object)?.id;
  };
  return { ...all, id, owned };
}
