import { z } from "zod";
import { valuesIn } from "../../../diagnostics/manifest-text.ts";
import { filesAt, manifestBudget, type Source, stdinText } from "../../frame/manifest-source.ts";

/** The fields that identify the object of a manifest. */
const manifest = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string(), namespace: z.string().optional() }),
});
const list = z.looseObject({ kind: z.string().regex(/List$/), items: z.array(z.unknown()) });
export type Manifest = z.output<typeof manifest>;

/** All objects in files, in the YAML and JSON files of folders, and in stdin for "-". */
export async function manifestsIn(
  paths: readonly string[],
  { stdin = process.stdin, signal }: { stdin?: AsyncIterable<Buffer | string>; signal?: AbortSignal } = {},
): Promise<Manifest[]> {
  const budget = manifestBudget();
  const all: Source[] = [];
  for (const path of paths) {
    const isStdin = path === "-";
    const sources = isStdin
      ? [{ from: "stdin", text: await stdinText(budget, stdin) }]
      : await filesAt(path, budget, { signal });
    if (sources.length === 0) throw new Error(`${path} has no .yaml, .yml or .json files`);
    all.push(...sources);
  }
  return all.flatMap(({ text, from }) => objectsIn(text, from));
}

function objectsIn(text: string, from: string): Manifest[] {
  return valuesIn(text, from).flatMap((value) => {
    if (value === null || value === undefined) return [];
    const whole = list.safeParse(value);
    return (whole.success ? whole.data.items : [value]).map((each) => {
      const read = manifest.safeParse(each);
      if (read.success) return read.data;
      throw new Error(`${from}: a document is not a Kubernetes object: it needs apiVersion, kind and metadata.name`);
    });
  });
}
