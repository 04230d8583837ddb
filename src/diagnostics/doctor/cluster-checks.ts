import { z } from "zod";
import { SHARD } from "../../engine/state/names.ts";
import { GROUP, kinds, VERSION } from "../../kinds/index.ts";
import { isForbidden, isNotFound } from "../../kube/client/errors.ts";
import { NAMESPACES, type Resource } from "../../kube/resource.ts";
import { leadersOf } from "../why/operator-state.ts";
import { type Check, type DoctorInput, examine, fail, ok, warn } from "./check.ts";
import { endpointChecks } from "./operator-endpoints.ts";

const DEPLOYMENTS: Resource = {
  group: "apps",
  version: "v1",
  kind: "Deployment",
  plural: "deployments",
  namespaced: true,
};

const serverVersion = z.looseObject({ gitVersion: z.string() });
const discovery = z.looseObject({ resources: z.array(z.looseObject({ name: z.string() })) });
const install = "apply the CRDs of this version: kubectl apply --server-side -f crds/, or upgrade the chart";

/** Checks the API server, the CRDs and their policy. */
export async function clusterChecks(input: DoctorInput): Promise<Check[]> {
  const { cluster, sources } = input;
  return [
    ...(await examine(input, "cluster", "API server", async () => {
      const { gitVersion } = serverVersion.parse(await cluster.ask("/version", sources.signal));
      return ok("cluster", "API server", `answers, Kubernetes ${gitVersion}`);
    })),
    ...(await examine(input, "cluster", "CRDs", () => crds(input))),
    ...(await examine(input, "cluster", "admission policies", () => policies(input))),
  ];
}

async function crds({ cluster, sources }: DoctorInput): Promise<Check[]> {
  const served = await cluster.ask(`/apis/${GROUP}/${VERSION}`, sources.signal).catch((error: unknown) => {
    if (isNotFound(error)) return { resources: [] };
    throw error;
  });
  const names = new Set(discovery.parse(served).resources.map(({ name }) => name));
  const absent = kinds.filter(({ plural }) => !names.has(plural)).map(({ kind }) => kind);
  if (absent.length === kinds.length) return [fail("cluster", "CRDs", `none of ${GROUP} is installed`, install)];
  if (absent.length > 0) return [fail("cluster", "CRDs", `missing: ${absent.join(", ")}`, install)];
  const older: string[] = [];
  const newer: string[] = [];
  for (const { kind, plural, spec } of kinds) {
    const fields = specFields(
      await cluster
        .ask(`/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${plural}.${GROUP}`, sources.signal)
        .catch(undefinedIfForbidden),
    );
    if (fields === undefined) {
      const message = `all ${kinds.length} kinds are served; their schemas may not be read, so the version is not compared`;
      return [warn("cluster", "CRDs", message, "ask somebody who may get customresourcedefinitions")];
    }
    const known = Object.keys(spec.shape);
    if (known.some((field) => !fields.includes(field))) older.push(kind);
    if (fields.some((field) => !known.includes(field) && !shared.has(field))) newer.push(kind);
  }
  if (older.length > 0) {
    return [fail("cluster", "CRDs", `older than this program, fields are missing: ${older.join(", ")}`, install)];
  }
  if (newer.length > 0) {
    const fix = "use the version of mooring that belongs to the CRDs";
    return [warn("cluster", "CRDs", `newer than this program: ${newer.join(", ")}`, fix)];
  }
  return [ok("cluster", "CRDs", `all ${kinds.length} kinds are served, in the version of this program`)];
}

/** Fields of spec that all kinds share. */
const shared = new Set([
  "accountRef",
  "deletionPolicy",
  "replacePolicy",
  "recreatePolicy",
  "managementPolicy",
  "externalId",
]);

const crd = z.looseObject({
  spec: z.looseObject({
    versions: z.array(
      z.looseObject({
        name: z.string(),
        schema: z.looseObject({
          openAPIV3Schema: z.looseObject({
            properties: z.looseObject({ spec: z.looseObject({ properties: z.record(z.string(), z.unknown()) }) }),
          }),
        }),
      }),
    ),
  }),
});

function specFields(raw: unknown): string[] | undefined {
  if (raw === undefined) return undefined;
  const version = crd.parse(raw).spec.versions.find(({ name }) => name === VERSION);
  return Object.keys(version?.schema.openAPIV3Schema.properties.spec.properties ?? {});
}

const undefinedIfForbidden = (error: unknown): undefined => {
  if (!isForbidden(error)) throw error;
};

const policyList = z.looseObject({ items: z.array(z.looseObject({ metadata: z.looseObject({ name: z.string() }) })) });

async function policies({ cluster, sources }: DoctorInput): Promise<Check> {
  const path = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies";
  const { items } = policyList.parse(await cluster.ask(path, sources.signal));
  const ours = items.map(({ metadata }) => metadata.name).filter((name) => name.startsWith("mooring"));
  if (ours.length > 0) return ok("cluster", "admission policies", `${ours.length} are installed: ${ours.join(", ")}`);
  const fix = "install the chart, or the policies of deploy/kustomize/install.yaml";
  return warn(
    "cluster",
    "admission policies",
    "none of Mooring is installed: the operator's rights are wider than needed",
    fix,
  );
}

/** Checks Deployments, their endpoints, leaders and shards. */
export async function operatorChecks(input: DoctorInput): Promise<Check[]> {
  return [
    ...(await examine(input, "operator", "Deployment", () => deployments(input))),
    ...(await examine(input, "operator", "leader", () => leaders(input))),
    ...(await examine(input, "operator", "shards", () => shards(input))),
  ];
}

const deployment = z.looseObject({
  spec: z.looseObject({ replicas: z.number().nullish() }),
  status: z.looseObject({ readyReplicas: z.number().nullish() }).nullish(),
});

/** The labels of the chart. */
const labelSelector = "app.kubernetes.io/name=mooring,app.kubernetes.io/component=operator";

async function deployments({ cluster, sources, version }: DoctorInput): Promise<Check[]> {
  const found = await cluster.list(DEPLOYMENTS, { labelSelector }, sources.signal);
  if (found.length === 0) {
    return [
      warn(
        "operator",
        "Deployment",
        "there is none with the labels of the chart",
        "install the chart, or run mooring operator",
      ),
    ];
  }
  const running = await leadersOf(cluster, sources.now(), sources.signal);
  const elsewhere = running === "hidden" ? undefined : running.find((leader) => leader.running);
  const states = found.map((each): Check => {
    const { spec, status } = deployment.parse(each);
    const { name, namespace, labels = {} } = each.metadata;
    const title = `${namespace}/${name}`;
    const wanted = spec.replicas ?? 1;
    const ready = status?.readyReplicas ?? 0;
    const operatorVersion = labels["app.kubernetes.io/version"];
    if (wanted === 0 && elsewhere)
      return ok("operator", "Deployment", `${title} is scaled to 0; ${elsewhere.holder} runs as the operator instead`);
    if (wanted === 0)
      return warn(
        "operator",
        "Deployment",
        `${title} is scaled to 0`,
        `kubectl -n ${namespace} scale deployment ${name} --replicas 1`,
      );
    if (ready === 0)
      return fail("operator", "Deployment", `${title}: no replica is ready`, `kubectl -n ${namespace} describe pods`);
    if (operatorVersion !== undefined && version !== undefined && operatorVersion !== version) {
      return warn(
        "operator",
        "Deployment",
        `${title} has version ${operatorVersion}, this program ${version}`,
        "use the version of the operator",
      );
    }
    return ok(
      "operator",
      "Deployment",
      `${title}: ${ready} of ${wanted} replicas are ready, version ${operatorVersion ?? "unknown"}`,
    );
  });
  return [...states, ...endpointChecks(found)];
}

async function leaders({ cluster, sources }: DoctorInput): Promise<Check | Check[]> {
  const found = await leadersOf(cluster, sources.now(), sources.signal);
  if (found === "hidden") {
    return warn(
      "operator",
      "leader",
      "not checked: you may not list Leases",
      "ask for the right to list leases in the operator's namespace",
    );
  }
  if (found.length === 0) {
    return fail(
      "operator",
      "leader",
      "no operator has ever led here: there is no Lease called mooring",
      "install and start the operator",
    );
  }
  return found.map(({ namespace, lease, holder, renewed, running }) =>
    running
      ? ok("operator", "leader", `${holder} holds Lease ${namespace}/${lease}`)
      : fail(
          "operator",
          "leader",
          `no operator runs: Lease ${namespace}/${lease} was last renewed at ${renewed || "no time"}`,
          `start the operator: kubectl -n ${namespace} get deployments,pods`,
        ),
  );
}

async function shards({ cluster, sources }: DoctorInput): Promise<Check | Check[]> {
  const namespaces = await cluster.list(NAMESPACES, { labelSelector: SHARD }, sources.signal);
  const named = [...new Set(namespaces.map(({ metadata }) => metadata.labels?.[SHARD] ?? ""))];
  if (named.length === 0) return ok("operator", "shards", "no namespace has a shard label");
  const found = await leadersOf(cluster, sources.now(), sources.signal);
  if (found === "hidden")
    return warn("operator", "shards", "not checked: you may not list Leases", "ask for the right to list leases");
  return named.map((shard) => {
    const runs = found.some(({ lease, running }) => lease === `mooring-${shard}` && running);
    const fix = `start an operator with --shard ${shard}, or remove the label ${SHARD}`;
    return runs
      ? ok("operator", "shards", `shard ${shard} runs`)
      : fail("operator", "shards", `shard ${shard} does not run`, fix);
  });
}
