import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { createLayout, type Descriptor, mediaTypes, sha256 } from "../formats/oci.ts";
import { type Entry, tar } from "../formats/tar.ts";
import type { System } from "./debian.ts";
import type { NodeBinary } from "./node.ts";

/** The identity of a release in all its statements. */
export interface Identity {
  version: string;
  revision: string;
  /** Address of the source. */
  source: string;
  /** Time of the last source change, in seconds. */
  seconds: number;
}

export interface ImageParts {
  /** Node and its system libraries, for each platform. */
  bases: { node: NodeBinary; system: System }[];
  /** Files below /app. */
  app: Entry[];
  dockerfile: string;
}

/** The files of the program that are in the image, as the Dockerfile copies them. */
export const imageFiles = (program: readonly Entry[]): Entry[] =>
  program.filter(({ path }) => /^(dist\/|package\.json$|LICENSE$)/.test(path));

/** Writes a multi-platform image into an OCI layout, and returns its descriptor. */
export function writeImage(folder: string, parts: ImageParts, identity: Identity): Descriptor {
  const layout = createLayout(folder);
  const { config, labels } = settingsOf(parts.dockerfile);
  const created = new Date(identity.seconds * 1000).toISOString();
  const annotations = { ...labels, ...annotationsOf(identity) };
  const layer = (entries: Entry[]) => {
    const content = tar(entries, identity.seconds);
    return { blob: layout.blob(gzipSync(content), mediaTypes.layer), diff: `sha256:${sha256(content)}` };
  };
  const app = layer(parts.app.map((entry) => ({ ...entry, path: `app/${entry.path}` })));
  const manifests = parts.bases.map(({ node, system }) => {
    const layers = [layer([...system.entries, ...nodeEntries(node), ...users]), app];
    const { os, arch: architecture } = node.platform;
    const settings = {
      created,
      architecture,
      os,
      config: { ...config, Labels: { ...annotations, "org.opencontainers.image.created": created } },
      rootfs: { type: "layers", diff_ids: layers.map(({ diff }) => diff) },
      history: [
        { created, comment: `Node ${node.version} and its libraries` },
        { created, comment: `Mooring ${identity.version}` },
      ],
    };
    const manifest = {
      schemaVersion: 2,
      mediaType: mediaTypes.manifest,
      config: layout.json(settings, mediaTypes.config),
      layers: layers.map(({ blob }) => blob),
      annotations,
    };
    return { ...layout.json(manifest, mediaTypes.manifest), platform: { architecture, os } };
  });
  const index = layout.json(
    { schemaVersion: 2, mediaType: mediaTypes.index, manifests, annotations },
    mediaTypes.index,
  );
  layout.tag(index, identity.version);
  return index;
}

export const annotationsOf = ({ version, revision, source }: Identity): Record<string, string> => ({
  "org.opencontainers.image.version": version,
  "org.opencontainers.image.revision": revision,
  "org.opencontainers.image.source": source,
});

const nodeEntries = ({ path, license }: NodeBinary): Entry[] => [
  { path: "usr/local/bin/node", content: readFileSync(path), executable: true },
  { path: "usr/share/doc/node/copyright", content: license },
];

/** The same entries as in image/root. */
const users: Entry[] = [
  { path: "etc/passwd", content: "mooring:x:65532:65532::/app:/usr/sbin/nologin\n" },
  { path: "etc/group", content: "mooring:x:65532:\n" },
  { path: "etc/nsswitch.conf", content: "hosts: files dns\n" },
];

/** The run settings of the image, read from the last stage of the Dockerfile. */
export function settingsOf(dockerfile: string) {
  const stage =
    dockerfile
      .replaceAll("\\\n", " ")
      .split(/^FROM /m)
      .at(-1) ?? "";
  const words = (name: string) =>
    [...stage.matchAll(new RegExp(`^${name} (.*)$`, "gm"))].map(([, rest = ""]) => rest.trim());
  const list = (name: string): string[] => JSON.parse(words(name)[0] ?? "[]");
  const pairs = [
    ...words("LABEL")
      .join(" ")
      .matchAll(/([\w.]+)="([^"]*)"/g),
  ];
  return {
    config: {
      User: words("USER")[0] ?? "",
      WorkingDir: words("WORKDIR")[0] ?? "",
      Env: ["PATH=/usr/local/bin", ...words("ENV").flatMap((line) => line.split(/\s+/))],
      Entrypoint: list("ENTRYPOINT"),
      Cmd: list("CMD"),
    },
    labels: Object.fromEntries(pairs.map(([, name = "", value = ""]) => [name, value])),
  };
}
