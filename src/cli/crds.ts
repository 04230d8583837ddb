import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { GROUP, kinds } from "../kinds/index.ts";
import { chartFiles } from "./chart/files.ts";
import { customResourceDefinition } from "./manifests/crd.ts";
import { yaml } from "./manifests/manifests.ts";
import { metricsPage } from "./manifests/metrics-page.ts";
import { nameReferences } from "./manifests/name-references.ts";
import { referencePages } from "./manifests/reference-pages.ts";
import { toolsPage } from "./manifests/tools-page.ts";

const NOTE = "# Generated from src/kinds by `make crds`. Changes belong there.\n";

/** Every generated file by its path in the repository. A test compares them with the committed files. */
export function generatedFiles(): Map<string, string> {
  const file = (documents: object[]) => NOTE + yaml(documents);
  return new Map([
    ...kinds.map((kind) => [`crds/${GROUP}_${kind.plural}.yaml`, file([customResourceDefinition(kind)])] as const),
    ["docs/metrics.md", metricsPage()],
    ["docs/tools.md", toolsPage()],
    ...referencePages(kinds),
    ["deploy/kustomize/name-references.yaml", file([nameReferences(kinds)])],
    ...[...chartFiles(kinds)].map(([path, text]) => [`deploy/chart/${path}`, text] as const),
  ]);
}

export const usage = `usage: mooring crds [OPTION…]

Writes crds/ and the generated files of deploy/ and docs/, from src/kinds, src/operator and src/tools.

  --out DIR   output folder (default: the checkout)
  -h, --help  show this help`;

export const options = {
  out: { type: "string" },
  help: { type: "boolean", short: "h", default: false },
} as const;

/** `mooring crds`: writes the generated files into the repository, or below another folder. */
export async function crdsCommand(argv: string[]): Promise<number> {
  const { values } = parseArgs({ args: argv, options });
  if (values.help) {
    console.log(usage);
    return 0;
  }
  const root = values.out ?? fileURLToPath(new URL("../../", import.meta.url));
  const files = generatedFiles();
  for (const folder of ["crds", "deploy/chart/files/crds"]) {
    mkdirSync(join(root, folder), { recursive: true });
    for (const name of readdirSync(join(root, folder)))
      if (!files.has(`${folder}/${name}`)) rmSync(join(root, folder, name));
  }
  for (const [path, text] of files) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  console.log(`wrote ${[...files.keys()].join(", ")}`);
  return 0;
}
