import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { connect } from "node:tls";
import { beforeAll, describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { z } from "zod";
import { openServer } from "../../src/server/open-server.ts";
import { root, run } from "../processes.ts";

const chart = join(root, "deploy/chart");
let helm: string;

beforeAll(async () => {
  helm = (await run(join(root, "test/clients/setup-helm"), ["helm"])).stdout.trim();
}, 300_000);

const object = z.looseObject({ kind: z.string(), metadata: z.looseObject({ name: z.string() }) });

function template(...values: string[]) {
  const set = values.flatMap((value) => ["--set-json", value]);
  return run(helm, ["template", "mooring", chart, "-n", "mooring-system", ...set]);
}

/** The objects of the chart with these values, by kind and name. */
async function rendered(...values: string[]) {
  const { code, stdout, stderr } = await template('platform="ionos"', ...values);
  expect(code, stderr).toBe(0);
  // No warnings: nobody reads a warning that appears on every use.
  expect(stderr).toBe("");
  const all = parseAllDocuments(stdout).flatMap((each) => object.nullable().parse(each.toJS()) ?? []);
  return new Map(all.map((each) => [`${each.kind}/${each.metadata.name}`, each]));
}

const both = ["gateway.create=true", "tools.create=true", 'endpoints={"inference":"https://inference.example.com"}'];
const servers = ["gateway", "tools"] as const;
const container = z.looseObject({
  args: z.array(z.string()),
  readinessProbe: z.looseObject({
    httpGet: z.looseObject({ port: z.string(), scheme: z.string().optional() }),
  }),
});
const deployment = z.looseObject({
  spec: z.looseObject({
    template: z.looseObject({
      spec: z.looseObject({ containers: z.tuple([container]), volumes: z.array(z.looseObject({})) }),
    }),
  }),
});
const service = z.looseObject({ spec: z.looseObject({ ports: z.array(z.looseObject({ port: z.number() })) }) });
const pair = z.looseObject({
  type: z.string(),
  data: z.object({ "tls.crt": z.string(), "tls.key": z.string(), "ca.crt": z.string() }),
});
const decoded = (text: string) => Buffer.from(text, "base64").toString();

/** Whether a client that has ca.crt trusts a server with this pair. */
async function isTrusted(data: z.output<typeof pair>["data"], host: string): Promise<boolean> {
  const own = { cert: decoded(data["tls.crt"]), key: decoded(data["tls.key"]) };
  const { server, url } = await openServer({ host: "127.0.0.1", port: 0 }, (_, response) => response.end(), own);
  try {
    return await new Promise((resolve, reject) => {
      const ca = decoded(data["ca.crt"]);
      const port = Number(new URL(url).port);
      const socket = connect({ port, host: "127.0.0.1", servername: host, ca }, () => {
        resolve(socket.authorized);
        socket.destroy();
      });
      socket.once("error", reject);
    });
  } finally {
    server.close();
  }
}

describe.each(servers)("the %s of the chart", (server) => {
  const name = `mooring-${server}`;

  it("is served over TLS by default, with a certificate for its Service", async () => {
    const all = await rendered(...both);
    const { type, data } = pair.parse(all.get(`Secret/${name}-tls`));
    expect(type).toBe("kubernetes.io/tls");
    const certificate = new X509Certificate(decoded(data["tls.crt"]));
    expect(certificate.checkPrivateKey(createPrivateKey(decoded(data["tls.key"])))).toBe(true);
    for (const host of [name, `${name}.mooring-system`, `${name}.mooring-system.svc`])
      expect(certificate.checkHost(host)).toBe(host);
    expect(certificate.verify(new X509Certificate(decoded(data["ca.crt"])).publicKey)).toBe(true);
    expect(await isTrusted(data, `${name}.mooring-system.svc`)).toBe(true);
    const { spec } = deployment.parse(all.get(`Deployment/${name}`)).spec.template;
    const [{ args, readinessProbe }] = spec.containers;
    expect(args).toContain("--tls-cert-file=/etc/mooring-tls/tls.crt");
    expect(args).toContain("--tls-key-file=/etc/mooring-tls/tls.key");
    if (server === "tools") expect(readinessProbe.httpGet.scheme).toBe("HTTPS");
    expect(JSON.stringify(spec.volumes)).toContain(`"secretName":"${name}-tls"`);
    expect(service.parse(all.get(`Service/${name}`)).spec.ports[0]?.port).toBe(443);
  });

  it("takes a Secret that is given, or has cert-manager write one", async () => {
    const given = await rendered(...both, `${server}.tlsSecret="mine"`);
    expect(given.has(`Secret/${name}-tls`)).toBe(false);
    expect(JSON.stringify(given.get(`Deployment/${name}`))).toContain('"secretName":"mine"');
    const issued = await rendered(...both, `${server}.tls.issuerRef={"kind":"ClusterIssuer","name":"internal"}`);
    expect(issued.has(`Secret/${name}-tls`)).toBe(false);
    expect(issued.get(`Certificate/${name}`)).toMatchObject({
      apiVersion: "cert-manager.io/v1",
      spec: {
        secretName: `${name}-tls`,
        dnsNames: expect.arrayContaining([`${name}.mooring-system.svc`]),
        issuerRef: { kind: "ClusterIssuer", name: "internal" },
      },
    });
    expect(JSON.stringify(issued.get(`Deployment/${name}`))).toContain(`"secretName":"${name}-tls"`);
  });

  it("is served without TLS only where somebody says so", async () => {
    const plain = await rendered(...both, `${server}.tls.enabled=false`);
    expect(plain.has(`Secret/${name}-tls`)).toBe(false);
    expect(JSON.stringify(plain.get(`Deployment/${name}`))).not.toContain("tls");
    expect(service.parse(plain.get(`Service/${name}`)).spec.ports[0]?.port).toBe(80);
  });
});

const policy = z.looseObject({
  spec: z.looseObject({
    podSelector: z.looseObject({}),
    policyTypes: z.array(z.string()),
    ingress: z.array(
      z.looseObject({ ports: z.array(z.looseObject({ port: z.string() })), from: z.unknown().optional() }),
    ),
    egress: z.array(z.unknown()).optional(),
  }),
});

describe("the metrics of the gateway of the chart", () => {
  const gatewayIn = async (...values: string[]) => {
    const all = await rendered(...both, ...values);
    return deployment.parse(all.get("Deployment/mooring-gateway")).spec.template.spec.containers[0];
  };

  it("need authorization by default, as the operator's do", async () => {
    const { args, readinessProbe } = await gatewayIn();
    expect(args).toContain("--metrics-auth");
    expect(readinessProbe.httpGet.scheme).toBe("HTTPS");
  });

  it("are open where somebody says so", async () => {
    const { args, readinessProbe } = await gatewayIn("metrics.auth=false");
    expect(args).not.toContain("--metrics-auth");
    expect(readinessProbe.httpGet.scheme).toBe("HTTP");
  });
});

describe("the NetworkPolicies of the chart", () => {
  const names = ["mooring", "mooring-gateway", "mooring-tools"];

  it("are there by default for all three, and leave open the ways to the API server and the platform", async () => {
    const all = await rendered(...both);
    const ports = names.map((name) => {
      const { spec } = policy.parse(all.get(`NetworkPolicy/${name}`));
      expect(spec.policyTypes).toEqual(["Ingress"]);
      expect(spec.egress).toBeUndefined();
      return spec.ingress.flatMap((rule) => rule.ports.map(({ port }) => port));
    });
    expect(ports).toEqual([["metrics"], ["api", "metrics"], ["http"]]);
    // Only workloads of the cluster call these two.
    for (const name of names.slice(1))
      expect(policy.parse(all.get(`NetworkPolicy/${name}`)).spec.ingress[0]?.from).toEqual([{ namespaceSelector: {} }]);
    const alone = await rendered();
    expect([...alone.keys()].filter((key) => key.startsWith("NetworkPolicy/"))).toEqual(["NetworkPolicy/mooring"]);
  });

  it("name peers and ways out where these are given", async () => {
    const peers = [{ podSelector: { matchLabels: { app: "caller" } } }];
    const egress = [{ ports: [{ port: 443 }] }];
    const all = await rendered(
      ...both,
      `networkPolicy.gatewayFrom=${JSON.stringify(peers)}`,
      `networkPolicy.toolsFrom=${JSON.stringify(peers)}`,
      `networkPolicy.metricsFrom=${JSON.stringify(peers)}`,
      `networkPolicy.egress=${JSON.stringify(egress)}`,
    );
    for (const name of names) {
      const { spec } = policy.parse(all.get(`NetworkPolicy/${name}`));
      expect(spec.ingress.map(({ from }) => from)).toEqual(spec.ingress.map(() => peers));
      expect(spec).toMatchObject({ policyTypes: ["Ingress", "Egress"], egress });
    }
    const none = await rendered(...both, "networkPolicy.create=false");
    expect([...none.keys()].filter((key) => key.startsWith("NetworkPolicy/"))).toEqual([]);
  });
});

it("limits of the chart are flags of the operator", async () => {
  const all = await rendered('limits={"Account":50,"*":20000}');
  const { spec } = deployment.parse({
    ...all.get("Deployment/mooring"),
    spec: { template: { spec: { volumes: [], ...Object(all.get("Deployment/mooring")).spec.template.spec } } },
  }).spec.template;
  expect(spec.containers[0].args).toEqual(expect.arrayContaining(["--limit=Account=50", "--limit=*=20000"]));
});

const workloads = [
  { name: "mooring", component: "operator", at: (key: string) => key },
  { name: "mooring-gateway", component: "gateway", at: (key: string) => `gateway.${key}` },
  { name: "mooring-tools", component: "tools", at: (key: string) => `tools.${key}` },
] as const;

describe.each(workloads)("the Deployment of the $component", ({ name, component, at }) => {
  const values = {
    serviceAccount: { name: "mine", annotations: { "example.com/role": "reader" } },
    strategy: { type: "Recreate" },
    revisionHistoryLimit: 3,
    terminationGracePeriodSeconds: 40,
    podLabels: { "example.com/team": "platform" },
    podAnnotations: { "example.com/scrape": "no" },
    nodeSelector: { "kubernetes.io/os": "linux" },
    tolerations: [{ operator: "Exists" }],
    affinity: { nodeAffinity: {} },
    topologySpreadConstraints: [{ maxSkew: 1, topologyKey: "zone", whenUnsatisfiable: "DoNotSchedule" }],
    priorityClassName: "high",
    hostAliases: [{ ip: "10.0.0.1", hostnames: ["api.example.com"] }],
    dnsPolicy: "None",
    dnsConfig: { nameservers: ["10.0.0.2"] },
    livenessProbe: { failureThreshold: 7 },
    readinessProbe: { periodSeconds: 9 },
    extraArgs: ["--more"],
    extraEnv: [{ name: "MORE", value: "1" }],
    volumes: [{ name: "more", emptyDir: {} }],
    volumeMounts: [{ name: "more", mountPath: "/more" }],
    resources: { limits: { memory: "2Gi" } },
    podDisruptionBudget: { maxUnavailable: "50%" },
  };
  const given = Object.entries(values).map(([key, value]) => `${at(key)}=${JSON.stringify(value)}`);

  it("has everything that values say about pods, and its own labels", async () => {
    const all = await rendered(...both, ...given, 'commonLabels={"example.com/owner":"me"}');
    const { strategy, revisionHistoryLimit, podLabels, podAnnotations, serviceAccount, ...rest } = values;
    const { livenessProbe, readinessProbe, extraArgs, extraEnv, volumes, volumeMounts, resources, ...pod } = rest;
    const { podDisruptionBudget, ...podSpec } = pod;
    expect(all.get(`Deployment/${name}`)).toMatchObject({
      metadata: { labels: { "example.com/owner": "me", "app.kubernetes.io/component": component } },
      spec: {
        strategy,
        revisionHistoryLimit,
        template: {
          metadata: { labels: podLabels, annotations: podAnnotations },
          spec: {
            ...podSpec,
            serviceAccountName: serviceAccount.name,
            volumes: expect.arrayContaining(volumes),
            containers: [
              {
                args: expect.arrayContaining(extraArgs),
                env: expect.arrayContaining(extraEnv),
                volumeMounts: expect.arrayContaining(volumeMounts),
                livenessProbe: { ...livenessProbe, timeoutSeconds: 5, httpGet: { path: "/healthz" } },
                readinessProbe: { ...readinessProbe, httpGet: { path: "/readyz" } },
                resources,
              },
            ],
          },
        },
      },
    });
    expect(all.get("ServiceAccount/mine")?.metadata).toMatchObject({ annotations: serviceAccount.annotations });
    expect(all.get(`PodDisruptionBudget/${name}`)).toMatchObject({
      spec: { ...podDisruptionBudget, selector: { matchLabels: { "app.kubernetes.io/component": component } } },
    });
  });

  it("uses a ServiceAccount that is there, and gives its rights to that one", async () => {
    const all = await rendered(...both, `${at("serviceAccount")}={"create":false,"name":"mine"}`);
    expect(all.has("ServiceAccount/mine")).toBe(false);
    expect(all.get(`ClusterRoleBinding/${name}`)).toMatchObject({
      subjects: [{ kind: "ServiceAccount", name: "mine", namespace: "mooring-system" }],
    });
    const policies = [...all].filter(([key]) => key.startsWith("ValidatingAdmissionPolicy/")).map(([, each]) => each);
    const bound = component === "operator" ? 4 : component === "gateway" ? 1 : 0;
    expect(JSON.stringify(policies).split("system:serviceaccount:mooring-system:mine'")).toHaveLength(bound + 1);
  });
});

describe("names and labels of the chart", () => {
  it("have another name in them where one is given, and nothing keeps the old one but what is one per cluster", async () => {
    const monitoring = ["metrics.serviceMonitor.create=true", "metrics.rules.create=true"];
    const all = await rendered(
      ...both,
      ...monitoring,
      'nameOverride="moor"',
      'commonLabels={"example.com/owner":"me"}',
    );
    const own = [...all].filter(([key]) => !key.startsWith("CustomResourceDefinition/"));
    expect(own.map(([key]) => key).filter((key) => !/\/moor(-|$)/.test(key))).toEqual([
      "ClusterRole/mooring-view",
      "ClusterRole/mooring-edit",
      "ClusterRole/mooring-admin",
      "ValidatingAdmissionPolicy/mooring-crds",
      "ValidatingAdmissionPolicyBinding/mooring-crds",
    ]);
    for (const [key, { metadata }] of own) expect(metadata.labels, key).toMatchObject({ "example.com/owner": "me" });
    const selector = { "app.kubernetes.io/name": "moor", "app.kubernetes.io/component": "operator" };
    expect(all.get("Service/moor-metrics")).toMatchObject({ spec: { selector } });
    expect(all.get("Deployment/moor")).toMatchObject({ spec: { selector: { matchLabels: selector } } });
  });

  it("take further objects, as objects and as templates", async () => {
    const objects = [
      { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "one" } },
      "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}-two\n",
    ];
    const all = await rendered(`extraObjects=${JSON.stringify(objects)}`);
    expect(all.has("ConfigMap/one") && all.has("ConfigMap/mooring-two")).toBe(true);
  });
});

describe("the platform of the chart", () => {
  it("is a flag of the operator, the gateway and the tools, below single endpoints", async () => {
    const all = await rendered(
      "gateway.create=true",
      "tools.create=true",
      'endpoints={"dns":"https://dns.example.com"}',
    );
    const argsOf = (name: string) => JSON.stringify(all.get(`Deployment/${name}`));
    expect(argsOf("mooring")).toContain('"--platform=ionos","--endpoint=dns=https://dns.example.com"');
    expect(argsOf("mooring-gateway")).toContain('"--platform=ionos"');
    expect(argsOf("mooring-tools")).toContain('"--platform=ionos"');
  });

  it.each([
    [[], "no platform is set: set platform=ionos, or endpoints.api"],
    [['platform="other"'], "/platform"],
    [['platform="ionos"', 'endpoints={"apis":"https://api.example.com"}'], "additional properties 'apis' not allowed"],
    [['platform="ionos"', 'endpoints={"api":"api.example.com"}'], "/endpoints/api"],
    [['platform="ionos"', 'gateway={"replica":3}'], "additional properties 'replica' not allowed"],
    [['platform="ionos"', 'watchNamespace="shop"', "gateway.create=true"], "gateway.create: cannot be combined with"],
    [['platform="ionos"', 'watchNamespace="shop"', "tools.create=true"], "tools.create: cannot be combined with"],
    [
      ['platform="ionos"', "metrics.serviceMonitor.create=true", "metrics.podMonitor.create=true"],
      "metrics.podMonitor.create: cannot be combined",
    ],
  ])("%j is refused", async (values, message) => {
    const { code, stderr } = await template(...values);
    expect(code).toBe(1);
    expect(stderr).toContain(message);
  });
});

describe("the monitoring of the chart", () => {
  const rule = z.object({
    alert: z.string(),
    annotations: z.object({ summary: z.string(), description: z.string(), runbook_url: z.string() }),
  });
  const rules = z.looseObject({
    spec: z.object({ groups: z.array(z.object({ name: z.string(), rules: z.array(rule).min(1) })) }),
  });
  const on = ["metrics.rules.create=true", "metrics.dashboards.create=true", "metrics.serviceMonitor.create=true"];

  it("has a page for every alert", async () => {
    const all = await rendered(...both, ...on, 'docsUrl="https://docs.example.com/"');
    const { groups } = rules.parse(all.get("PrometheusRule/mooring")).spec;
    expect(groups.map(({ name }) => name)).toEqual(["mooring", "mooring-gateway", "mooring-tools"]);
    const page = readFileSync(join(root, "docs/troubleshooting.md"), "utf8");
    for (const { alert, annotations } of groups.flatMap((group) => group.rules)) {
      const { runbook_url } = annotations;
      if (runbook_url.startsWith("https://docs.example.com/reference/reasons.html")) continue;
      expect(runbook_url).toBe(`https://docs.example.com/troubleshooting.html#${alert.toLowerCase()}`);
      expect(page).toContain(`### ${alert}\n`);
    }
  });

  it("has dashboards and a way to the metrics of the gateway, where it runs", async () => {
    const dashboards = (all: Map<string, unknown>) => [...all.keys()].filter((key) => key.startsWith("ConfigMap/"));
    expect(dashboards(await rendered(...on))).toEqual(["ConfigMap/mooring-fleet", "ConfigMap/mooring-controller"]);
    const all = await rendered(...both, ...on, 'metrics.serviceMonitor.relabelings=[{"action":"keep"}]');
    expect(dashboards(all)).toEqual(expect.arrayContaining(["ConfigMap/mooring-gateway", "ConfigMap/mooring-tools"]));
    expect(all.get("Service/mooring-gateway-metrics")).toMatchObject({ spec: { ports: [{ name: "metrics" }] } });
    expect(all.get("ServiceMonitor/mooring")).toMatchObject({
      spec: { endpoints: [{ port: "metrics", relabelings: [{ action: "keep" }] }] },
    });
    const pods = 'metrics.podMonitor={"create":true,"bearerTokenSecret":{"name":"reader","key":"token"}}';
    expect((await rendered(...both, pods)).get("PodMonitor/mooring")).toMatchObject({
      spec: { podMetricsEndpoints: [{ port: "metrics", scheme: "https", bearerTokenSecret: { name: "reader" } }] },
    });
  });
});
