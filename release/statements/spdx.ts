import type { Library } from "../../image/licenses.ts";
import type { DebianPackage } from "../artifacts/debian.ts";
import type { Identity } from "../artifacts/image.ts";
import { type NodeBinary, nodePurl } from "../artifacts/node.ts";
import { sha256 } from "../formats/oci.ts";

export interface Contents {
  libraries: readonly Library[];
  nodes: readonly NodeBinary[];
  debian: readonly DebianPackage[];
}

interface Part {
  id: string;
  name: string;
  version: string;
  license: string;
  purl: string;
  checksum?: { algorithm: string; checksumValue: string };
}

/** An SBOM of a release in SPDX 2.3. */
export function spdx(identity: Identity, contents: Contents): string {
  const { version, source, seconds } = identity;
  const parts = [...contents.libraries.map(library), ...contents.nodes.map(node), ...contents.debian.map(debian)];
  const mooring = {
    id: "mooring",
    name: "mooring",
    version,
    license: "Apache-2.0",
    purl: `pkg:npm/mooring@${version}`,
  };
  const packages = [mooring, ...parts].map(spdxPackage);
  const document = {
    spdxVersion: "SPDX-2.3",
    dataLicense: "CC0-1.0",
    SPDXID: "SPDXRef-DOCUMENT",
    name: `mooring-${version}`,
    documentNamespace: `${source}/spdx/${version}-${sha256(JSON.stringify(packages)).slice(0, 16)}`,
    creationInfo: { created: rfc3339(seconds), creators: [`Tool: mooring-release-${version}`] },
    packages,
    relationships: [
      relationship("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-mooring"),
      ...parts.map(({ id }) => relationship("SPDXRef-mooring", "CONTAINS", `SPDXRef-${id}`)),
    ],
  };
  return `${JSON.stringify(document, undefined, 2)}\n`;
}

/** SPDX does not allow fractions of seconds. */
const rfc3339 = (seconds: number) => new Date(seconds * 1000).toISOString().replace(".000Z", "Z");

const relationship = (spdxElementId: string, relationshipType: string, relatedSpdxElement: string) => ({
  spdxElementId,
  relationshipType,
  relatedSpdxElement,
});

const spdxPackage = ({ id, name, version, license, purl, checksum }: Part) => ({
  SPDXID: `SPDXRef-${id}`,
  name,
  versionInfo: version,
  downloadLocation: "NOASSERTION",
  filesAnalyzed: false,
  licenseConcluded: "NOASSERTION",
  licenseDeclared: license,
  copyrightText: "NOASSERTION",
  ...(checksum && { checksums: [checksum] }),
  externalRefs: [{ referenceCategory: "PACKAGE-MANAGER", referenceType: "purl", referenceLocator: purl }],
});

/** An SPDX id: only letters, digits, dots and hyphens. */
const idOf = (...words: string[]) => words.join("-").replaceAll(/[^A-Za-z0-9.-]/g, "-");

function library({ path, name, version, license, integrity }: Library): Part {
  const [algorithm, value = ""] = integrity?.split("-") ?? [];
  const checksumValue = Buffer.from(value, "base64").toString("hex");
  return {
    id: idOf("npm", path.replaceAll("node_modules/", ""), version),
    name,
    version,
    license: license === "unknown" ? "NOASSERTION" : license,
    purl: `pkg:npm/${name.replace("@", "%40")}@${version}`,
    ...(algorithm === "sha512" && { checksum: { algorithm: "SHA512", checksumValue } }),
  };
}

const node = (binary: NodeBinary): Part => ({
  id: idOf("node", binary.platform.os, binary.platform.arch),
  name: "node",
  version: binary.version,
  license: "NOASSERTION",
  purl: nodePurl(binary),
  checksum: { algorithm: "SHA256", checksumValue: binary.sha256 },
});

const debian = ({ name, version, arch, sha256: checksumValue }: DebianPackage): Part => ({
  id: idOf("debian", name, arch),
  name,
  version,
  license: "NOASSERTION",
  purl: debianPurl({ name, version, arch }),
  checksum: { algorithm: "SHA256", checksumValue },
});

export const debianPurl = ({ name, version, arch }: Omit<DebianPackage, "sha256">): string =>
  `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${arch}`;
