const certificate = "-----BEGIN CERTIFICATE-----\nMA==\n-----END CERTIFICATE-----\n";

/** Values for the chart as a whole, by what they are for. */
export const valueSets = {
  "a platform": { platform: "ionos" },
  "one namespace": { platform: "ionos", watchNamespace: "shop", crds: { install: false } },
  everything: {
    image: { repository: "registry.example.com/mooring", digest: `sha256:${"0".repeat(64)}` },
    imagePullSecrets: [{ name: "pull" }],
    namespace: { create: true },
    clusterName: "blue",
    shards: ["a", "blue-2"],
    endpoints: { api: "https://api.example.com" },
    allowEndpoints: ["https://*.example.com"],
    ca: certificate,
    proxy: { httpsProxy: "http://proxy.example.com:3128", noProxy: "10.0.0.0/8" },
    clusterAccount: {
      create: true,
      spec: { credentialsSecretRef: { name: "token" }, namespaces: { names: ["shop"] }, default: true },
    },
    extraArgs: ["--resync=10m"],
    extraEnv: [{ name: "NODE_OPTIONS", value: "--max-old-space-size=768" }],
    metrics: { serviceMonitor: { create: true }, rules: { create: true }, dashboards: { create: true } },
    extraObjects: [{ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "extra" } }],
    strategy: { type: "Recreate" },
    hostAliases: [{ ip: "10.0.0.1", hostnames: ["api.example.com"] }],
    dnsConfig: { nameservers: ["10.0.0.2"] },
    livenessProbe: { failureThreshold: 5 },
    volumes: [{ name: "more", emptyDir: {} }],
    volumeMounts: [{ name: "more", mountPath: "/more" }],
    networkPolicy: { create: true, metricsFrom: [{ namespaceSelector: {} }], egress: [{ ports: [{ port: 443 }] }] },
    podAnnotations: { "example.com/team": "platform" },
    podLabels: { "example.com/team": "platform" },
    nodeSelector: { "kubernetes.io/os": "linux" },
    tolerations: [{ operator: "Exists" }],
    affinity: { nodeAffinity: {} },
    topologySpreadConstraints: [
      { maxSkew: 1, topologyKey: "kubernetes.io/hostname", whenUnsatisfiable: "DoNotSchedule" },
    ],
    priorityClassName: "system-cluster-critical",
    simulator: { create: true, speed: 20 },
    gateway: { create: true, account: "shared", tlsSecret: "gateway-tls", replicas: 3, extraArgs: ["--most-wait=10s"] },
    tools: { create: true, loadMode: "lazy", hosts: ["tools.example.com"] },
    limits: { Account: 50 },
  },
  "servers with certificates of an issuer": {
    commonLabels: { "example.com/owner": "me" },
    endpoints: { inference: "https://inference.example.com" },
    gateway: { create: true },
    tools: { create: true, tls: { issuerRef: { kind: "ClusterIssuer", name: "internal" } } },
  },
} satisfies Record<string, object>;

export type ValueSet = keyof typeof valueSets;
export const sets = Object.keys(valueSets).filter((name): name is ValueSet => name in valueSets);
