import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { valuesIn } from "../../../diagnostics/manifest-text.ts";

/** The fields that identify the object of a manifest. */
const manifest = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string(), namespace: z.string().optional() }),
});
const list = z.looseObject({ kind: z.string().regex(/List$/), items: z.array(z.unknown()) });
export type Manifest = z.output<typeof manifest>;

/** All objects in files, in the YAML and JSON files of folders, and in stdin for "-". */
export function manifestsIn(paths: readonly string[], stdin: () => string = () => readFileSync(0, "utf8")): Manifest[] {
  return paths.flatMap((path) => {
    if (path === "-") return objectsIn(stdin(), "stdin");
    if (!existsSync(path)) throw new Error(`${path} does not exist`);
    if (!statSync(path).isDirectory()) return objectsIn(readFileSync(path, "utf8"), path);
    const files = readdirSync(path).filter((name) => /\.(ya?ml|json)$/.test(name));
    if (files.length === 0) throw new Error(`${path} has no .yaml, .yml or .json files`);
    return files.sort().flatMap((name) => objectsIn(readFileSync(join(path, name), "utf8"), join(path, name)));
  });
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
