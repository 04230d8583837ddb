import { z } from "zod";
import { checkFields, valuesIn } from "../../diagnostics/manifest-text.ts";
import { GROUP, kinds } from "../../kinds/index.ts";
import type { Kind } from "../../kinds/kind.ts";
import { type KubeObject, nameProblem } from "../../kube/resource.ts";

/** An object of Mooring in a file. */
export interface Manifest {
  kind: Kind;
  object: KubeObject;
  /** Why the API server refuses its metadata. */
  problem?: string;
}

export interface Manifests {
  objects: Manifest[];
  /** Other objects in the files. The plan does not cover them. */
  others: string[];
  /** Namespaces that the files create. */
  namespaces: string[];
}

const document = z.looseObject({ apiVersion: z.string(), kind: z.string(), metadata: z.unknown() });
const labels = z.record(z.string(), z.string()).optional();
const objectMeta = z.looseObject({
  name: z.string().min(1),
  namespace: z.string().optional(),
  labels,
  annotations: labels,
});
/** The part of invalid metadata that says which object it is. */
const partOfMeta = z.object({
  name: z.string().min(1).optional().catch(undefined),
  namespace: z.string().optional().catch(undefined),
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
    for (const [nth, value] of documentsIn(text, from).entries()) {
      const parsed = document.safeParse(value);
      if (!parsed.success) throw new Error(`${from}: ${wrong(parsed.error)}`);
      const { apiVersion, kind: word, metadata: raw } = parsed.data;
      const read = objectMeta.safeParse(raw ?? {});
      const known = read.success ? read.data : partOfMeta.parse(Object(raw));
      const { name = `(document ${nth + 1} of ${from})`, namespace: own = namespace, ...rest } = known;
      const kind = kinds.find((each) => each.kind === word);
      if (!apiVersion.startsWith(`${GROUP}/`)) {
        others.push(`${word} ${name}`);
        if (apiVersion === "v1" && word === "Namespace") namespaces.push(name);
        continue;
      }
      if (!kind) throw new Error(`${from}: there is no kind ${word} in ${GROUP}; this version does not know it`);
      checkFields(value, from);
      const metadata = { ...rest, name, ...(kind.scope !== "Cluster" && { namespace: own }) };
      const problem = read.success ? nameProblem(metadata) : `metadata.${wrong(read.error)}`;
      const object: KubeObject = { ...parsed.data, metadata };
      found.set(`${word}/${own}/${name}`, { kind, object, ...(problem !== undefined && { problem }) });
    }
  }
  return { objects: [...found.values()], others, namespaces };
}

const documentsIn = (text: string, from: string): unknown[] =>
  valuesIn(text, from)
    .filter((value) => value != null)
    .flatMap((value) => list.safeParse(value).data?.items ?? [value]);

function wrong({ issues }: z.ZodError): string {
  const [issue] = issues;
  return `${issue?.path.join(".") || "a document"}: ${issue?.message ?? "is not a Kubernetes object"}`;
}
