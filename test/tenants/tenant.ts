import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse, stringify } from "yaml";
import { z } from "zod";
import { applyObject } from "../../src/cli/demo/install.ts";
import { resourceOf } from "../../src/engine/state/object.ts";
import { kinds } from "../../src/kinds/index.ts";
import { connect } from "../../src/kube/client/config.ts";
import type { KubeClient } from "../../src/kube/client/transport.ts";
import { pathOf } from "../../src/kube/resource.ts";
import { openStage, type Stage } from "../cluster/chaos/stage.ts";

const group = "rbac.authorization.k8s.io";
/** The shipped roles, and rights that every cluster gives with the role `edit`, such as on Secrets. */
const mooring = ["mooring-view", "mooring-edit", "mooring-admin"];
const cluster = ["system:aggregate-to-view", "system:aggregate-to-edit"];

const config = z.looseObject({ users: z.array(z.looseObject({ user: z.looseObject({}) })) });

/** A client that impersonates this user. */
export async function impersonating(kubeconfig: string, user: string): Promise<KubeClient> {
  const folder = await mkdtemp(join(tmpdir(), "mooring-tenant-"));
  try {
    const { users, ...rest } = config.parse(parse(await readFile(kubeconfig, "utf8")));
    const path = join(folder, "kubeconfig");
    const acting = users.map((each) => ({ ...each, user: { ...each.user, as: user } }));
    await writeFile(path, stringify({ ...rest, users: acting }), { mode: 0o600 });
    return await connect({ kubeconfig: path });
  } finally {
    await rm(folder, { recursive: true });
  }
}

/**
 * A namespace in which a tenant acts, with the shipped roles only there. With `forges` the tenant has `resources:
 * ["*"]`, and so status and finalizers; without Secrets, the tenant has no rights on them.
 */
export const openTenant = (
  kubeconfig: string,
  { forges = false, secrets = true }: { forges?: boolean; secrets?: boolean } = {},
): Promise<Stage> =>
  openStage(kubeconfig, async (admin, namespace) => {
    const user = `tenant-of-${namespace}`;
    const bind = (kind: string, name: string) =>
      applyObject(admin, {
        apiVersion: `${group}/v1`,
        kind: "RoleBinding",
        metadata: { namespace, name: `tenant-${name.replace(/^system:/, "")}` },
        subjects: [{ kind: "User", name: user, apiGroup: group }],
        roleRef: { kind, name, apiGroup: group },
      });
    for (const role of [...mooring, ...(secrets ? cluster : [])]) await bind("ClusterRole", role);
    if (forges) {
      const rules = [{ apiGroups: ["mooring.dev"], resources: ["*"], verbs: ["*"] }];
      await applyObject(admin, {
        apiVersion: `${group}/v1`,
        kind: "Role",
        metadata: { namespace, name: "everything" },
        rules,
      });
      await bind("Role", "everything");
    }
    return impersonating(kubeconfig, user);
  });

/** Writes into the status of the tenant's own object. */
export async function forge({ hands, namespace }: Stage, kind: string, name: string, status: object): Promise<void> {
  const known = kinds.find((each) => each.kind === kind);
  if (!known) throw new Error(`there is no kind ${kind}`);
  const path = pathOf(resourceOf(known), { namespace, name, subresource: "status" });
  await hands.request({ method: "PATCH", path, contentType: "application/merge-patch+json", body: { status } });
}
