import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { until } from "../cluster/chaos/wait.ts";

const gvk = z.object({ group: z.string(), version: z.string(), kind: z.string() });
const document = z.object({
  components: z.object({ schemas: z.record(z.string(), z.record(z.string(), z.unknown())) }),
});
const index = z.object({ paths: z.record(z.string(), z.object({ serverRelativeURL: z.string() })) });
const MARK = "x-kubernetes-group-version-kind";

/**
 * Writes the schemas of an API server for kubeconform, one file per kind; unknown fields are refused. `get` reads a
 * path of the API server. It lists new CRDs some time after it serves them, so `kinds` must be present.
 */
export async function writeSchemas(
  folder: string,
  get: (path: string) => Promise<string>,
  kinds: readonly string[],
): Promise<void> {
  mkdirSync(folder, { recursive: true });
  await until(
    async () => {
      const written = await writeAll(folder, get);
      const missing = kinds.filter((kind) => !written.has(kind));
      return missing.length === 0 ? undefined : `no schema of ${missing.join(", ")}`;
    },
    { title: "OpenAPI" },
  );
}

/** The kinds whose schema was written. */
async function writeAll(folder: string, get: (path: string) => Promise<string>): Promise<Set<string>> {
  const written = new Set<string>();
  const { paths } = index.parse(JSON.parse(await get("/openapi/v3")));
  const groups = Object.keys(paths).filter((path) => /^apis?\/.*v\d/.test(path));
  for (const group of groups) {
    const text = await get(paths[group]?.serverRelativeURL ?? "");
    const { schemas } = document.parse(
      JSON.parse(text.replaceAll("#/components/schemas/", "#/definitions/")),
    ).components;
    for (const schema of Object.values(schemas)) {
      if (schema.properties && !schema.additionalProperties) schema.additionalProperties = false;
    }
    for (const schema of Object.values(schemas)) {
      const kinds = z.array(gvk).catch([]).parse(schema[MARK]);
      const [own] = kinds;
      if (kinds.length !== 1 || !own) continue;
      const name = [own.kind, own.group.split(".")[0], own.version].filter(Boolean).join("-").toLowerCase();
      writeFileSync(join(folder, `${name}.json`), JSON.stringify({ ...schema, definitions: schemas }));
      written.add(own.kind);
    }
  }
  return written;
}

/** The location of the schemas for kubeconform. */
export const schemaLocation = (folder: string): string => join(folder, "{{ .ResourceKind }}{{ .KindSuffix }}.json");
