import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writeOperatorKubeconfig } from "../../src/cli/demo/install.ts";
import { connect } from "../../src/kube/client/config.ts";
import type { KubeClient } from "../../src/kube/client/transport.ts";
import { cluster } from "../cluster/harness.ts";

/** An installation as shipped, and a client with the stolen identity of its operator. */
export async function stolenIdentity(cleanup: AsyncDisposableStack): Promise<{ admin: KubeClient; thief: KubeClient }> {
  const { kubeconfig } = cluster();
  const folder = await mkdtemp(join(tmpdir(), "mooring-rights-"));
  cleanup.defer(() => rm(folder, { recursive: true }));
  const admin = await connect({ kubeconfig });
  cleanup.defer(() => admin.close());
  await writeOperatorKubeconfig(admin, kubeconfig, join(folder, "kubeconfig"));
  const thief = await connect({ kubeconfig: join(folder, "kubeconfig") });
  cleanup.defer(() => thief.close());
  return { admin, thief };
}
