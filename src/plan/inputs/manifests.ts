import { z } from "zod";
import { checkFields, valuesIn } from "../../diagnostics/manifest-text.ts";
import { GROUP, kinds } from "../../kinds/index.ts";
import type { Kind } from "../../kinds/kind.ts";
import type { KubeObject } from "../../kube/resource.ts";

/** An object of Mooring in a file. */
export interface Manifest {
  kind: Kind;
  object: KubeObject;
}

export interface Manifests {
  objects: Manifest[];
  /** Other objects in the files. The plan does not cover them. */
  others: string[];
  /** Namespaces that the files create. */
  namespaces: string[];
}

const labels = z.record(z.string(), z.string()).optional();
const document = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string().min(1), namespace: z.string().optional(), labels, annotations: labels }),
});
const list = z.looseObject({ kind: z.string().endsWith("List"), items: z.array(z.unknown()) });

/**
 * The objects of YAML or JSON texts. Errors name `from`. Of two objects with the same name the last one counts, as with
 * apply.
 */
export function manifestsIn(texts: readonly { from: string; text: string }[], namespace: string): Manifests {
  const found = new Map<string, Manifest>();
  const others: string[] = [];
  const namespaces: string[] = [];
  for (const { from, text } of texts) {
    for (const value of documentsIn(text, from)) {
      const parsed = document.safeParse(value);
      if (!parsed.success) throw new Error(`${from}: ${wrong(parsed.error)}`);
      const { apiVersion, kind: word, metadata } = parsed.data;
      const kind = kinds.find((each) => each.kind === word);
      if (!apiVersion.startsWith(`${GROUP}/`)) {
        others.push(`${word} ${metadata.name}`);
        if (apiVersion === "v1" && word === "Namespace") namespaces.push(metadata.name);
        continue;
      }
      if (!kind) throw new Error(`${from}: there is no kind ${word} in ${GROUP}; this version does not know it`);
      checkFields(value, from);
      const { namespace: own = namespace, ...rest } = metadata;
      const placed = kind.scope === "Cluster" ? rest : { ...rest, namespace: own };
      found.set(`${word}/${own}/${metadata.name}`, {
        kind,
        object: { ...parsed.data, metadata: placed } as KubeObject,
      });
    }
  }
  return { objects: [...found.values()], others, namespaces };
}

function* documentsIn(text: string, from: string): Generator<unknown> {
  for (const value of valuesIn(text, from)) {
    if (value == null) continue;
    const several = list.safeParse(value);
    yield* several.success ? several.data.items : [value];
  }
}

function wrong({ issues }: z.ZodError): string {
  const [issue] = issues;
  return `${issue?.path.join(".") || "a document"}: ${issue?.message ?? "is not a Kubernetes object"}`;
}
