import { parseArgs } from "node:util";
import { kinds } from "../kinds/index.ts";
import { shardName } from "../server/flags.ts";
import { rights, yaml } from "./manifests/manifests.ts";

export const usage = `usage: mooring rights [OPTION…]

Prints the ServiceAccount and RBAC of the operator, for kubectl apply.

  --namespace NAME        namespace of the operator (default mooring-system)
  --watch-namespace NAME  Roles for this namespace instead of ClusterRoles; repeatable (default: the whole cluster)
  --shard NAME            also the Lease of this shard; repeatable (default: none)
  --metrics-auth          with --watch-namespace: also the ClusterRoles that operator --metrics-auth needs
  -h, --help              show this help`;

export const options = {
  namespace: { type: "string", default: "mooring-system" },
  "watch-namespace": { type: "string", multiple: true },
  shard: { type: "string", multiple: true },
  "metrics-auth": { type: "boolean", default: false },
  help: { type: "boolean", short: "h", default: false },
} as const;

/** `mooring rights`: the manifests of deploy/ for the whole cluster, or Roles for some namespaces. */
export async function rightsCommand(argv: string[]): Promise<number> {
  const { values } = parseArgs({ args: argv, options });
  const { help, namespace, "watch-namespace": watched, "metrics-auth": metricsAuth } = values;
  const shards = (values.shard ?? []).flatMap((name) => shardName(name, watched?.[0]) ?? []);
  const installation = { namespace, shards, ...(watched && { watched, metricsAuth }) };
  process.stdout.write(help ? `${usage}\n` : yaml(rights(kinds, installation)));
  return 0;
}
