import type { Identity } from "../artifacts/image.ts";
import { nodePurl } from "../artifacts/node.ts";
import type { Contents } from "./spdx.ts";
import { debianPurl } from "./spdx.ts";

export interface Subject {
  name: string;
  digest: { sha256: string };
}

/**
 * The provenance of a release as an in-toto statement with the SLSA predicate. It contains no time and no run number,
 * so that two builds of one commit are equal.
 */
export function provenance(
  identity: Identity,
  parameters: Record<string, string>,
  contents: Contents & { lockfile: string },
  subject: readonly Subject[],
): string {
  const { source, revision, version } = identity;
  const statement = {
    _type: "https://in-toto.io/Statement/v1",
    subject,
    predicateType: "https://slsa.dev/provenance/v1",
    predicate: {
      buildDefinition: {
        buildType: `${source}/blob/${revision}/docs/release.md`,
        externalParameters: { version, ...parameters },
        internalParameters: {},
        resolvedDependencies: [
          { uri: `git+${source}@${revision}`, digest: { gitCommit: revision } },
          { name: "package-lock.json", digest: { sha256: contents.lockfile } },
          ...contents.nodes.map((node) => ({ uri: nodePurl(node), digest: { sha256: node.sha256 } })),
          ...contents.debian.map(({ sha256, ...named }) => ({ uri: debianPurl(named), digest: { sha256 } })),
        ],
      },
      runDetails: { builder: { id: `${source}/blob/${revision}/release/main.ts` } },
    },
  };
  return `${JSON.stringify(statement, undefined, 2)}\n`;
}
