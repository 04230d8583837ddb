import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { sourceDate } from "../image/build.ts";
import type { Identity } from "./artifacts/image.ts";

const packageSchema = z.object({
  description: z.string(),
  homepage: z.string(),
  repository: z.object({ url: z.string() }),
  config: z.object({ registry: z.string(), downloads: z.string(), docs: z.string() }),
});

/** The addresses of the project and its releases in package.json. */
export interface Project {
  description: string;
  homepage: string;
  source: string;
  registry: string;
  downloads: string;
  docs: string;
}

export function readProject(root: string): Project {
  const text = readFileSync(join(root, "package.json"), "utf8");
  const { description, homepage, repository, config } = packageSchema.parse(JSON.parse(text));
  const source = repository.url.replace(/^git\+/, "").replace(/\.git$/, "");
  return { description, homepage, source, ...config };
}

/** Without build metadata, because labels and tags cannot contain "+". */
export const isVersion = (text: string): boolean => /^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/.test(text);

const git = (root: string, ...args: string[]) => execFileSync("git", args, { cwd: root, encoding: "utf8" }).trim();

/** The checked out commit; marked if files were changed since. */
export function identityOf(root: string, version: string, { source }: Project): Identity {
  const changed = git(root, "status", "--porcelain", "--untracked-files=no") !== "";
  const revision = `${git(root, "rev-parse", "HEAD")}${changed ? "-dirty" : ""}`;
  return { version, revision, source, seconds: sourceDate() };
}
