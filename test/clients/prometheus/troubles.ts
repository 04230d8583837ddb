import { z } from "zod";
import { applyObject } from "../../../src/cli/demo/install.ts";
import { RECONCILE_AT, ROTATE_AT, SHARD } from "../../../src/engine/state/names.ts";
import { pathOf, SECRETS } from "../../../src/kube/resource.ts";
import { SIGNING_KEY } from "../../../src/operator/signing-key.ts";
import type { Platform } from "../../cluster/chaos/platform.ts";
import type { Stage } from "../../cluster/chaos/stage.ts";
import { until } from "../../cluster/chaos/wait.ts";
import { datacenter, ipBlock, lan, logPipeline, metricPipeline } from "../../cluster/objects.ts";
import { accountSpec, inStream, type Manifest, manifest } from "../../subjects/surroundings.ts";

export const secret = (name: string, token: string) => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name },
  stringData: { token },
});
export const account = (name: string, { url: api }: Platform) =>
  manifest("Account", name, { ...accountSpec({ api, nth: 0 }), credentialsSecretRef: { name } });
/** An object that uses this Account. */
export const through = (name: string, object: Manifest) => ({
  ...object,
  spec: { ...object.spec, accountRef: { name } },
});

/** A token of the platform that is valid for this many days. */
async function tokenFor({ steering }: Platform, days: number): Promise<string> {
  const answer = await steering.call("GET", `/auth/v1/tokens/generate?ttl=${days * 86_400}`);
  return z.object({ token: z.string() }).parse(answer).token;
}

/** Grants or revokes the operator's right to write the status of IPBlocks. */
async function statusOfIPBlocks(stage: Stage, given: boolean): Promise<void> {
  const path = `/apis/rbac.authorization.k8s.io/v1/clusterroles/mooring-${stage.namespace}`;
  const right = "ipblocks/status";
  const role = z
    .looseObject({ rules: z.array(z.looseObject({ resources: z.array(z.string()) })) })
    .parse(await stage.admin.request({ method: "GET", path }));
  const rules = role.rules.map(({ resources, ...rest }) => {
    const others = resources.filter((each) => each !== right);
    return { ...rest, resources: given && others.includes("lans/status") ? [...others, right] : others };
  });
  await stage.admin.request({ method: "PUT", path, body: { ...role, rules } });
}

/** Assigns a namespace to a shard. */
const shardOf = ({ admin }: Stage, name: string, shard?: string) =>
  applyObject(admin, {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name, labels: shard === undefined ? {} : { [SHARD]: shard } },
  });

const noSecrets = (refuses: boolean) => ({
  apiVersion: "admissionregistration.k8s.io/v1",
  kind: "ValidatingAdmissionPolicy",
  metadata: { name: "no-signing-key" },
  spec: {
    failurePolicy: "Fail",
    matchConstraints: {
      resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["secrets"] }],
    },
    validations: [{ expression: refuses ? `!object.metadata.name.startsWith('${SIGNING_KEY}')` : "true" }],
  },
});
const binding = {
  apiVersion: "admissionregistration.k8s.io/v1",
  kind: "ValidatingAdmissionPolicyBinding",
  metadata: { name: "no-signing-key" },
  spec: { policyName: "no-signing-key", validationActions: ["Deny"] },
};

/** `good` has no faults. Each of the others is the endpoint of the Account of the same name. */
export type Platforms = Record<"good" | "failing" | "throttling" | "hanging", Platform>;

interface Setting {
  readonly stage: Stage;
  readonly platforms: Platforms;
}

/** The condition of each alert: how to cause it and how to end it. */
interface Trouble {
  begin(setting: Setting): Promise<void>;
  end(setting: Setting): Promise<void>;
  /** Labels of the alert besides its name. */
  labels: Record<string, unknown>;
}
export const annotate = (stage: Stage, kind: string, name: string, annotation: string) =>
  stage.patch(kind, name, { metadata: { annotations: { [annotation]: new Date().toISOString() } } });
const about = (kind: string, name: string) => ({ kind, name });
export const troubles: Record<string, Trouble> = {
  MooringObjectStalled: {
    begin: ({ stage }) => stage.apply(through("good", datacenter("nowhere", { location: "de/xyz" }))),
    end: ({ stage }) => stage.remove("Datacenter", "nowhere"),
    labels: { kind: "Datacenter", reason: "Rejected" },
  },
  MooringObjectNotReady: {
    begin: ({ stage }) => stage.apply(through("good", lan("lost", { datacenterRef: { name: "missing" } }))),
    end: ({ stage }) => stage.apply(through("good", datacenter("missing"))),
    labels: about("Lan", "lost"),
  },
  MooringPlatformErrors: {
    async begin({ stage, platforms }) {
      const broken = ["POST *", "GET /logging/{region}/pipelines"];
      await platforms.failing.steering.faults(...broken.map((route) => ({ fault: "status", status: 503, route })));
      await stage.apply(through("failing", logPipeline("logs")));
    },
    end: ({ platforms }) => platforms.failing.steering.faults(),
    labels: { product: "logging" },
  },
  MooringPlatformThrottled: {
    async begin({ stage, platforms }) {
      await platforms.throttling.steering.faults({ fault: "status", status: 429, retryAfter: 4 });
      await stage.apply(through("throttling", datacenter("slow")));
    },
    end: ({ platforms }) => platforms.throttling.steering.faults(),
    labels: {},
  },
  MooringTokenExpires: {
    begin: async ({ stage, platforms }) =>
      stage.apply(secret("short", await tokenFor(platforms.good, 7)), account("short", platforms.good)),
    end: async ({ stage, platforms }) => stage.apply(secret("short", await tokenFor(platforms.good, 365))),
    labels: about("Account", "short"),
  },
  MooringCertificateExpires: {
    begin: ({ stage }) => stage.apply(through("good", manifest("KafkaUser", "admin", inStream))),
    async end({ stage, platforms }) {
      // The platform issues the next certificate after half of the lifetime; the operator asks for it after two thirds.
      await platforms.good.steering.call("POST", "/_simulator/advance", { seconds: 300 * 86_400 });
      await annotate(stage, "KafkaUser", "admin", RECONCILE_AT);
    },
    labels: about("KafkaUser", "admin"),
  },
  MooringKeyOld: {
    begin: ({ stage }) => stage.apply(through("good", metricPipeline("web"))),
    async end({ stage }) {
      await annotate(stage, "MetricPipeline", "web", ROTATE_AT);
      await annotate(stage, "LogPipeline", "logs", ROTATE_AT);
    },
    labels: about("MetricPipeline", "web"),
  },
  MooringShardNotRunning: {
    begin: ({ stage }) => shardOf(stage, "apart", "nobody"),
    end: ({ stage }) => shardOf(stage, "apart"),
    labels: { shard: "nobody" },
  },
  MooringSigningKeyMissing: {
    async begin({ stage }) {
      await applyObject(stage.admin, noSecrets(true));
      const body = { apiVersion: "v1", kind: "Secret", metadata: { name: `${SIGNING_KEY}-tried` } };
      const call = { method: "POST", path: pathOf(SECRETS, { namespace: stage.namespace }), body } as const;
      const isRefused = async () => {
        const refusal = await stage.admin.request({ ...call, query: { dryRun: "All" } }).catch((error: Error) => error);
        return refusal instanceof Error ? undefined : "a new key is not refused yet";
      };
      await applyObject(stage.admin, binding);
      await until(isRefused, { title: "the policy" });
      await stage.admin.request({ method: "DELETE", path: `${call.path}/${SIGNING_KEY}` });
    },
    end: ({ stage }) => applyObject(stage.admin, noSecrets(false)),
    labels: {},
  },
  MooringReconcileErrors: {
    async begin({ stage }) {
      await statusOfIPBlocks(stage, false);
      await stage.apply(through("good", ipBlock("front")));
    },
    async end({ stage }) {
      await statusOfIPBlocks(stage, true);
      await annotate(stage, "IPBlock", "front", RECONCILE_AT);
    },
    labels: { controller: "ipblock" },
  },
  MooringQueueOld: {
    async begin({ stage, platforms }) {
      await platforms.hanging.steering.faults({ fault: "hang", seconds: 15, route: "POST *" });
      await stage.apply(...Array.from("abcdefgh", (name) => through("hanging", datacenter(name))));
    },
    end: ({ platforms }) => platforms.hanging.steering.faults(),
    labels: {},
  },
};
