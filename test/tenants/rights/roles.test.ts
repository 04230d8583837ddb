import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { z } from "zod";
import { connect } from "../../../src/kube/client/config.ts";
import type { KubeClient } from "../../../src/kube/client/transport.ts";
import { until } from "../../cluster/chaos/wait.ts";
import { cluster, namespace } from "../../cluster/harness.ts";

let admin: KubeClient;
let home: string;
const roles = ["view", "edit", "admin"] as const;
const review = z.object({ status: z.object({ allowed: z.boolean() }) });

/** Whether the tenant with this role may do it, according to the API server. */
async function may(role: string, verb: string, resource: string, where = home): Promise<boolean> {
  const [plural, subresource] = resource.split("/");
  const group = "mooring.dev";
  const resourceAttributes = { namespace: where, verb, group, resource: plural, subresource };
  const path = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
  const body = {
    apiVersion: "authorization.k8s.io/v1",
    kind: "SubjectAccessReview",
    spec: { user: `tenant-${role}`, resourceAttributes },
  };
  return review.parse(await admin.request({ method: "POST", path, body })).status.allowed;
}

beforeAll(async () => {
  const { kubeconfig, kubectl } = cluster();
  admin = await connect({ kubeconfig });
  home = await namespace("roles");
  for (const role of roles) {
    const bound = ["create", "rolebinding", role, `--clusterrole=${role}`, `--user=tenant-${role}`];
    const { code, stderr } = await kubectl(["-n", home, ...bound]);
    if (code !== 0) throw new Error(stderr);
  }
  const lacking = async () => ((await may("admin", "create", "accounts")) ? undefined : "they are not aggregated yet");
  await until(lacking, { title: "the roles" });
});
afterAll(() => admin.close());

/** The rights of Kubernetes' default roles on Mooring's objects. */
const table: [action: string, verbs: string[], resource: string, who: (typeof roles)[number][]][] = [
  ["sees resources", ["get", "list", "watch"], "servers", ["view", "edit", "admin"]],
  ["sees Accounts", ["get", "list", "watch"], "accounts", ["view", "edit", "admin"]],
  ["writes resources", ["create", "update", "patch", "delete", "deletecollection"], "servers", ["edit", "admin"]],
  ["scales", ["update", "patch"], "scalinggroups/scale", ["edit", "admin"]],
  ["sees the scale", ["get"], "scalinggroups/scale", ["view", "edit", "admin"]],
  ["writes Accounts", ["create", "update", "patch", "delete", "deletecollection"], "accounts", ["admin"]],
  ["writes Grants", ["create", "update", "patch", "delete", "deletecollection"], "grants", ["admin"]],
  ["writes status", ["update", "patch"], "servers/status", []],
  ["writes status of Accounts", ["update", "patch"], "accounts/status", []],
  ["writes by the subresource finalizers", ["update", "patch"], "servers/finalizers", []],
];

describe("a tenant", () => {
  it.each(table)("%s", async (_, verbs, resource, who) => {
    for (const verb of verbs) {
      const allowed = await Promise.all(roles.map((role) => may(role, verb, resource)));
      expect(Object.fromEntries(roles.map((role, nth) => [`${role} ${verb}`, allowed[nth]]))).toEqual(
        Object.fromEntries(roles.map((role) => [`${role} ${verb}`, who.includes(role)])),
      );
      expect(await may("admin", verb, resource, "default")).toBe(false);
    }
  });

  it("with the role edit creates a Server, and its status is not theirs to write", async () => {
    const as = (...args: string[]) => ["-n", home, "--as=tenant-edit", ...args];
    const spec = { datacenterRef: { name: "d" }, type: "VCPU", cores: 2, ram: 2048 };
    const server = { apiVersion: "mooring.dev/v1alpha1", kind: "Server", metadata: { name: "web" }, spec };
    const { kubectl } = cluster();
    const created = await kubectl(as("create", "-f", "-"), { input: stringify(server) });
    expect(created).toMatchObject({ code: 0, stderr: "" });
    const forged = JSON.stringify({ status: { id: "somebody-elses", account: "tenant-b/main" } });
    const patch = as("patch", "server/web", "--type=merge", "--subresource=status", "-p", forged);
    const { code, stderr } = await kubectl(patch);
    expect(code).not.toBe(0);
    expect(stderr).toContain("is forbidden");
  });
});
