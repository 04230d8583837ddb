import { z } from "zod";
import { GROUP, VERSION } from "../../kinds/index.ts";
import type { Kind, Rule } from "../../kinds/kind.ts";
import { resourceStatus, sharedStatus } from "./status-schema.ts";

type Json = Record<string, unknown>;

/** The CustomResourceDefinition of a kind, made of its zod schemas alone. */
export function customResourceDefinition(kind: Kind): Json {
  const spec = structural(kind.spec, "spec");
  const rules = [...kind.rules, ...immutability(kind)];
  if (rules.length > 0) spec["x-kubernetes-validations"] = rules;
  const status = kind.resource
    ? z.object({ ...sharedStatus.shape, ...resourceStatus.shape, ...kind.status.shape })
    : z.object({ ...sharedStatus.shape, ...kind.status.shape });
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${kind.plural}.${GROUP}` },
    spec: {
      group: GROUP,
      scope: "Namespaced",
      names: {
        kind: kind.kind,
        listKind: `${kind.kind}List`,
        plural: kind.plural,
        singular: kind.kind.toLowerCase(),
        shortNames: kind.shortNames,
        categories: ["mooring"],
      },
      versions: [
        {
          name: VERSION,
          served: true,
          storage: true,
          subresources: { status: {} },
          additionalPrinterColumns: columns(kind),
          schema: {
            openAPIV3Schema: {
              type: "object",
              description: kind.description,
              required: ["spec"],
              properties: {
                spec: { description: `What the ${kind.kind} shall be.`, ...spec },
                status: {
                  description: `What the ${kind.kind} is, as last seen.`,
                  ...structural(status, "status"),
                  // Before the operator has seen an object, tools that wait for it must not take it for finished.
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

const pending = {
  type: "Ready",
  status: "Unknown",
  reason: "Pending",
  message: "Waiting for the operator",
  lastTransitionTime: "1970-01-01T00:00:00Z",
};

function columns(kind: Kind): Json[] {
  const ready = ".status.conditions[?(@.type=='Ready')]";
  const all = [
    { name: "Ready", type: "string", path: `${ready}.status`, description: "Whether it is up to date" },
    { name: "Reason", type: "string", path: `${ready}.reason`, description: "Why it is or is not" },
    ...(kind.resource
      ? [
          { name: "State", type: "string", path: ".status.state", description: "State on the platform" },
          { name: "Id", type: "string", path: ".status.id", description: "Id on the platform" },
        ]
      : []),
    ...kind.columns,
    { name: "Age", type: "date", path: ".metadata.creationTimestamp", description: "Since when the object exists" },
  ];
  return all.map(({ name, type, path, description, ...rest }) => ({
    name,
    type,
    description,
    jsonPath: path,
    ...("wide" in rest && rest.wide ? { priority: 1 } : {}),
  }));
}

/** Rules that refuse a change of what the platform cannot change, unless replacement is allowed. */
function immutability(kind: Kind): Rule[] {
  if (!kind.resource) return [];
  const again = "delete the object and create it again";
  const replaceable = Object.entries(kind.immutable).map(([field, why]) => ({
    rule: `self.replacePolicy == 'WhenNeeded' || ${unchanged(field)}`,
    message: `${field} cannot be changed: ${why}; ${again}, or set replacePolicy: WhenNeeded`,
  }));
  const keep = "delete the object (deletionPolicy: Retain keeps the resource) and create it again";
  return [{ rule: unchanged("accountRef"), message: `accountRef cannot be changed: ${keep}` }, ...replaceable];
}

/** Nested fields are written with dots. A parent that comes or goes is another rule's business. */
function unchanged(field: string): string {
  const parents = field.split(".").slice(0, -1);
  const guards = parents.map((_, depth) => {
    const path = parents.slice(0, depth + 1).join(".");
    return `!has(self.${path}) || !has(oldSelf.${path}) || `;
  });
  const both = `has(self.${field}) == has(oldSelf.${field})`;
  return `(${guards.join("")}(${both} && (!has(self.${field}) || self.${field} == oldSelf.${field})))`;
}

/**
 * A structural schema as the API server takes it. Throws where zod can say what the API server cannot: unions (but for
 * numbers and texts that say so), tuples, `unknown`, recursion, and regular expressions with lookaround or back references.
 */
export function structural(schema: z.ZodType, path: string): Json {
  const { $schema: _, ...json } = z.toJSONSchema(schema, {
    target: "openapi-3.0",
    io: "input",
    unrepresentable: "throw",
  });
  return clean(json, path);
}

const unsupported = ["anyOf", "oneOf", "allOf", "not", "$ref", "definitions", "prefixItems", "patternProperties"];
const SAFE = Number.MAX_SAFE_INTEGER;
/** The one union that the API server knows. */
const INT_OR_STRING = "x-kubernetes-int-or-string";

function clean(node: Json, path: string): Json {
  if (node[INT_OR_STRING]) {
    const { anyOf: _, ...rest } = node;
    return rest;
  }
  for (const key of unsupported) if (key in node) throw new Error(`${path}: ${key} has no structural form`);
  if (node.type === undefined) throw new Error(`${path}: a schema without a type has no structural form`);
  const out: Json = {};
  for (const [key, value] of Object.entries(node)) {
    if (key === "properties" && isJson(value)) {
      out.properties = Object.fromEntries(
        Object.entries(value).map(([name, child]) => [name, clean(asJson(child, path), `${path}.${name}`)]),
      );
    } else if (key === "items") {
      out.items = clean(asJson(value, path), `${path}[]`);
    } else if (key === "additionalProperties") {
      if (isJson(value) && Object.keys(value).length > 0) out.additionalProperties = clean(value, `${path}{}`);
    } else if (key === "pattern" && typeof value === "string") {
      // The API server knows date-time by its format; zod's own expression for it uses what RE2 has not.
      if (node.format === "date-time") continue;
      if (/\(\?[=!<]|\\[1-9]/.test(value))
        throw new Error(`${path}: RE2 has no lookaround and no back reference: ${value}`);
      out.pattern = value;
    } else if ((key === "minimum" || key === "maximum") && Math.abs(Number(value)) === SAFE) {
    } else if (key !== "propertyNames") {
      out[key] = value;
    }
  }
  if (node.type === "integer") out.format = Number(node.maximum) <= 2 ** 31 - 1 ? "int32" : "int64";
  return out;
}

function isJson(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function asJson(value: unknown, path: string): Json {
  if (!isJson(value)) throw new Error(`${path}: not a schema`);
  return value;
}
