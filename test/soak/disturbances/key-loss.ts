import { setTimeout as delay } from "node:timers/promises";
import { isConflict, isNotFound } from "../../../src/kube/client/errors.ts";
import { type KubeObject, pathOf, SECRETS } from "../../../src/kube/resource.ts";
import { SIGNING_KEY } from "../../../src/operator/signing-key.ts";
import type { Stage } from "../../cluster/chaos/stage.ts";

/** How long the Secret is deleted whenever it is restored. */
const LOST_MS = 8000;

/** Deletes the signing key again and again for a while, and then restores it from a backup if it is still missing. */
export async function loseKey({ admin, namespace }: Stage): Promise<void> {
  const path = pathOf(SECRETS, { namespace, name: SIGNING_KEY });
  const { metadata, data } = await admin.request<KubeObject>({ method: "GET", path });
  const endsAt = performance.now() + LOST_MS;
  for (; performance.now() < endsAt; await delay(500)) {
    await admin.request({ method: "DELETE", path }).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
  }
  const { name, labels = {} } = metadata;
  const body = { apiVersion: "v1", kind: "Secret", metadata: { name, namespace, labels }, data };
  await admin.request({ method: "POST", path: pathOf(SECRETS, { namespace }), body }).catch((error: unknown) => {
    // The operator was faster.
    if (!isConflict(error)) throw error;
  });
}
