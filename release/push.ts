import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { z } from "zod";
import { root } from "../image/build.ts";
import { isLoopback, openRepository } from "./registry/client.ts";
import { credentialsFor } from "./registry/credentials.ts";
import { mismatches } from "./statements/checksums.ts";

const usage = `usage: make push REGISTRY=HOST/PATH

Pushes image, chart and signatures of dist/release to HOST/PATH/mooring and HOST/PATH/charts/mooring. What is there already
is not sent again; a version that is there with another digest is not overwritten.

  --registry HOST/PATH  registry and path
  --from DIR            the release (default: dist/release)
  --plain-http          without TLS; the default for this machine itself
  -h, --help            show this help

User and password: REGISTRY_USERNAME and REGISTRY_PASSWORD, or what \`docker login\` or \`helm registry login\` has kept.`;

const { values } = parseArgs({
  options: {
    registry: { type: "string", default: "" },
    from: { type: "string", default: join(root, "dist/release") },
    "plain-http": { type: "boolean", default: false },
    help: { type: "boolean", short: "h", default: false },
  },
});

const part = z.object({ repository: z.string(), digest: z.string() });
const publishedSchema = z.object({ version: z.string(), registry: z.string(), image: part, chart: part });

/** Layouts of a release, and the paths below the registry that they go to. */
const layouts = [
  ["image", "mooring"],
  ["chart", "charts/mooring"],
] as const;

async function main(): Promise<number> {
  if (values.help) {
    console.log(usage);
    return 0;
  }
  const { from, registry } = values;
  const [host = "", ...path] = registry.split("/");
  if (host === "" || path.includes("")) {
    console.error("make push: say where: make push REGISTRY=registry.example.com/mooring");
    return 2;
  }
  if (!existsSync(join(from, "release.json"))) {
    throw new Error(`${from} has no release: run \`make release VERSION=…\` first`);
  }
  const changed = mismatches(from);
  if (changed.length > 0) throw new Error(`not what SHA256SUMS says: ${changed.join(", ")}`);
  const published = publishedSchema.parse(JSON.parse(readFileSync(join(from, "release.json"), "utf8")));
  const options = {
    credentials: credentialsFor(host),
    plainHttp: values["plain-http"] || isLoopback(host),
  };
  for (const [layout, below] of layouts) {
    const name = [...path, below].join("/");
    const repository = openRepository({ host, name }, options);
    const { digest } = published[layout];
    const there = await repository.resolve(published.version);
    if (there !== undefined && there !== digest) {
      throw new Error(`${host}/${name} has another ${published.version} (${there}): give this one another version`);
    }
    let sent = await repository.push(join(from, layout));
    const signatures = join(from, "signatures", layout);
    if (existsSync(signatures)) sent += await repository.push(signatures);
    console.log(`${layout}  ${host}/${name}:${published.version}  ${digest}  ${sent} blobs sent`);
  }
  if (registry !== published.registry) {
    console.log(`The chart pulls its image from ${published.image.repository}.`);
    console.log(`To pull it from here: --set image.repository=${registry}/mooring`);
  }
  return 0;
}

process.exitCode = await main().catch((error: unknown) => {
  const { message, cause } = error instanceof Error ? error : new Error(String(error));
  console.error(`make push: ${message}${cause instanceof Error ? ` (${cause.message})` : ""}`);
  return 1;
});
