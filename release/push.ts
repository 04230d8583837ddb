import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { credentialsFor } from "./registry/credentials.ts";
import { pushRelease } from "./registry/push.ts";

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
    from: { type: "string", default: fileURLToPath(new URL("../dist/release", import.meta.url)) },
    "plain-http": { type: "boolean", default: false },
    help: { type: "boolean", short: "h", default: false },
  },
});

async function main(): Promise<number> {
  if (values.help) {
    console.log(usage);
    return 0;
  }
  const { from, registry } = values;
  if (registry.split("/").includes("")) {
    console.error("make push: say where: make push REGISTRY=registry.example.com/mooring");
    return 2;
  }
  const plainHttp = values["plain-http"];
  await pushRelease({ from, registry, plainHttp, credentials: (host) => credentialsFor(host) }, console.log);
  return 0;
}

process.exitCode = await main().catch((error: unknown) => {
  console.error(`make push: ${error instanceof Error ? error.message : String(error)}`);
  return 1;
});
