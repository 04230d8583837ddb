import { z } from "zod";
import { resourceIdentity } from "../diagnostics/landscape/resources.ts";
import { valuesIn } from "../diagnostics/manifest-text.ts";
import { asJson } from "../kinds/fields/compare.ts";

/**
 * Resources that another tool manages: their names by identity, and how to make that tool release them without deleting
 * them.
 */
export interface Elsewhere {
  names: Map<string, string>;
  /** The commands that release a resource, by its identity. */
  release: Map<string, string[]>;
  /** Their addresses there, by their identity. */
  titles: Map<string, string>;
}

/** LAN numbers are unique only within a datacenter. */
export const identityIn = (id: string, datacenter: string | null | undefined): string =>
  resourceIdentity({ id, parents: { ...(datacenter && { datacenter }) } });

/** One word of a command for a shell. */
export const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;

/** The same, without quotes where none are needed. */
const word = (text: string): string => (/^[\w./-]+$/.test(text) ? text : quoted(text));

const resource = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({
    name: z.string(),
    namespace: z.string().optional(),
    annotations: z.record(z.string(), z.string()).optional(),
  }),
  spec: z.unknown().optional(),
});

/** The command after which Crossplane keeps a resource. Namespaced ones, of Crossplane 2, have no deletionPolicy. */
function patchOf(target: string, namespace: string | undefined): string {
  const place = namespace === undefined ? "" : ` -n ${word(namespace)}`;
  const spec = namespace === undefined ? { deletionPolicy: "Orphan" } : { managementPolicies: ["Observe"] };
  return `kubectl patch ${word(target)}${place} --type merge -p '${JSON.stringify({ spec })}'`;
}

/** Reads managed resources of Crossplane from files or from the output of kubectl. */
export function fromCrossplane(text: string): Elsewhere {
  const names = new Map<string, string>();
  const release = new Map<string, string[]>();
  const titles = new Map<string, string>();
  for (const value of valuesIn(text, "the Crossplane objects")) {
    const several = z.looseObject({ items: z.array(z.unknown()) }).safeParse(value);
    for (const each of several.success ? several.data.items : [value]) {
      const parsed = resource.safeParse(each);
      if (!parsed.success) continue;
      const { apiVersion, kind, metadata, spec } = parsed.data;
      const externalName = metadata.annotations?.["crossplane.io/external-name"];
      const [group = ""] = apiVersion.split("/");
      if (externalName === undefined || !group.endsWith(".crossplane.io")) continue;
      const { datacenterId } = asJson(asJson(asJson(spec).forProvider).datacenterConfig);
      const id = identityIn(externalName, typeof datacenterId === "string" ? datacenterId : undefined);
      names.set(id, metadata.name);
      const title = `${kind.toLowerCase()}.${group}/${metadata.name}`;
      titles.set(id, title);
      release.set(id, [patchOf(title, metadata.namespace)]);
    }
  }
  return { names, release, titles };
}
