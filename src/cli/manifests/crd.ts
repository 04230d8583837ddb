import { z } from "zod";
import { sharedStatus, storedStatus, taskStatus } from "../../engine/status/schema.ts";
import { joined, validations } from "../../kinds/fields/rules.ts";
import { GROUP, VERSION } from "../../kinds/index.ts";
import { type Kind, type Rule, usesAccount } from "../../kinds/kind.ts";
import { type Json, structural } from "../../kube/write/structural.ts";
import { changeRules, isChange } from "./changes.ts";

/** The CustomResourceDefinition of a kind, generated from its zod schemas. */
export function customResourceDefinition(kind: Kind): Json {
  const spec = withoutListDefaults(structural(kind.spec, "spec"));
  const rules = kind.rules.filter((each) => !isChange(each));
  if (rules.length > 0) Object.assign(spec, validations(joined(...rules)));
  const overall = [...observable(kind), ...(kind.resource ? nameLimit(kind) : []), ...changeRules(kind)];
  const common = kind.resource ? storedStatus : kind.task ? taskStatus : sharedStatus;
  const status = z.object({ ...common.shape, ...kind.status.shape });
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${kind.plural}.${GROUP}` },
    spec: {
      group: GROUP,
      scope: kind.scope ?? "Namespaced",
      names: {
        kind: kind.kind,
        listKind: `${kind.kind}List`,
        plural: kind.plural,
        singular: kind.kind.toLowerCase(),
        shortNames: kind.shortNames,
        ...categories(kind),
      },
      versions: [
        {
          name: VERSION,
          served: true,
          storage: true,
          subresources: { status: {}, ...scaleOf(kind) },
          ...selectable(spec),
          additionalPrinterColumns: columns(kind),
          schema: {
            openAPIV3Schema: {
              type: "object",
              description: kind.description,
              required: ["spec"],
              ...(overall.length > 0 && { "x-kubernetes-validations": overall }),
              properties: {
                spec: { description: `Desired state of the ${kind.kind}.`, ...spec },
                status: {
                  description: `Observed state of the ${kind.kind}.`,
                  ...withAtomicMaps(structural(status, "status")),
                  // Until the first reconcile, tools that wait for the object must not take it for finished.
                  default: { conditions: [pending] },
                },
              },
            },
          },
        },
      ],
    },
  };
}

/**
 * Moves defaults inside lists from the API server to the operator, which parses spec with the same schema. Otherwise a
 * stored list would never equal the one in the manifest: every apply would write it, and field managers would conflict.
 */
function withoutListDefaults(node: Json, inList = false): Json {
  const { default: value, ...rest } = node;
  const keepsDefault = !inList || value === undefined;
  const own = keepsDefault ? node : { ...rest, description: `${node.description} Default: ${value}.` };
  const each = (child: unknown, within: boolean) => withoutListDefaults(Object(child), within);
  const children = Object.entries(Object(node.properties)).map(([name, child]) => [name, each(child, inList)]);
  return {
    ...own,
    ...(children.length > 0 && { properties: Object.fromEntries(children) }),
    ...(node.items !== undefined && { items: each(node.items, true) }),
  };
}

/**
 * The operator writes all of status at once. With atomic maps, server-side apply needs one entry in managedFields per
 * object instead of one per field. Conditions stay separate: other controllers may add theirs.
 */
function withAtomicMaps(status: Json): Json {
  const properties = Object.entries(Object(status.properties)).map(([name, field]) => {
    const isObject = Object(field).type === "object";
    return [name, isObject ? { ...Object(field), "x-kubernetes-map-type": "atomic" } : field];
  });
  return { ...status, properties: Object.fromEntries(properties) };
}

/**
 * At the root, because it reads status: an object with a resource may switch to Observe without externalId. A permanent
 * resource is found without its id.
 */
function observable({ resource }: Kind): (Rule & { fieldPath: string })[] {
  if (!resource || resource.identity.permanent) return [];
  return [
    {
      fieldPath: ".spec.managementPolicy",
      rule: "self.spec.managementPolicy != 'Observe' || has(self.spec.externalId) || (has(self.status) && has(self.status.id))",
      message: "managementPolicy Observe needs externalId: the id of the resource to observe",
    },
  ];
}

/**
 * The category has the kinds of a namespace only. kubectl ignores the namespace for others, so that `kubectl -n x delete
 * mooring --all` would delete all ClusterAccounts.
 */
const categories = ({ scope }: Kind): Json => (scope === "Cluster" ? {} : { categories: ["mooring"] });

const pending = {
  type: "Ready",
  status: "Unknown",
  reason: "Pending",
  // Without lastTransitionTime, because kubectl would show it as an age.
  message: "Waiting for the operator",
};

const scaleOf = ({ scale }: Kind): Json =>
  scale === undefined
    ? {}
    : { scale: { specReplicasPath: `.spec.${scale.spec}`, statusReplicasPath: `.status.${scale.status}` } };

/** References are selectable fields: `kubectl get lans --field-selector` finds the Lans of a Datacenter. */
function selectable(spec: Json): Json {
  const fields = referencesIn(spec, ".spec").map((path) => ({ jsonPath: `${path}.name` }));
  return fields.length === 0 ? {} : { selectableFields: fields };
}

/** The paths of references to Mooring's objects, outside lists. */
function referencesIn(node: Json, at: string): string[] {
  return Object.entries(Object(node.properties)).flatMap(([name, child]) =>
    /(?<!secret|key)ref$/i.test(name) ? [`${at}.${name}`] : referencesIn(Object(child), `${at}.${name}`),
  );
}

function columns(kind: Kind): Json[] {
  const ready = ".status.conditions[?(@.type=='Ready')]";
  const paused = ".status.conditions[?(@.type=='Paused')].status";
  const pausing = { name: "Paused", type: "string", path: paused, description: "True if the object is paused" };
  const platform = [
    { name: "State", type: "string", path: ".status.state", description: "State on the platform" },
    { name: "Id", type: "string", path: ".status.id", description: "Id on the platform", wide: true },
  ];
  const all = [
    { name: "Ready", type: "string", path: `${ready}.status`, description: "True if it is up to date" },
    { name: "Reason", type: "string", path: `${ready}.reason`, description: "Reason of the Ready condition" },
    ...(kind.resource ? platform : []),
    ...kind.columns,
    ...(usesAccount(kind) ? [pausing] : []),
    {
      name: "Since",
      type: "date",
      path: `${ready}.lastTransitionTime`,
      description: "Time of the last change of Ready",
      wide: true,
    },
    { name: "Age", type: "date", path: ".metadata.creationTimestamp", description: "Age of the object" },
    {
      name: "Message",
      type: "string",
      path: `${ready}.message`,
      description: "Message of the Ready condition",
      wide: true,
    },
  ];
  return all.map(({ name, type, path, description, ...rest }) => ({
    name,
    type,
    description,
    jsonPath: path,
    ...("wide" in rest && rest.wide ? { priority: 1 } : {}),
  }));
}

/** A rule for kinds whose name on the platform has fewer characters than `metadata.name` may have. */
function nameLimit({ kind, resource }: Kind): Rule[] {
  const { longest } = resource?.names ?? {};
  if (longest === undefined) return [];
  const rule = `size(self.metadata.name) <= ${longest} || has(self.spec.name) || has(self.spec.externalId) || self.spec.managementPolicy == 'Observe'`;
  return [
    {
      rule,
      message: `metadata.name is too long for a ${kind}, which has at most ${longest} characters: set spec.name`,
    },
  ];
}
