import { z } from "zod";
import { endpointNames, endpointSchema } from "../../kinds/identity/account.ts";
import { limitsInWords } from "../../operator/limits.ts";
import { platformNames } from "../../platform/addresses/platforms.ts";
import { flag, free, group, labels, list, resources, text, workload } from "./workload-values.ts";

/** The values of the Helm chart: source of its values.yaml, its JSON schema and the table in its README. */

const tls = (name: string) => ({
  tlsSecret: text(
    `Secret with tls.crt and tls.key, as cert-manager writes it; read again when it changes. Default: ${name}-tls, which the chart creates.`,
  ),
  tls: group("TLS of its port.", {
    enabled: flag("Serve TLS. Without it, tokens are sent in plain text: terminate TLS in front of it.", true),
    issuerRef: free(
      `Issuer of cert-manager that issues ${name}-tls, for example {kind: ClusterIssuer, name: internal}. Default: a CA that the chart creates, with its certificate in ca.crt of that Secret. helm upgrade keeps it. Each helm template creates a new one: with Argo CD, which uses that, set issuerRef or tlsSecret.`,
    ),
  }),
});

/** A ServiceMonitor of the Prometheus operator. */
const monitor = (name: string, what: string, more: z.ZodRawShape = {}) =>
  group(what, {
    create: flag(`Create the ${name}.`, false),
    interval: text("Scrape interval.", "30s"),
    scrapeTimeout: text("Scrape timeout. Default: that of Prometheus."),
    labels: labels("Labels."),
    relabelings: list("Relabelings of targets."),
    metricRelabelings: list("Relabelings of metrics."),
    ...more,
  });

const endpoint = (name: (typeof endpointNames)[number]) =>
  z
    .string()
    .regex(/^(https?:\/\/\S+)?$/)
    .default("")
    .describe(`${endpointSchema[name].description} Default: that of the platform.`);

export const chartValues = z.strictObject({
  platform: z
    .enum(["", ...platformNames])
    .default("")
    .describe(
      "Platform for Accounts that set no endpoints: ionos (IONOS Cloud) sets all of them. Without it, set endpoints.",
    ),
  nameOverride: text("Replaces mooring in the names of objects and in the label app.kubernetes.io/name."),
  fullnameOverride: text("Replaces mooring in the names of objects only."),
  commonLabels: labels("Labels for all objects of the chart except the CRDs."),
  extraObjects: z
    .array(z.union([z.string(), z.record(z.string(), z.unknown())]))
    .default([])
    .describe("Further objects, as YAML or as text that is rendered as a template."),
  docsUrl: text(
    "Address where you publish this documentation (`make site`), for runbook_url of the alerts. Default: none, and no runbook_url.",
  ),
  image: group("Container image, used by all pods of the chart.", {
    repository: text("Repository of the image. The default is a placeholder: no image is published yet.", "mooring"),
    tag: text("Tag. Default: the chart's appVersion."),
    digest: text("Digest, sha256:…; used instead of the tag."),
    pullPolicy: z.enum(["Always", "IfNotPresent", "Never"]).default("IfNotPresent").describe("Pull policy."),
  }),
  imagePullSecrets: list("Pull secrets, as in a pod: [{name: …}]."),
  replicas: z.int().min(0).default(2).describe("Pods of the operator: one leader, the others on standby."),
  crds: group("Custom resource definitions.", {
    install: flag(
      "Install and upgrade the CRDs. They stay when the chart is uninstalled, and so do all objects.",
      true,
    ),
  }),
  namespace: group("Namespace of the release.", {
    create: flag(
      "Create the namespace of the release, with the restricted Pod Security level. Helm's own --create-namespace sets no labels.",
      false,
    ),
  }),
  watchNamespace: text(
    "Manage this namespace only, with Roles instead of ClusterRoles and without ClusterAccounts. Default: all namespaces.",
  ),
  clusterName: text(
    "Name of this cluster on the platform: the label mooring-cluster of what it creates there. none: no labels. Default: uid of the namespace kube-system; with watchNamespace none.",
  ),
  shards: z
    .array(z.string().regex(/^[a-z0-9]([-a-z0-9]{0,38}[a-z0-9])?$/))
    .default([])
    .describe(
      "Shards, each with its own Deployment and Lease. A shard reconciles the namespaces whose label mooring.dev/shard names it. Not with watchNamespace.",
    ),
  tenantRoles: group("Rights of the cluster's users.", {
    create: flag("Add Mooring's kinds to the ClusterRoles view, edit and admin.", true),
  }),
  admissionPolicy: group("ValidatingAdmissionPolicies.", {
    create: flag(
      "Create the policies that restrict which Secrets, ConfigMaps and Leases the operator can write (not with watchNamespace), and the one that refuses to delete the CRDs unless they are annotated with mooring.dev/allow-deletion=true.",
      true,
    ),
  }),
  endpoints: group(
    "Endpoints for Accounts that set none: they override those of platform, or name another platform with the same API.",
    Object.fromEntries(endpointNames.map((name) => [name, endpoint(name)])),
  ),
  allowEndpoints: z
    .array(z.string())
    .default([])
    .describe("Other endpoints that Accounts may set, for example https://*.example.com."),
  ca: text("Additional CA certificates for the platform, in PEM."),
  proxy: group("Proxy for calls of the operator, the gateway and the tools to the platform.", {
    httpsProxy: text("HTTPS_PROXY."),
    httpProxy: text("HTTP_PROXY."),
    noProxy: text("NO_PROXY."),
  }),
  clusterAccount: group("A ClusterAccount. Its token is in a Secret of the release's namespace, which you create.", {
    create: flag(
      "Create a ClusterAccount. The CRDs have to exist already: set it in an upgrade, or install the CRDs first.",
      false,
    ),
    name: text("Name of the ClusterAccount.", "default"),
    spec: free("spec of the ClusterAccount; see the ClusterAccount sample."),
  }),
  log: group("Log.", {
    level: z.enum(["trace", "debug", "info", "warn", "error"]).default("info").describe("Log level."),
    format: z.enum(["json", "text"]).default("json").describe("Log format."),
  }),
  workers: z.int().min(1).default(48).describe("Maximum concurrent reconciles."),
  limits: z
    .record(z.string(), z.int().min(0))
    .default({})
    .describe(
      `Maximum number of objects of a kind in one namespace, for example {Account: 50}; newer ones are Stalled. Secret and ConfigMap are those written by Mooring, "*" all others. Default: ${limitsInWords}.`,
    ),
  ...workload({
    what: "the operator",
    command: "operator",
    account: "mooring",
    grace: { least: 25, usual: 30, why: "The operator ends within 20 seconds." },
  }),
  metrics: group("Metrics of the operator and the gateway.", {
    auth: flag(
      "Serve metrics over TLS, only to tokens that may get the URL /metrics. Not used with watchNamespace, which has no ClusterRoles.",
      true,
    ),
    serviceMonitor: monitor(
      "ServiceMonitor",
      "ServiceMonitor for the Prometheus operator, of the operator and the gateway.",
    ),
    podMonitor: monitor("PodMonitor", "PodMonitor instead of the ServiceMonitor.", {
      bearerTokenSecret: free(
        "Secret of the release's namespace with a token that may get the URL /metrics, as {name: …, key: …}; needed with metrics.auth.",
      ),
    }),
    rules: group("PrometheusRule with the alerts.", {
      create: flag("Create the PrometheusRule.", false),
      labels: labels("Labels of the PrometheusRule."),
    }),
    dashboards: group("Dashboards, one ConfigMap each.", {
      create: flag("Create the ConfigMaps with the dashboards.", false),
      labels: z
        .record(z.string(), z.string())
        .default({ grafana_dashboard: "1" })
        .describe("Labels by which Grafana's sidecar finds them."),
    }),
  }),
  networkPolicy: group("NetworkPolicies of the operator, the gateway and the tools.", {
    create: flag(
      "Create NetworkPolicies: they allow connections to the metrics ports, and from workloads of the cluster to the gateway and the tools. If egress is set, outgoing connections are restricted as well.",
      true,
    ),
    metricsFrom: list("Peers that may scrape metrics, as in `from` of a NetworkPolicy. Default: all."),
    gatewayFrom: list("Peers that may call the gateway. Default: all pods of the cluster."),
    toolsFrom: list("Peers that may call the tools. Default: all pods of the cluster."),
    egress: list(
      "`egress` of the NetworkPolicies; must include DNS, the Kubernetes API and the platform. Default: not restricted.",
    ),
  }),
  resources: resources("Resources of the operator.", { cpu: "100m", memory: "256Mi" }, { memory: "1Gi" }),
  gateway: group(
    "The inference gateway, for one ClusterAccount. Refused with watchNamespace: it serves all namespaces.",
    {
      create: flag("Run the inference gateway.", false),
      account: text("ClusterAccount whose InferenceAccess objects it serves.", "default"),
      upstream: text(
        "The platform's inference endpoint, without /v1. Default: endpoints.inference, else that of the platform.",
      ),
      tokenSecret: group(
        "Secret of the release's namespace with a token of that ClusterAccount's contract, which you create.",
        {
          name: text("Name of the Secret with its token.", "mooring-gateway"),
          key: text("Key with the token.", "token"),
        },
      ),
      ...tls("mooring-gateway"),
      replicas: z.int().min(1).default(2).describe("Pods. They share rate and burst."),
      rate: z.number().positive().default(5).describe("Calls per second of the contract."),
      burst: z.int().min(1).default(10).describe("Burst of calls of the contract."),
      ...workload({
        what: "the gateway",
        command: "gateway",
        account: "mooring-gateway",
        grace: {
          least: 30,
          usual: 30,
          why: "New calls may arrive for 5 seconds; then open calls have 20 seconds to end.",
        },
      }),
      resources: resources("Resources of the gateway.", { cpu: "100m", memory: "256Mi" }, { memory: "512Mi" }),
    },
  ),
  tools: group("Read-only tools for AI clients, over HTTP. Refused with watchNamespace: they read all namespaces.", {
    create: flag("Run the tools for AI clients.", false),
    tokenSecret: group("Secret of the release's namespace with a token of the platform, which you create.", {
      name: text("Name of the Secret with their tokens.", "mooring-tools"),
      key: text("Key with the platform's token.", "token"),
      bearerKey: text("Key with the bearer tokens of clients, one per line, each of at least 16 characters.", "bearer"),
    }),
    ...tls("mooring-tools"),
    loadMode: z.enum(["eager", "lazy", "dynamic"]).default("eager").describe("Tools that a client sees at first."),
    hosts: z
      .array(z.string())
      .default([])
      .describe("Host names by which clients call it, besides the Service's own, for example of an Ingress."),
    ...workload({
      what: "the tools",
      command: "tools",
      account: "mooring-tools",
      grace: { least: 5, usual: 10, why: "Calls are short." },
    }),
    resources: resources("Resources of the tool server.", { cpu: "50m", memory: "128Mi" }, { memory: "512Mi" }),
  }),
  simulator: group("The platform simulator, to try Mooring without a contract. Its state is lost with its pod.", {
    create: flag("Run the platform simulator, and use it for Accounts that set no endpoints.", false),
    speed: z
      .number()
      .min(0.1)
      .default(1)
      .describe("Speed of its clock. Above 1 it runs ahead, and Accounts show ClockSkew."),
    resources: resources("Resources of the simulator.", { cpu: "100m", memory: "256Mi" }, { memory: "1Gi" }),
  }),
});
