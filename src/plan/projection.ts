import { knownAddress } from "../engine/observe/account.ts";
import { fixedFields } from "../engine/observe/spec/fixed-fields.ts";
import type { Context } from "../engine/observe/view.ts";
import { FINALIZER } from "../engine/state/names.ts";
import { keyTo } from "../engine/state/object.ts";
import { policiesOf } from "../engine/state/policies.ts";
import type { ResourceKind } from "../kinds/kind.ts";
import type { KubeObject } from "../kube/resource.ts";
import { birthOf } from "../platform/collections/numbered.ts";
import type { Stage } from "./stage.ts";

const EPOCH = "1970-01-01T00:00:00Z";

/** Puts an object on the stage as it will be when its resource exists. `found`: an existing one, which it has adopted. */
export function project(
  stage: Stage,
  kind: ResourceKind,
  object: KubeObject,
  context: Context,
  id: string,
  found?: { raw: unknown },
): KubeObject {
  const { account, inputs, desired } = context;
  const facts = (): object => {
    try {
      if (!desired || !inputs) return {};
      return kind.resource.comparison.facts(found?.raw ?? { id, ...Object(desired.body(inputs)) }, inputs);
    } catch {
      return {};
    }
  };
  const born = found && birthOf(kind.resource.identity, found.raw);
  const adopted = found && { adoptedAt: EPOCH, ...(born !== undefined && { born }) };
  const status = {
    ...facts(),
    id,
    parents: inputs?.parents ?? {},
    account: account?.key ?? context.view.account.key ?? "",
    endpoint: account && knownAddress(account, kind.resource.place.product),
    conditions: [{ type: "Ready", status: "True", reason: "Available", message: "", lastTransitionTime: EPOCH }],
    internal: { nonce: "plan", fixed: fixedFields(kind, object), ...adopted },
  };
  const { annotations, ...metadata } = object.metadata;
  const own = Object.entries(annotations ?? {}).filter(([name]) => !/\/(intent|external-id)$/.test(name));
  const projected = {
    ...object,
    metadata: { ...metadata, annotations: Object.fromEntries(own), finalizers: [FINALIZER] },
    status,
  };
  stage.put(projected);
  return stage.objects.find(keyTo(kind, object))?.object ?? projected;
}

/** The object once the operator has given its resource up: the resource is gone, or stays without the object. */
export function forgotten(object: KubeObject): KubeObject {
  const { id, parents: _, endpoint: __, state: ___, internal, ...status } = Object(object.status);
  const { revision = 0 } = Object(internal);
  const { annotations, ...metadata } = object.metadata;
  const own = Object.entries(annotations ?? {}).filter(([name]) => !/\/(intent|external-id)$/.test(name));
  const left = { left: id, leftExternalId: policiesOf(object).externalId, revision: revision + 1 };
  return {
    ...object,
    metadata: { ...metadata, annotations: Object.fromEntries(own) },
    status: { ...status, internal: left },
  };
}
