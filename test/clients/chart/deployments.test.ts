import { beforeAll, describe, expect, it } from "vitest";
import { both, deployment, findHelm, rendered, template } from "./chart.ts";

beforeAll(findHelm, 300_000);

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

  it("have another full name, and keep the name in their labels", async () => {
    const all = await rendered(...both, 'fullnameOverride="moor"');
    for (const name of ["moor", "moor-gateway", "moor-tools"])
      expect(all.get(`Deployment/${name}`)).toMatchObject({
        metadata: { labels: { "app.kubernetes.io/name": "mooring" } },
        spec: { template: { spec: { serviceAccountName: name } } },
      });
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

it("a proxy to the platform is for all that call it", async () => {
  const all = await rendered(...both, 'proxy={"httpsProxy":"http://proxy.example.com:3128","noProxy":"10.0.0.0/8"}');
  const env = expect.arrayContaining([
    { name: "HTTPS_PROXY", value: "http://proxy.example.com:3128" },
    { name: "NO_PROXY", value: "10.0.0.0/8" },
  ]);
  for (const { name } of workloads)
    expect(all.get(`Deployment/${name}`), name).toMatchObject({
      spec: { template: { spec: { containers: [{ env }] } } },
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
