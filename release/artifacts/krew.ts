import { stringify } from "yaml";
import type { Platform } from "./node.ts";

export interface KrewArchive {
  platform: Platform;
  file: string;
  sha256: string;
}

export interface KrewPlugin {
  version: string;
  homepage: string;
  description: string;
  /** The base address of the downloads of this release. */
  downloads: string;
  archives: readonly KrewArchive[];
}

export const krewManifest = ({ version, homepage, description, downloads, archives }: KrewPlugin): string =>
  stringify({
    apiVersion: "krew.googlecontainertools.github.com/v1alpha2",
    kind: "Plugin",
    metadata: { name: "mooring" },
    spec: {
      version: `v${version}`,
      homepage,
      shortDescription: "Look after cloud resources managed by Mooring",
      description: `${description}.\nThe plugin is the whole command: run "kubectl mooring help".\n`,
      platforms: archives.map(({ platform: { os, arch }, file, sha256 }) => ({
        selector: { matchLabels: { os, arch } },
        uri: `${downloads}/${file}`,
        sha256,
        bin: "mooring",
      })),
    },
  });
