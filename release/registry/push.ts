import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { mismatches } from "../statements/checksums.ts";
import { isLoopback, openRepository } from "./client.ts";

export interface PushOptions {
  /** The folder of the release. */
  from: string;
  /** HOST/PATH. */
  registry: string;
  /** User and password of a host in base64. */
  credentials(host: string): string | undefined;
  plainHttp: boolean;
}

const part = z.object({ repository: z.string(), digest: z.string() });
const publishedSchema = z.object({ version: z.string(), registry: z.string(), image: part, chart: part });

/** The layouts of a release, with their paths in the registry. */
const layouts = [
  ["image", "mooring"],
  ["chart", "charts/mooring"],
] as const;

/** Pushes image, chart and signatures. An existing version with another digest is never overwritten. */
export async function pushRelease(options: PushOptions, say: (line: string) => void): Promise<void> {
  const { from, registry } = options;
  if (!existsSync(join(from, "release.json"))) {
    throw new Error(`${from} has no release: run \`make release VERSION=…\` first`);
  }
  const changed = mismatches(from);
  if (changed.length > 0) throw new Error(`not what SHA256SUMS says: ${changed.join(", ")}`);
  const published = publishedSchema.parse(JSON.parse(readFileSync(join(from, "release.json"), "utf8")));
  const [host = "", ...path] = registry.split("/");
  const access = { credentials: options.credentials(host), plainHttp: options.plainHttp || isLoopback(host) };
  for (const [layout, below] of layouts) {
    const name = [...path, below].join("/");
    const repository = openRepository({ host, name }, access);
    const { digest } = published[layout];
    const there = await repository.resolve(published.version);
    if (there !== undefined && there !== digest) {
      throw new Error(`${host}/${name} has another ${published.version} (${there}): give this one another version`);
    }
    let sent = await repository.push(join(from, layout));
    const signatures = join(from, "signatures", layout);
    if (existsSync(signatures)) sent += await repository.push(signatures);
    say(`${layout}  ${host}/${name}:${published.version}  ${digest}  ${sent} blobs sent`);
  }
  if (registry !== published.registry) {
    say(`The chart pulls its image from ${published.image.repository}.`);
    say(`To pull it from here: --set image.repository=${registry}/mooring`);
  }
}
