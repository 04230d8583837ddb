import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

export const mediaTypes = {
  index: "application/vnd.oci.image.index.v1+json",
  manifest: "application/vnd.oci.image.manifest.v1+json",
  config: "application/vnd.oci.image.config.v1+json",
  layer: "application/vnd.oci.image.layer.v1.tar+gzip",
  chartConfig: "application/vnd.cncf.helm.config.v1+json",
  chart: "application/vnd.cncf.helm.chart.content.v1.tar+gzip",
  signature: "application/vnd.dev.cosign.simplesigning.v1+json",
};

const descriptorSchema = z.object({
  mediaType: z.string(),
  digest: z.string().regex(/^sha256:[0-9a-f]{64}$/),
  size: z.int(),
  annotations: z.record(z.string(), z.string()).optional(),
  platform: z.object({ architecture: z.string(), os: z.string() }).optional(),
});
export type Descriptor = z.infer<typeof descriptorSchema>;

const indexSchema = z.object({ manifests: z.array(descriptorSchema) });
const manifestSchema = z.object({ config: descriptorSchema, layers: z.array(descriptorSchema) });

export const sha256 = (content: Buffer | string): string => createHash("sha256").update(content).digest("hex");

/** The annotation with the tag of a manifest in a layout. */
const REF_NAME = "org.opencontainers.image.ref.name";

/** A folder in the OCI image layout, with images or artifacts. */
export interface Layout {
  folder: string;
  /** Adds content and returns its descriptor. */
  blob(content: Buffer | string, mediaType: string): Descriptor;
  json(value: object, mediaType: string): Descriptor;
  /** Adds a manifest or index under a tag. */
  tag(manifest: Descriptor, tag: string): void;
}

export function createLayout(folder: string): Layout {
  mkdirSync(join(folder, "blobs/sha256"), { recursive: true });
  writeFileSync(join(folder, "oci-layout"), JSON.stringify({ imageLayoutVersion: "1.0.0" }));
  const manifests: Descriptor[] = [];
  const blob = (content: Buffer | string, mediaType: string): Descriptor => {
    const hex = sha256(content);
    writeFileSync(join(folder, "blobs/sha256", hex), content);
    return { mediaType, digest: `sha256:${hex}`, size: Buffer.byteLength(content) };
  };
  return {
    folder,
    blob,
    json: (value, mediaType) => blob(JSON.stringify(value), mediaType),
    tag(manifest, tag) {
      manifests.push({ ...manifest, annotations: { ...manifest.annotations, [REF_NAME]: tag } });
      const index = { schemaVersion: 2, mediaType: mediaTypes.index, manifests };
      writeFileSync(join(folder, "index.json"), JSON.stringify(index));
    },
  };
}

/** A manifest in the order that a registry requires: after the blobs and manifests that it refers to. */
export interface Push {
  manifest: Descriptor;
  content: Buffer;
  blobs: Descriptor[];
  /** Absent: the manifest is part of an index. */
  tag?: string;
}

export const readBlob = (folder: string, { digest }: Descriptor): Buffer =>
  readFileSync(join(folder, "blobs", digest.replace(":", "/")));

/** All manifests of a layout with a tag, and those that they refer to. */
export function readLayout(folder: string): Push[] {
  const { manifests } = indexSchema.parse(JSON.parse(readFileSync(join(folder, "index.json"), "utf8")));
  return manifests.flatMap((manifest) => {
    const tag = manifest.annotations?.[REF_NAME];
    const all = withParts(folder, manifest);
    return all.map((push) => (push.manifest === manifest && tag !== undefined ? { ...push, tag } : push));
  });
}

function withParts(folder: string, manifest: Descriptor): Push[] {
  const content = readBlob(folder, manifest);
  const parsed: unknown = JSON.parse(content.toString("utf8"));
  if (manifest.mediaType === mediaTypes.index) {
    const parts = indexSchema.parse(parsed).manifests.flatMap((part) => withParts(folder, part));
    return [...parts, { manifest, content, blobs: [] }];
  }
  const { config, layers } = manifestSchema.parse(parsed);
  return [{ manifest, content, blobs: [config, ...layers] }];
}
