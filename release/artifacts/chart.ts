import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { parse, parseDocument, stringify } from "yaml";
import { z } from "zod";
import { createLayout, type Descriptor, mediaTypes } from "../formats/oci.ts";
import { type Entry, entriesBelow, tarGz } from "../formats/tar.ts";
import { withAddresses } from "../statements/links.ts";
import { annotationsOf, type Identity } from "./image.ts";

/** The repository and digest of an image. */
export interface PinnedImage {
  repository: string;
  digest: string;
}

/** The values and addresses that a release adds to the chart. */
interface Released {
  image: PinnedImage;
  /** Where the pages of this version are, for the alerts. */
  docsUrl: string;
  home: string;
  /** Where the chart is published. */
  repository: string;
}

const metadataSchema = z.looseObject({ name: z.string(), description: z.string() });

/** The sentences that are true of a checkout only, and those of a release. */
const sentences = (version: string, repository: string): [string, string][] => [
  [" The default is a placeholder: no image is published yet.", ""],
  ["First [build the image](../../docs/image.md) and push it: none is published yet. ", ""],
  ["helm install mooring deploy/chart ", `helm install mooring oci://${repository} --version ${version} `],
  [" --set image.repository=registry.example.com/team/mooring", ""],
];

/** The chart's files with this version and these values. Comments stay. */
export function releasedChart(folder: string, identity: Identity, released: Released): Entry[] {
  const { version, source } = identity;
  const { image, docsUrl, home, repository } = released;
  const values: [string[], string][] = [
    [["image", "repository"], image.repository],
    [["image", "digest"], image.digest],
    [["docsUrl"], docsUrl],
  ];
  const edits: Record<string, (text: string) => string> = {
    "Chart.yaml": (text) =>
      withFields(text, [
        [["version"], version],
        [["appVersion"], version],
      ]) + stringify({ home, sources: [source] }),
    "values.yaml": (text) => withFields(text, values),
    "values.schema.json": (text) => text,
    "README.md": (text) => withAddresses(withDefaults(text, values), "deploy/chart", identity),
  };
  const told = (text: string) =>
    sentences(version, repository).reduce((all, [before, after]) => all.replaceAll(before, after), text);
  return entriesBelow(folder).map((entry) => {
    const edit = edits[entry.path];
    return edit ? { ...entry, content: edit(told(entry.content.toString("utf8"))) } : entry;
  });
}

function withFields(text: string, fields: readonly [string[], string][]): string {
  const document = parseDocument(text);
  for (const [path, value] of fields) {
    if (!document.hasIn(path)) throw new Error(`the chart has no ${path.join(".")}`);
    document.setIn(path, value);
  }
  return document.toString({ lineWidth: 0 });
}

/** The table of values, with these defaults. */
const withDefaults = (text: string, values: readonly [string[], string][]): string =>
  values.reduce((all, [path, value]) => {
    const row = new RegExp(`^(\\| \`${path.join("\\.")}\` \\| )\`"[^"]*"\``, "m");
    return all.replace(row, (_, name) => `${name}\`"${value}"\``);
  }, text);

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
