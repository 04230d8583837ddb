import { parseArgs } from "node:util";
import { kinds } from "../kinds/index.ts";
import { rights, yaml } from "./manifests/manifests.ts";

export const usage = `usage: mooring rights [OPTION…]

Prints the ServiceAccount of the operator and what it may do, for kubectl apply.

  --namespace NAME        the operator's own namespace (default mooring-system)
  --watch-namespace NAME  rights in this namespace only, by Roles; may be given several times (default: the whole cluster)
  -h, --help              print this text`;

export const options = {
  namespace: { type: "string", default: "mooring-system" },
  "watch-namespace": { type: "string", multiple: true },
  help: { type: "boolean", short: "h", default: false },
} as const;

/** `mooring rights`: what deploy/ holds for the whole cluster, or Roles for some namespaces. */
export async function rightsCommand(argv: string[]): Promise<number> {
  const { help, namespace, "watch-namespace": watched } = parseArgs({ args: argv, options }).values;
  const installation = { namespace, ...(watched && { watched }) };
  process.stdout.write(help ? `${usage}\n` : yaml(rights(kinds, installation)));
  return 0;
}
