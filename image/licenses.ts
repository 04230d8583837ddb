import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

const lockSchema = z.object({
  packages: z.record(
    z.string(),
    z.object({
      version: z.string(),
      dev: z.boolean().optional(),
      license: z.string().optional(),
      integrity: z.string().optional(),
    }),
  ),
});

export interface Library {
  /** Its folder, relative to the checkout. */
  path: string;
  name: string;
  version: string;
  license: string;
  /** The integrity of its archive in the lock file. */
  integrity: string | undefined;
}

/** The production libraries in the lock file. */
export function librariesOf(root: string): Library[] {
  const { packages } = lockSchema.parse(JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")));
  return Object.entries(packages)
    .filter(([path, { dev }]) => path !== "" && !dev && existsSync(join(root, path)))
    .map(([path, { version, license = "unknown", integrity }]) => {
      return { path, name: nameOf(path), version, license, integrity };
    });
}

/** A list of names, versions and licenses, followed by the license texts. */
export function licensesOf(root: string): string {
  const installed = librariesOf(root).map((library) => ({ ...library, name: `${library.name} ${library.version}` }));
  const list = installed.map(({ name, license }) => `${name}: ${license}`);
  const texts = installed.flatMap(({ path, name }) => {
    const text = textOf(join(root, path));
    return text === undefined ? [] : [`${"=".repeat(80)}\n${name}\n\n${text}`];
  });
  return `${["Libraries in Mooring and their licenses", "", ...list, "", ...texts].join("\n")}\n`;
}

const nameOf = (path: string): string => path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);

function textOf(folder: string): string | undefined {
  const file = readdirSync(folder).find((name) => /^licen[cs]e/i.test(name));
  return file === undefined ? undefined : readFileSync(join(folder, file), "utf8").trim();
}
