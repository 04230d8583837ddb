import { randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { hostname } from "node:os";
import { parseArgs } from "node:util";
import type { Proxies } from "../platform/proxies.ts";
import { type Endpoints, readEndpoints, readPatterns, readProxies } from "./endpoints.ts";
import type { LogFormat } from "./log.ts";
import type { Pair } from "./serving-certificate.ts";
import { UsageError } from "./usage-error.ts";

/** Everything about the operator that can be set from outside. */
export interface Config {
  kubeconfig: string | undefined;
  /** The operator's own: of its Lease, and of the Secrets of ClusterAccounts. */
  namespace: string;
  /** Only objects of this namespace; all when undefined. */
  watchNamespace: string | undefined;
  /** Where the platform is for Accounts that do not say it, and what those may say that do. */
  endpoints: Endpoints;
  allowEndpoints: readonly string[];
  /** Certificates of authorities that are trusted as well. */
  ca: string | undefined;
  /** On the way to the platform: HTTPS_PROXY, HTTP_PROXY, NO_PROXY. */
  proxies: Proxies;
  listen: { host: string; port: number };
  /** Metrics only for those whom the API server allows to `get` /metrics. */
  metricsAuth: boolean;
  /** Paths of the certificate for `listen` and of its key. */
  tls: Pair | undefined;
  workers: number;
  leaderElection: boolean;
  identity: string;
  logLevel: string;
  logFormat: LogFormat;
  json: boolean;
  /** Up to so many objects have metrics of their own. */
  objectMetrics: number;
  resyncMs: number;
  recheckMs: number;
  busyMs: number;
  createDeadlineMs: number;
  settleMs: number;
  retryMs: number;
  annotateAfterMs: number;
}

/** What the operator calls itself in the audit log of the API server. */
export const USER_AGENT = "mooring-operator";

export const flags = {
  kubeconfig: {
    type: "string",
    help: "PATH  kubeconfig of the cluster (default: in-cluster, else KUBECONFIG, else ~/.kube/config)",
  },
  namespace: {
    type: "string",
    help: "NAME  namespace of the operator's Lease and of the Secrets of ClusterAccounts (default: the pod's namespace, else mooring-system)",
  },
  "watch-namespace": {
    type: "string",
    help: "NAME  watch this namespace only, without ClusterAccounts (default: all namespaces)",
  },
  endpoint: {
    type: "string",
    multiple: true,
    help: "NAME=URL  endpoint of the platform for Accounts that set none, for example api=https://api.example.com or logging=https://logging.{region}.example.com; repeatable (default: MOORING_ENDPOINTS, a JSON object)",
  },
  "allow-endpoint": {
    type: "string",
    multiple: true,
    help: "PATTERN  other endpoints that Accounts may set, for example https://*.example.com or http://127.0.0.1:*; repeatable (default: none)",
  },
  "ca-file": {
    type: "string",
    help: "PATH  additional CA certificates for the platform, in PEM (default: none)",
  },
  listen: {
    type: "string",
    default: "127.0.0.1:0",
    help: "HOST:PORT  address of metrics and health probes; port 0 is any free port",
  },
  "metrics-auth": {
    type: "boolean",
    default: false,
    help: "serve metrics only to clients whose token may get the URL /metrics (TokenReview, SubjectAccessReview); implies TLS, self-signed unless --tls-cert-file is set",
  },
  "tls-cert-file": {
    type: "string",
    help: "PATH  certificate for metrics and health probes, in PEM; read again when it changes (default: none)",
  },
  "tls-key-file": { type: "string", help: "PATH  private key of --tls-cert-file, in PEM (default: none)" },
  workers: {
    type: "string",
    default: "48",
    help: "N  maximum concurrent reconciles; at most a quarter of them for one Account",
  },
  "no-leader-election": {
    type: "boolean",
    default: false,
    help: "disable leader election: only where no second operator can run",
  },
  "log-level": { type: "string", default: "info", help: "LEVEL  trace, debug, info, warn or error" },
  "log-format": { type: "string", help: "FORMAT  text or json (default: text on a terminal, else json)" },
  "object-metrics": {
    type: "string",
    default: "10000",
    help: "N  maximum number of objects with a metric each (mooring_object_ready); above it, objects are only counted (mooring_objects)",
  },
  json: { type: "boolean", default: false, help: "print one JSON line when ready" },
  resync: {
    type: "string",
    default: "5m",
    help: "DURATION  resync interval: time between two lists of resources that do not change",
  },
  recheck: {
    type: "string",
    default: "10m",
    help: "DURATION  time between two reconciles of an object that does not change",
  },
  poll: { type: "string", default: "1.5s", help: "DURATION  poll interval while resources are changing" },
  "create-deadline": { type: "string", default: "30s", help: "DURATION  timeout of a creation" },
  settle: {
    type: "string",
    default: "30s",
    help: "DURATION  time after that timeout in which a created resource may still appear",
  },
  retry: {
    type: "string",
    default: "1m",
    help: "DURATION  backoff after a failure; doubles with each failure, up to 32 times this value",
  },
  "annotate-after": {
    type: "string",
    default: "30s",
    help: "DURATION  time an object is Ready before its id is also written to an annotation",
  },
  help: { type: "boolean", short: "h", default: false, help: "show this help" },
} as const;

export const usage = (): string =>
  `usage: mooring operator [OPTION…]\n\n${Object.entries(flags).map(described).join("\n")}`;

const INDENT = 26;
const WIDTH = 120;

/** A flag with what it means and its default, in lines that fit a terminal. */
function described([name, flag]: [string, { help: string; default?: string | boolean; short?: string }]): string {
  const [value, ...rest] = flag.help.split("  ");
  const words = rest.length > 0 ? rest.join("  ") : flag.help;
  const text = typeof flag.default === "string" ? `${words} (default ${flag.default})` : words;
  const head = `  ${flag.short ? `-${flag.short}, ` : ""}--${name}${rest.length > 0 ? ` ${value}` : ""}`;
  const [lines, gap] = [head.length < INDENT ? [] : [head], " ".repeat(INDENT)];
  let line = head.length < INDENT ? head.padEnd(INDENT) : gap;
  for (const word of text.split(" ")) {
    const longer = line.endsWith("  ") ? line + word : `${line} ${word}`;
    if (longer.length <= WIDTH) line = longer;
    else {
      lines.push(line);
      line = gap + word;
    }
  }
  return [...lines, line].join("\n");
}

/** Reads the command line; "help" when that was asked for. Throws `UsageError`. */
export function readConfig(argv: string[], env: Record<string, string | undefined> = process.env): Config | "help" {
  const { values } = parseArgs({ args: argv, options: flags, strict: true });
  if (values.help) return "help";
  const endpoints = readEndpoints(values.endpoint ?? [], env.MOORING_ENDPOINTS);
  return {
    kubeconfig: values.kubeconfig,
    namespace: values.namespace ?? env.POD_NAMESPACE ?? podNamespace() ?? "mooring-system",
    watchNamespace: values["watch-namespace"],
    endpoints,
    allowEndpoints: readPatterns(values["allow-endpoint"] ?? []),
    ca: certificates(values["ca-file"]),
    proxies: readProxies(env),
    listen: address(values.listen),
    metricsAuth: values["metrics-auth"],
    tls: pair(values["tls-cert-file"], values["tls-key-file"]),
    workers: count("workers", values.workers, 1, 1000),
    leaderElection: !values["no-leader-election"],
    identity: `${env.POD_NAME ?? hostname()}_${randomBytes(4).toString("hex")}`,
    logLevel: level(values["log-level"]),
    logFormat: format(values["log-format"] ?? (process.stderr.isTTY ? "text" : "json")),
    json: values.json,
    objectMetrics: count("object-metrics", values["object-metrics"], 0, 1_000_000),
    resyncMs: duration("resync", values.resync),
    recheckMs: duration("recheck", values.recheck),
    busyMs: duration("poll", values.poll),
    createDeadlineMs: duration("create-deadline", values["create-deadline"]),
    settleMs: duration("settle", values.settle),
    retryMs: duration("retry", values.retry),
    annotateAfterMs: duration("annotate-after", values["annotate-after"]),
  };
}

const MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const;

function duration(flag: string, text: string): number {
  const parts = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(text);
  const unit = parts?.[2];
  if (!parts || (unit !== "ms" && unit !== "s" && unit !== "m" && unit !== "h")) {
    throw new UsageError(`--${flag}: "${text}" is not a duration; write for example 30s, 5m or 1h`);
  }
  return Number(parts[1]) * MS[unit];
}

function address(text: string): { host: string; port: number } {
  const parts = /^(.*):(\d{1,5})$/.exec(text);
  const port = Number(parts?.[2]);
  if (!parts || port > 65_535)
    throw new UsageError(`--listen: "${text}" is not HOST:PORT; write for example 127.0.0.1:8080`);
  return { host: parts[1] || "0.0.0.0", port };
}

function count(flag: string, text: string, least: number, most: number): number {
  const number = Number(text);
  if (text.trim() === "" || !Number.isInteger(number) || number < least || number > most) {
    throw new UsageError(`--${flag}: "${text}" is not a whole number from ${least} to ${most}`);
  }
  return number;
}

function certificates(path: string | undefined): string | undefined {
  if (path === undefined) return undefined;
  const text = existsSync(path) ? readFileSync(path, "utf8") : "";
  if (text.includes("-----BEGIN CERTIFICATE-----")) return text;
  throw new UsageError(`--ca-file: "${path}" contains no PEM certificate`);
}

function pair(cert: string | undefined, key: string | undefined): Pair | undefined {
  if (cert === undefined && key === undefined) return undefined;
  return { cert: existing("tls-cert-file", cert), key: existing("tls-key-file", key) };
}

function existing(flag: string, path: string | undefined): string {
  if (path === undefined) throw new UsageError(`--${flag}: missing; --tls-cert-file and --tls-key-file go together`);
  if (!existsSync(path)) throw new UsageError(`--${flag}: "${path}" does not exist`);
  return path;
}

function level(text: string): string {
  if (["trace", "debug", "info", "warn", "error"].includes(text)) return text;
  throw new UsageError(`--log-level: "${text}" is unknown; valid: trace, debug, info, warn, error`);
}

function format(text: string): LogFormat {
  if (text === "text" || text === "json") return text;
  throw new UsageError(`--log-format: "${text}" is unknown; valid: text, json`);
}

const POD_NAMESPACE_FILE = "/var/run/secrets/kubernetes.io/serviceaccount/namespace";

function podNamespace(): string | undefined {
  return existsSync(POD_NAMESPACE_FILE) ? readFileSync(POD_NAMESPACE_FILE, "utf8").trim() : undefined;
}
