import { customResourceDefinition } from "../../src/cli/manifests/crd.ts";
import { VERSION } from "../../src/kinds/index.ts";
import type { Kind } from "../../src/kinds/kind.ts";
import type { Resource } from "../../src/kube/resource.ts";

const RULES = "x-kubernetes-validations";

type Node = Record<string, unknown>;
const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null && !Array.isArray(value);

/** A rule of a CRD, and the place in its schema. */
export interface PlacedRule {
  /** Names of properties, `[]` for the items of a list, from the root. */
  readonly path: readonly string[];
  readonly rule: Node;
}

/** A copy of a kind's CRD in a group of its own. */
export interface Variant {
  readonly crd: Node;
  readonly resource: Resource;
}

/** Changes the rules at every place of a schema. */
function withRules(
  schema: Node,
  rulesAt: (path: readonly string[], rules: unknown[]) => unknown[],
  path: readonly string[] = [],
): Node {
  const { [RULES]: rules, ...rest } = schema;
  const changed = rulesAt(path, Array.isArray(rules) ? rules : []);
  const children = (value: unknown) =>
    Object.fromEntries(
      Object.entries(Object(value)).map(([name, child]) => [
        name,
        isNode(child) ? withRules(child, rulesAt, [...path, name]) : child,
      ]),
    );
  return {
    ...rest,
    ...(changed.length > 0 && { [RULES]: changed }),
    ...(isNode(rest.properties) && { properties: children(rest.properties) }),
    ...(isNode(rest.items) && { items: withRules(rest.items, rulesAt, [...path, "[]"]) }),
    ...(isNode(rest.additionalProperties) && {
      additionalProperties: withRules(rest.additionalProperties, rulesAt, [...path, "*"]),
    }),
  };
}

const schemaOf = (crd: Node): Node => {
  const [version] = Object(crd.spec).versions;
  return version.schema.openAPIV3Schema;
};

export function rulesOf(kind: Kind): PlacedRule[] {
  const found: PlacedRule[] = [];
  withRules(schemaOf(customResourceDefinition(kind)), (path, rules) => {
    found.push(...rules.filter(isNode).map((rule) => ({ path, rule })));
    return rules;
  });
  return found;
}

function variant(kind: Kind, group: string, rulesAt: Parameters<typeof withRules>[1]): Variant {
  const crd = customResourceDefinition(kind);
  const spec = Object(crd.spec);
  const [version] = spec.versions;
  const schema = { openAPIV3Schema: withRules(schemaOf(crd), rulesAt) };
  const { shortNames: _, categories: __, ...names } = spec.names;
  return {
    crd: {
      ...crd,
      metadata: { name: `${kind.plural}.${group}` },
      spec: { ...spec, group, names, versions: [{ ...version, schema }] },
    },
    resource: { group, version: VERSION, kind: kind.kind, plural: kind.plural, namespaced: kind.scope !== "Cluster" },
  };
}

export const asItIs = (kind: Kind): Variant => variant(kind, "with.example.com", (_, rules) => rules);
export const withoutRules = (kind: Kind, group = "without.example.com"): Variant => variant(kind, group, () => []);

/**
 * No rules but this one, many times: what one costs is too little to be seen. The API server wants each to be another
 * text, so they differ in the spaces at their end.
 */
export const withOnly = (kind: Kind, { path, rule }: PlacedRule, copies: number, group: string): Variant =>
  variant(kind, group, (place) =>
    place.join() === path.join()
      ? Array.from({ length: copies }, (_, index) => ({ ...rule, rule: `${rule.rule}${" ".repeat(index)}` }))
      : [],
  );
