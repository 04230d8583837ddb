import { execFileSync } from "node:child_process";
import { globSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { type Entry, tarGz } from "../formats/tar.ts";

const packageSchema = z.looseObject({ version: z.string(), files: z.array(z.string()) });

/**
 * Fields of package.json that only a checkout needs. The bundle contains all libraries, so nothing is installed with
 * it.
 */
const ofCheckout = ["dependencies", "devDependencies", "scripts", "allowScripts", "overrides", "config"];

/** The package.json of a release. */
export function releasedPackage(root: string, version: string): string {
  const all = packageSchema.parse(JSON.parse(readFileSync(join(root, "package.json"), "utf8")));
  const kept = Object.entries({ ...all, version }).filter(([name]) => !ofCheckout.includes(name));
  return `${JSON.stringify(Object.fromEntries(kept), undefined, 2)}\n`;
}

/** The command without a checkout: the bundle, and the files that package.json lists. */
export function programFiles(root: string, bundle: readonly Entry[], version: string): Entry[] {
  const { files } = packageSchema.parse(JSON.parse(readFileSync(join(root, "package.json"), "utf8")));
  const patterns = files.filter((pattern) => !pattern.startsWith("dist")).flatMap((each) => [each, `${each}/**`]);
  const paths = [...new Set(globSync(patterns, { cwd: root }))].filter((path) => statSync(join(root, path)).isFile());
  return [
    { path: "package.json", content: releasedPackage(root, version) },
    ...bundle.map((entry) => ({ ...entry, path: `dist/${entry.path}`, executable: entry.path === "main.js" })),
    ...paths.map((path) => ({ path, content: readFileSync(join(root, path)) })),
  ];
}

/** The first file that an older Node cannot read would end with a SyntaxError that explains nothing. */
const LAUNCHER = "start.cjs";
const launcher = (oldest: string): string => `#!/usr/bin/env node
var node = process.versions.node;
if (Number(node.split(".")[0]) >= ${oldest}) {
  process.argv[1] = require.resolve("./dist/main.js");
  import("./dist/main.js");
} else {
  console.error("mooring: Node ${oldest} or newer is needed, and this one is " + node);
  process.exitCode = 1;
}
`;

const npmSchema = z.looseObject({
  bin: z.record(z.string(), z.string()),
  engines: z.object({ node: z.templateLiteral([">=", z.string().regex(/^\d+$/)]) }),
});

/** The archive that `npm pack` makes. */
export function packForNpm(program: readonly Entry[], seconds: number): Buffer {
  const packageJson = program.find(({ path }) => path === "package.json");
  const described = npmSchema.parse(JSON.parse(String(packageJson?.content)));
  const bin = Object.fromEntries(Object.keys(described.bin).map((command) => [command, LAUNCHER]));
  const entries = [
    { path: "package.json", content: `${JSON.stringify({ ...described, bin }, undefined, 2)}\n` },
    { path: LAUNCHER, content: launcher(described.engines.node.slice(2)), executable: true },
    ...program.filter((entry) => entry !== packageJson),
  ];
  return tarGz(
    entries.map((entry) => ({ ...entry, path: `package/${entry.path}` })),
    seconds,
  );
}

const shells = { bash: "mooring.bash", zsh: "_mooring", fish: "mooring.fish" };

/** The completion script of each shell, as the command prints it. */
export function completions(main: string): Entry[] {
  return Object.entries(shells).flatMap(([shell, path]) => {
    try {
      const content = execFileSync(process.execPath, [main, "completion", shell], {
        stdio: ["ignore", "pipe", "ignore"],
      });
      return [{ path: `completions/${path}`, content }];
    } catch {
      return [];
    }
  });
}
