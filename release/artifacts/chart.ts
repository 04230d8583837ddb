import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { parse, parseDocument } from "yaml";
import { z } from "zod";
import { createLayout, type Descriptor, mediaTypes } from "../formats/oci.ts";
import { type Entry, entriesBelow, tarGz } from "../formats/tar.ts";
import { annotationsOf, type Identity } from "./image.ts";

/** The repository and digest of an image. */
export interface PinnedImage {
  repository: string;
  digest: string;
}

/** The values of the chart that a release sets. */
interface ReleasedValues {
  image: PinnedImage;
  /** Where the pages of this version are, for the alerts. */
  docsUrl: string;
}

const metadataSchema = z.looseObject({ name: z.string(), description: z.string() });

/** The chart's files with this version and these values. Comments stay. */
export function releasedChart(folder: string, version: string, { image, docsUrl }: ReleasedValues): Entry[] {
  const edit = (content: Buffer | string, fields: [string[], string][]) => {
    const document = parseDocument(content.toString("utf8"));
    for (const [path, value] of fields) {
      if (!document.hasIn(path)) throw new Error(`the chart has no ${path.join(".")}`);
      document.setIn(path, value);
    }
    return document.toString({ lineWidth: 0 });
  };
  const edits: Record<string, [string[], string][]> = {
    "Chart.yaml": [
      [["version"], version],
      [["appVersion"], version],
    ],
    "values.yaml": [
      [["image", "repository"], image.repository],
      [["image", "digest"], image.digest],
      [["docsUrl"], docsUrl],
    ],
  };
  return entriesBelow(folder).map((entry) => {
    const fields = edits[entry.path];
    return fields ? { ...entry, content: edit(entry.content, fields) } : entry;
  });
}

/** The archive that `helm package` makes: one folder with the chart's name. */
export const packChart = (chart: readonly Entry[], seconds: number): Buffer =>
  tarGz(
    chart.map((entry) => ({ ...entry, path: `mooring/${entry.path}` })),
    seconds,
  );

/** Writes the chart as the OCI artifact that `helm push` makes. */
export function writeChartArtifact(
  folder: string,
  chart: readonly Entry[],
  archive: Buffer,
  identity: Identity,
): Descriptor {
  const layout = createLayout(folder);
  const text = chart.find(({ path }) => path === "Chart.yaml")?.content.toString("utf8") ?? "";
  const metadata = metadataSchema.parse(parse(text));
  const manifest = {
    schemaVersion: 2,
    mediaType: mediaTypes.manifest,
    config: layout.json(metadata, mediaTypes.chartConfig),
    layers: [layout.blob(archive, mediaTypes.chart)],
    annotations: {
      "org.opencontainers.image.title": metadata.name,
      "org.opencontainers.image.description": metadata.description,
      "org.opencontainers.image.created": new Date(identity.seconds * 1000).toISOString(),
      ...annotationsOf(identity),
    },
  };
  const descriptor = layout.json(manifest, mediaTypes.manifest);
  layout.tag(descriptor, identity.version);
  return descriptor;
}

/** The manifests for `kubectl apply`, without Helm. */
export function renderInstall(helm: string, archive: string, values: string): string {
  const args = ["template", "mooring", archive, "--namespace", "mooring-system", "--values", values];
  return execFileSync(helm, args, { encoding: "utf8", maxBuffer: 2 ** 28 });
}

export const installValues = (root: string): string => join(root, "deploy/chart/install-values.yaml");
