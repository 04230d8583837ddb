import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { parseArgs } from "node:util";
import type { Settings } from "../engine/observe/deps.ts";
import type { LimitOf } from "../kube/watch/age-limits.ts";
import type { Proxies } from "../platform/addresses/proxies.ts";
import {
  address,
  certificates,
  clusterName,
  count,
  duration,
  format,
  level,
  pair,
  podNamespace,
  shardName,
  usageOf,
} from "../server/flags.ts";
import type { LogFormat } from "../server/log.ts";
import type { Pair } from "../server/serving-certificate.ts";
import { type Endpoints, readEndpoints, readPatterns, readProxies } from "./endpoints.ts";
import { limitsInWords, readLimits } from "./limits.ts";

export interface Config extends Omit<Settings, "graceMs"> {
  kubeconfig: string | undefined;
  /** The operator's namespace, with its Lease and the Secrets of ClusterAccounts. */
  namespace: string;
  /** Watches only this namespace; all namespaces when undefined. */
  watchNamespace: string | undefined;
  /** Reconciles only namespaces labelled with this shard; when undefined, those without the label. */
  shard: string | undefined;
  /** The name of the cluster on the platform; empty when it has none, and undefined for the default. */
  clusterName: string | undefined;
  /** The platform endpoints of Accounts that set none; `allowEndpoints`: which others Accounts may set. */
  endpoints: Endpoints;
  allowEndpoints: readonly string[];
  /** Additional CA certificates, in PEM. */
  ca: string | undefined;
  /** Proxies to the platform: HTTPS_PROXY, HTTP_PROXY, NO_PROXY. */
  proxies: Proxies;
  listen: { host: string; port: number };
  /** Metrics only for clients that the API server allows to `get` /metrics. */
  metricsAuth: boolean;
  /** Paths of the serving certificate and its key. */
  tls: Pair | undefined;
  workers: number;
  /** The maximum number of objects of a kind in one namespace. */
  limit: LimitOf;
  leaderElection: boolean;
  /** The holder identity of the Lease: the pod's name, which a restarted container keeps. Outside of a pod it is unique. */
  identity: string;
  /** Unique: distinguishes this process from earlier ones in the same pod. */
  process: string;
  logLevel: string;
  logFormat: LogFormat;
  json: boolean;
  /** Up to this many objects have a metric each. */
  objectMetrics: number;
  busyMs: number;
}

/** The user agent in the audit log of the API server. */
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
  shard: {
    type: "string",
    help: "NAME  reconcile namespaces labelled mooring.dev/shard=NAME only, with a Lease of its own (default: namespaces without the label)",
  },
  "cluster-name": {
    type: "string",
    help: "NAME  name of this cluster on the platform, as the label mooring-cluster of the Datacenters, IPBlocks and Snapshots that objects create; none writes no labels (default: uid of namespace kube-system; with --watch-namespace none)",
  },
  platform: {
    type: "string",
    help: "NAME  platform for Accounts that set no endpoints: ionos (IONOS Cloud) sets all of them; --endpoint overrides single ones (default: none)",
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
    help: "N  maximum concurrent reconciles; at most three eighths of them for one Account, a quarter while others need them",
  },
  limit: {
    type: "string",
    multiple: true,
    help: `KIND=N  maximum number of objects of a kind in one namespace; newer ones are Stalled (TooManyObjects). KIND is also Secret or ConfigMap, those written by Mooring and watched, or * for all others; repeatable (default: ${limitsInWords})`,
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
  "create-deadline": { type: "string", default: "10s", help: "DURATION  timeout of a creation" },
  settle: {
    type: "string",
    default: "90s",
    help: "DURATION  time after that timeout in which a delayed request may still arrive and its result appear; only after it is a creation sent again",
  },
  "missing-after": {
    type: "string",
    default: "10m",
    help: "DURATION  time after which a missing resource counts as gone, if no log of the platform shows deletions",
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

export const usage = (): string => usageOf("operator", flags);

/** Reads the command line; returns "help" for --help. Throws `UsageError`. */
export function readConfig(argv: string[], env: Record<string, string | undefined> = process.env): Config | "help" {
  const { values } = parseArgs({ args: argv, options: flags, strict: true });
  if (values.help) return "help";
  const processId = randomBytes(4).toString("hex");
  const endpoints = readEndpoints(values.endpoint ?? [], env.MOORING_ENDPOINTS, values.platform);
  return {
    kubeconfig: values.kubeconfig,
    namespace: values.namespace ?? env.POD_NAMESPACE ?? podNamespace() ?? "mooring-system",
    watchNamespace: values["watch-namespace"],
    shard: shardName(values.shard, values["watch-namespace"]),
    clusterName: clusterName(values["cluster-name"], values["watch-namespace"]),
    endpoints,
    allowEndpoints: readPatterns(values["allow-endpoint"] ?? []),
    ca: certificates(values["ca-file"]),
    proxies: readProxies(env),
    listen: address("listen", values.listen),
    metricsAuth: values["metrics-auth"],
    tls: pair(values["tls-cert-file"], values["tls-key-file"]),
    workers: count("workers", values.workers, 1, 1000),
    limit: readLimits(values.limit ?? []),
    leaderElection: !values["no-leader-election"],
    identity: env.POD_NAME || `${hostname()}_${processId}`,
    process: processId,
    logLevel: level(values["log-level"]),
    logFormat: format(values["log-format"] ?? (process.stderr.isTTY ? "text" : "json")),
    json: values.json,
    objectMetrics: count("object-metrics", values["object-metrics"], 0, 1_000_000),
    resyncMs: duration("resync", values.resync),
    recheckMs: duration("recheck", values.recheck),
    busyMs: duration("poll", values.poll),
    createDeadlineMs: duration("create-deadline", values["create-deadline"]),
    settleMs: duration("settle", values.settle),
    missingMs: duration("missing-after", values["missing-after"]),
    retryMs: duration("retry", values.retry),
    annotateAfterMs: duration("annotate-after", values["annotate-after"]),
  };
}
