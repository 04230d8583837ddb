import { z } from "zod";
import { kinds } from "../../kinds/index.ts";
import type { KubeObject } from "../../kube/resource.ts";
import { endpointsOfPlatform, isPlatformName } from "../../platform/addresses/platforms.ts";
import { unsetEndpoints, unsetInWords } from "../../platform/products/unset-endpoints.ts";
import { apart, type Check, ok, warn } from "./check.ts";

const variable = z.looseObject({ name: z.string(), value: z.string().optional() });
const container = z.looseObject({
  args: z.array(z.string()).nullish(),
  env: z.array(variable).nullish(),
  envFrom: z.array(z.unknown()).nullish(),
});
const deployment = z.looseObject({
  metadata: z.looseObject({ name: z.string(), namespace: z.string() }),
  spec: z.looseObject({
    replicas: z.number().nullish(),
    template: z.looseObject({ spec: z.looseObject({ containers: z.array(container) }) }),
  }),
});
type Container = z.output<typeof container>;

/** Checks that the flags of each Deployment set every endpoint that a kind needs. Deployments with the same result are one line. */
export function endpointChecks(deployments: readonly KubeObject[]): Check[] {
  const checks = new Map<string, Check>();
  for (const each of deployments) {
    const { data } = deployment.safeParse(each);
    if (data === undefined || data.spec.replicas === 0) continue;
    const operator = data.spec.template.spec.containers.find(({ args }) => args?.[0] === "operator");
    const endpoints = operator && endpointsOf(operator);
    if (endpoints === undefined) continue;
    const unset = unsetEndpoints(kinds, endpoints);
    const words = unset.length === 0 ? "" : unsetInWords(unset);
    if (checks.has(words)) continue;
    const { message, fix } = apart(words);
    const title = `${data.metadata.namespace}/${data.metadata.name}`;
    checks.set(
      words,
      words === ""
        ? ok("operator", "endpoints", "every kind has an endpoint")
        : warn("operator", "endpoints", `${title}: ${message}`, fix),
    );
  }
  return [...checks.values()];
}

/** The endpoints that flags and environment set. Undefined if they may be set where the caller does not read. */
function endpointsOf({ args, env, envFrom }: Container): Record<string, string> | undefined {
  const json = env?.find(({ name }) => name === "MOORING_ENDPOINTS");
  if (envFrom?.length || (json && json.value === undefined)) return undefined;
  const [platform] = valuesOf(args ?? [], "--platform");
  return {
    ...endpointsOfPlatform(platform !== undefined && isPlatformName(platform) ? platform : undefined),
    ...endpointsIn(json?.value),
    ...Object.fromEntries(valuesOf(args ?? [], "--endpoint").map((pair) => pair.split(/=(.*)/s))),
  };
}

/** The values of a flag, as `--flag=VALUE` or `--flag VALUE`. */
const valuesOf = (args: readonly string[], flag: string): string[] =>
  args.flatMap((arg, index) => {
    if (arg === flag) return args[index + 1] ?? [];
    return arg.startsWith(`${flag}=`) ? arg.slice(flag.length + 1) : [];
  });

function endpointsIn(json = ""): Record<string, string> {
  try {
    return z.record(z.string(), z.string()).parse(JSON.parse(json));
  } catch {
    return {};
  }
}
