import { z } from "zod";
import type { Storage } from "./build.ts";
import type { Contents } from "./contents.ts";

const npmSchema = z.looseObject({
  serialNumber: z.string(),
  metadata: z.looseObject({ timestamp: z.string(), component: z.looseObject({ name: z.string() }) }),
  components: z.array(z.looseObject({})),
});

/** A CycloneDX SBOM of an image: the libraries of the lock file, Node, and Debian packages. */
export async function sbomOf({ run }: Storage, { packages }: Contents, date: Date): Promise<string> {
  const asked = ["--sbom-format", "cyclonedx", "--omit", "dev", "--package-lock-only", "--loglevel=error"];
  const { serialNumber: _, ...npmSbom } = npmSchema.parse(JSON.parse(await run("npm", "sbom", ...asked)));
  const component = (type: string, name: string, version: string, purl: string) => ({ type, name, version, purl });
  const node = process.versions.node;
  const others = [
    component("platform", "node", node, `pkg:generic/node@${node}`),
    ...[...packages].map(([name, version]) =>
      component("library", name, version, `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}`),
    ),
  ];
  // npm includes the folder name, the time and a random number, which must not differ between builds.
  const metadata = { ...npmSbom.metadata, timestamp: date.toISOString() };
  metadata.component = { ...metadata.component, type: "application", name: "mooring" };
  return `${JSON.stringify({ ...npmSbom, metadata, components: [...npmSbom.components, ...others] }, undefined, 2)}\n`;
}
