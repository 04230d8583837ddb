import { z } from "zod";
import { valuesIn } from "../diagnostics/manifest-text.ts";

/**
 * Resources that another tool manages: their names by id, and how to make that tool release them without deleting them.
 */
export interface Elsewhere {
  names: Map<string, string>;
  /** The command that releases a resource, by its id. */
  release: Map<string, string>;
}

const state = z.looseObject({
  resources: z.array(
    z.looseObject({
      mode: z.string().optional(),
      module: z.string().optional(),
      type: z.string(),
      name: z.string(),
      instances: z.array(
        z.looseObject({
          index_key: z.union([z.string(), z.number()]).optional(),
          attributes: z.looseObject({ id: z.string().nullish() }).nullish(),
        }),
      ),
    }),
  ),
});

/** Reads a state file of Terraform or OpenTofu, version 4. Only addresses and ids are used. */
export function fromTerraform(text: string): Elsewhere {
  let raw: unknown;
  try {
    raw = JSON.parse(text);
  } catch {
    throw new Error("--from-terraform: the file is not JSON: give a state file, or the output of terraform state pull");
  }
  const parsed = state.safeParse(raw);
  if (!parsed.success) throw new Error("--from-terraform: the file is not a state of version 4: it has no resources");
  const names = new Map<string, string>();
  const release = new Map<string, string>();
  for (const { mode = "managed", module, type, name, instances } of parsed.data.resources) {
    if (mode !== "managed" || !type.startsWith("ionoscloud_")) continue;
    for (const { index_key: key, attributes } of instances) {
      const id = attributes?.id;
      if (id == null) continue;
      const index = key === undefined ? "" : `[${JSON.stringify(key)}]`;
      names.set(id, key === undefined ? name : `${name}-${key}`);
      release.set(id, `terraform state rm '${module === undefined ? "" : `${module}.`}${type}.${name}${index}'`);
    }
  }
  return { names, release };
}

const resource = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({
    name: z.string(),
    annotations: z.record(z.string(), z.string()).optional(),
  }),
});

/** Reads managed resources of Crossplane from files or from the output of kubectl. */
export function fromCrossplane(text: string): Elsewhere {
  const names = new Map<string, string>();
  const release = new Map<string, string>();
  for (const value of valuesIn(text, "the Crossplane objects")) {
    const several = z.looseObject({ items: z.array(z.unknown()) }).safeParse(value);
    for (const each of several.success ? several.data.items : [value]) {
      const parsed = resource.safeParse(each);
      if (!parsed.success) continue;
      const { apiVersion, kind, metadata } = parsed.data;
      const id = metadata.annotations?.["crossplane.io/external-name"];
      const [group = ""] = apiVersion.split("/");
      if (id === undefined || !group.endsWith(".crossplane.io")) continue;
      names.set(id, metadata.name);
      const target = `${kind.toLowerCase()}.${group}/${metadata.name}`;
      release.set(id, `kubectl patch ${target} --type merge -p '{"spec":{"deletionPolicy":"Orphan"}}'`);
    }
  }
  return { names, release };
}
