import { type GrantSpec, grants, readGrant } from "../../kinds/identity/grant.ts";
import type { KubeObject } from "../../kube/resource.ts";
import { memo } from "../../runtime/memo.ts";

/** An object that others may want to refer to. */
export interface Target {
  kind: string;
  namespace: string;
  name: string;
}

/** How a Grant was, and how it is now. */
export type GrantChange = { before?: KubeObject | undefined; after?: KubeObject | undefined };

/** What the Grants of all namespaces open to others. */
export interface Grants {
  /** A Grant, by namespace/name, as it is now; undefined when it is gone. */
  set(key: string, object: KubeObject | undefined): void;
  /** Whether objects of the namespace `guest` may refer to this one. */
  admit(target: Target, guest: string): boolean;
  /** Whether a change of one Grant is one for them. */
  differ(change: GrantChange, target: Target, guest: string): boolean;
}

export function createGrants(labelsOf: (namespace: string) => Readonly<Record<string, string>> | undefined): Grants {
  const byNamespace = new Map<string, Map<string, GrantSpec>>();
  const guestOf = (namespace: string) => ({ namespace, labels: labelsOf(namespace) });
  return {
    set(key, object) {
      const [namespace = "", name = ""] = key.split("/");
      const here = byNamespace.get(namespace) ?? new Map<string, GrantSpec>();
      const spec = object && grantOf(object);
      if (spec) byNamespace.set(namespace, here.set(name, spec));
      else if (here.delete(name) && here.size === 0) byNamespace.delete(namespace);
    },
    admit(target, guest) {
      const who = guestOf(guest);
      const here = byNamespace.get(target.namespace)?.values();
      return here?.some((spec) => grants(spec, target, who)) ?? false;
    },
    differ({ before, after }, target, guest) {
      const opens = (object: KubeObject | undefined) => {
        const spec = object?.metadata.namespace === target.namespace ? grantOf(object) : undefined;
        return spec !== undefined && grants(spec, target, guestOf(guest));
      };
      return opens(before) !== opens(after);
    },
  };
}

/** What a Grant opens: nothing any more once somebody wants it gone. */
const grantOf = memo(({ metadata, spec }: KubeObject) => (metadata.deletionTimestamp ? undefined : readGrant(spec)));
