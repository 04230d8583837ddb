import { type GrantSpec, grant, grants, readGrant } from "../../../kinds/identity/grant.ts";
import type { Kind } from "../../../kinds/kind.ts";
import type { KubeObject } from "../../../kube/resource.ts";
import { createIndex } from "../../../kube/watch/keyed-index.ts";
import { memo } from "../../../runtime/memo.ts";
import { readStatus } from "../../status/status.ts";
import {
  claimOf,
  dependsOn,
  type Found,
  type Named,
  namedBy,
  namespaceOf,
  type ObjectKey,
  openIntent,
  targetOf,
} from "../object.ts";

/** How an object was, and how it is now. */
export interface Edit {
  before?: KubeObject | undefined;
  after?: KubeObject | undefined;
}

type LabelsOf = (namespace: string) => Readonly<Record<string, string>> | undefined;

/** Which objects name which others in spec, and whether they may: in their own namespace, or by a Grant beside the named object. */
export function createReferences(labelsOf: LabelsOf, find: (key: ObjectKey) => Found | undefined) {
  const references = createIndex();
  /** The namespaces besides its own that an object's spec names. */
  const abroad = createIndex();
  const granted = new Map<string, Map<string, GrantSpec>>();
  const admits = (spec: GrantSpec, target: ObjectKey, guest: string) =>
    grants(spec, targetOf(target), { namespace: guest, labels: labelsOf(guest) });
  /** Whether objects of a namespace may refer to this one: it is theirs, or a Grant beside it admits them. */
  const isOpenTo = (namespace: string, key: ObjectKey): boolean => {
    const home = namespaceOf(key);
    const opened = granted.get(home)?.values().toArray() ?? [];
    return home === namespace || opened.some((spec) => admits(spec, key, namespace));
  };
  const opens = (object: KubeObject | undefined, target: ObjectKey, guest: string) => {
    const spec = object?.metadata.namespace === namespaceOf(target) ? grantOf(object) : undefined;
    return spec !== undefined && admits(spec, target, guest);
  };
  /** Objects whose spec names this one, and which may. */
  const referrers = (key: ObjectKey): ObjectKey[] => {
    // Checked once for each namespace, which may have many objects.
    const known = new Map<string, boolean>();
    return references.get(key).filter((referrer) => {
      const from = namespaceOf(referrer);
      const isOpen = known.get(from) ?? isOpenTo(from, key);
      known.set(from, isOpen);
      return isOpen;
    });
  };
  return {
    isOpenTo,
    referrers,
    noteReferences(kind: Kind, key: ObjectKey, { before, after }: Edit): void {
      if (before && after && before.spec === after.spec) return;
      const named = after ? [...new Set(namedBy(kind, after).map((reference) => reference.key))] : [];
      const others = named.map(namespaceOf).filter((namespace) => namespace !== namespaceOf(key));
      references.set(key, named);
      abroad.set(key, [...new Set(others)]);
    },
    /** A Grant, by namespace/name, as it is now; undefined when it is gone or opens nothing. */
    noteGrant(key: string, object: KubeObject | undefined): void {
      const [namespace = "", name = ""] = key.split("/");
      const here = granted.get(namespace) ?? new Map<string, GrantSpec>();
      const spec = object && grantOf(object);
      if (spec) granted.set(namespace, here.set(name, spec));
      else if (here.delete(name) && here.size === 0) granted.delete(namespace);
    },
    /**
     * Objects whose resource, existing or being created, lives under this object's resource or uses it. A resource that was made while
     * a Grant allowed it is still there without the Grant: status tells that.
     */
    dependents(key: ObjectKey): ObjectKey[] {
      const self = find(key);
      const id = self && claimOf(self.object)?.id;
      const names = references.wordsOf(key);
      const allowed = new Set(referrers(key));
      return references.get(key).filter((referrer) => {
        const found = find(referrer);
        if (!found) return false;
        const wasAllowed = id !== undefined && readStatus(found.object).uses?.[key] === id;
        const isAllowed = allowed.has(referrer);
        const isThere = (isAllowed || wasAllowed) && claimOf(found.object) !== undefined;
        if (!isThere && !(isAllowed && openIntent(found.object))) return false;
        // Two objects that name each other would wait for each other.
        const isMutual = self && names.includes(referrer) && dependsOn(self.kind, self.object, referrer);
        return !isMutual && dependsOn(found.kind, found.object, key);
      });
    },
    /** The objects of other namespaces that an object names, with their ids, if a Grant allows that or has allowed it `before`. */
    uses(key: ObjectKey, before: Readonly<Record<ObjectKey, string>> = {}): Record<ObjectKey, string> | undefined {
      if (abroad.wordsOf(key).length === 0) return undefined;
      const home = namespaceOf(key);
      const used = references.wordsOf(key).flatMap((target) => {
        const object = isOpenTo(home, target) ? find(target)?.object : undefined;
        const id = (object && claimOf(object)?.id) ?? before[target];
        return namespaceOf(target) === home || id === undefined ? [] : [[target, id]];
      });
      return used.length > 0 ? Object.fromEntries(used) : undefined;
    },
    /** References of an object's spec that are allowed, to existing objects or not. */
    named: (kind: Kind, object: KubeObject): Named[] =>
      namedBy(kind, object).filter(({ key }) => isOpenTo(object.metadata.namespace ?? "", key)),
    /** For a changed Grant: objects of other namespaces whose references it opens or closes; undefined for each it skips. */
    *guestsOf(key: ObjectKey, { before, after }: Edit): Generator<ObjectKey | undefined> {
      const guests = targetOf(key).kind === grant.kind ? abroad.get(namespaceOf(key)) : [];
      for (const guest of guests) {
        const home = namespaceOf(guest);
        const changes = (target: ObjectKey) => opens(before, target, home) !== opens(after, target, home);
        yield references.wordsOf(guest).some(changes) ? guest : undefined;
      }
    },
  };
}

/** The spec of a Grant; none once it is being deleted. */
const grantOf = memo(({ metadata, spec }: KubeObject) => (metadata.deletionTimestamp ? undefined : readGrant(spec)));
