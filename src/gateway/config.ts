import { existsSync, readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { parse } from "yaml";
import { z } from "zod";
import { type Price, publishedPrices } from "../kinds/inference/prices.ts";
import { endpointsOfPlatform } from "../platform/addresses/platforms.ts";
import { address, certificates, count, duration, format, level, pair, podNamespace, usageOf } from "../server/flags.ts";
import type { LogFormat } from "../server/log.ts";
import type { Pair } from "../server/serving-certificate.ts";
import { UsageError } from "../server/usage-error.ts";
import type { Access } from "./access/access.ts";

export interface GatewayConfig {
  kubeconfig: string | undefined;
  listen: { host: string; port: number };
  metricsListen: { host: string; port: number };
  tls: Pair | undefined;
  /** Address of the platform's inference API, without `/v1`. */
  upstream: string;
  tokenFile: string;
  ca: string | undefined;
  /** The ClusterAccount to serve, or a fixed list of accesses. */
  source: { account: string } | { accesses: readonly Access[] };
  /** Namespace of the ConfigMaps that record spending. */
  namespace: string;
  prices: Readonly<Record<string, Price>>;
  rate: { perSecond: number; burst: number };
  imageRate: { perSecond: number; burst: number };
  mostWaitMs: number;
  drainMs: number;
  /** Only callers that may `get` /metrics by RBAC see metrics. */
  metricsAuth: boolean;
  logLevel: string;
  logFormat: LogFormat;
  json: boolean;
}

export const flags = {
  kubeconfig: {
    type: "string",
    help: "PATH  kubeconfig of the cluster (default: in-cluster, else KUBECONFIG, else ~/.kube/config)",
  },
  platform: {
    type: "string",
    help: "NAME  platform whose inference endpoint is used: ionos (IONOS Cloud) (default: none)",
  },
  upstream: {
    type: "string",
    help: "URL  the platform's inference endpoint, without /v1 (required without --platform)",
  },
  "token-file": {
    type: "string",
    help: "PATH  token for the platform; read again every ten seconds (required)",
  },
  account: {
    type: "string",
    help: "NAME  ClusterAccount that --token-file belongs to: its InferenceAccess objects are served (required without --access-file)",
  },
  "access-file": {
    type: "string",
    help: "PATH  instead of --account: a list of namespace, name, models and budget (eurPerDay, tokensPerCall), in YAML; budgets then count in this process only",
  },
  namespace: {
    type: "string",
    help: "NAME  namespace of the ConfigMaps that record spending (default: the pod's namespace, else mooring-system)",
  },
  "ca-file": { type: "string", help: "PATH  additional CA certificates for the platform, in PEM (default: none)" },
  price: {
    type: "string",
    multiple: true,
    help: "MODEL=IN/OUT  EUR per million tokens of a model, for example openai/gpt-oss-120b=0.15/0.65; repeatable (default: the platform's list)",
  },
  rate: { type: "string", default: "5", help: "N  calls per second; with several replicas, the share of this one" },
  burst: { type: "string", default: "10", help: "N  calls at once" },
  "image-rate": { type: "string", default: "10", help: "N  image calls per minute" },
  "image-burst": { type: "string", default: "20", help: "N  burst of image calls" },
  "most-wait": {
    type: "string",
    default: "30s",
    help: "DURATION  maximum time that a call waits for the rate limit; a call that would wait longer is refused (429)",
  },
  drain: { type: "string", default: "20s", help: "DURATION  time that open calls have to end after SIGTERM" },
  listen: { type: "string", default: "127.0.0.1:0", help: "HOST:PORT  address for workloads; port 0 is any free port" },
  "metrics-listen": { type: "string", default: "127.0.0.1:0", help: "HOST:PORT  address of metrics and health probes" },
  "metrics-auth": {
    type: "boolean",
    default: false,
    help: "serve metrics only to clients whose token may get the URL /metrics (TokenReview, SubjectAccessReview); implies TLS for --metrics-listen, self-signed unless --tls-cert-file is set",
  },
  "tls-cert-file": {
    type: "string",
    help: "PATH  certificate for --listen, in PEM; read again when it changes (default: none)",
  },
  "tls-key-file": { type: "string", help: "PATH  private key of --tls-cert-file, in PEM (default: none)" },
  "log-level": { type: "string", default: "info", help: "LEVEL  trace, debug, info, warn or error" },
  "log-format": { type: "string", help: "FORMAT  text or json (default: text on a terminal, else json)" },
  json: { type: "boolean", default: false, help: "print one JSON line when ready" },
  help: { type: "boolean", short: "h", default: false, help: "show this help" },
} as const;

export const usage = (): string => usageOf("gateway", flags);

/** Parses the command line; "help" if help was asked for. Throws `UsageError`. */
export function readConfig(
  argv: string[],
  env: Record<string, string | undefined> = process.env,
): GatewayConfig | "help" {
  const { values } = parseArgs({ args: argv, options: flags, strict: true });
  if (values.help) return "help";
  return {
    kubeconfig: values.kubeconfig,
    listen: address("listen", values.listen),
    metricsListen: address("metrics-listen", values["metrics-listen"]),
    tls: pair(values["tls-cert-file"], values["tls-key-file"]),
    upstream: url(values.upstream ?? inferenceOf(values.platform)),
    tokenFile: file("token-file", values["token-file"]),
    ca: certificates(values["ca-file"]),
    source: sourceOf(values.account, values["access-file"]),
    namespace: values.namespace ?? env.POD_NAMESPACE ?? podNamespace() ?? "mooring-system",
    prices: { ...publishedPrices, ...Object.fromEntries((values.price ?? []).map(price)) },
    rate: { perSecond: number("rate", values.rate), burst: count("burst", values.burst, 1, 10_000) },
    imageRate: {
      perSecond: number("image-rate", values["image-rate"]) / 60,
      burst: count("image-burst", values["image-burst"], 1, 10_000),
    },
    mostWaitMs: duration("most-wait", values["most-wait"]),
    drainMs: duration("drain", values.drain),
    metricsAuth: values["metrics-auth"],
    logLevel: level(values["log-level"]),
    logFormat: format(values["log-format"] ?? (process.stderr.isTTY ? "text" : "json")),
    json: values.json,
  };
}

function sourceOf(account: string | undefined, path: string | undefined): GatewayConfig["source"] {
  if ((account === undefined) === (path === undefined))
    throw new UsageError("--account: exactly one of --account and --access-file is required");
  return account === undefined ? { accesses: accessesIn(file("access-file", path)) } : { account };
}

function inferenceOf(platform: string | undefined): string | undefined {
  try {
    return endpointsOfPlatform(platform).inference;
  } catch (error) {
    throw new UsageError(`--platform: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function url(text: string | undefined): string {
  if (text !== undefined && URL.canParse(text) && /^https?:/.test(text)) return text;
  if (text === undefined) throw new UsageError("--upstream: missing; set it, or --platform ionos");
  throw new UsageError(`--upstream: "${text}" is not an http or https URL`);
}

function file(flag: string, path: string | undefined): string {
  if (path === undefined) throw new UsageError(`--${flag}: missing`);
  if (!existsSync(path)) throw new UsageError(`--${flag}: "${path}" does not exist`);
  return path;
}

function number(flag: string, text: string): number {
  const value = Number(text);
  if (/^\d+(\.\d+)?$/.test(text) && value > 0 && value <= 100_000) return value;
  throw new UsageError(`--${flag}: "${text}" is not a number above 0`);
}

function price(text: string): [string, Price] {
  const [, model, input, output] = /^([^=]+)=(\d+(?:\.\d+)?)\/(\d+(?:\.\d+)?)$/.exec(text) ?? [];
  if (model === undefined)
    throw new UsageError(`--price: "${text}" is not MODEL=IN/OUT; write for example a/b=0.1/0.3`);
  return [model, { input: Number(input), output: Number(output) }];
}

const accessSchema = z.strictObject({
  namespace: z.string().min(1),
  name: z.string().default("default"),
  models: z.array(z.string().min(1)).min(1),
  budget: z
    .strictObject({ eurPerDay: z.number().min(0).optional(), tokensPerCall: z.int().min(1).optional() })
    .optional(),
});

function accessesIn(path: string): Access[] {
  const parsed = z.array(accessSchema).safeParse(parse(readFileSync(path, "utf8")));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new UsageError(`--access-file: ${issue?.path.join(".") || "the file"}: ${issue?.message}`);
  }
  return parsed.data.map(({ budget, ...access }) => ({ ...access, ...budget }));
}
