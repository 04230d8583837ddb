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

/** The archive that `npm pack` makes. */
export const packForNpm = (program: readonly Entry[], seconds: number): Buffer =>
  tarGz(
    program.map((entry) => ({ ...entry, path: `package/${entry.path}` })),
    seconds,
  );

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
