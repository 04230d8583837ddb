import { createObjects } from "../../../src/engine/state/objects.ts";
import { createPublications } from "../../../src/engine/state/published.ts";
import { kinds } from "../../../src/kinds/index.ts";
import { createClient } from "../../../src/kube/client/transport.ts";
import { createNamespaces } from "../../../src/kube/watch/namespaces.ts";
import { watch } from "../../../src/kube/watch/watch.ts";
import { createHeldSecrets } from "../../../src/kube/write/held-secrets.ts";
import { systemClock } from "../../../src/runtime/clock.ts";
import { unsealed } from "../../engine/support/unsigned.ts";

// Started by a test with a small heap: takes in a list through one of the operator's doors, and says when it has it.
const [server = "", door = ""] = process.argv.slice(2);
const client = createClient({ server });
const clock = systemClock;
const onError = (error: unknown) => console.error(error);

const doors: Record<string, () => Promise<void>> = {
  published: () => createPublications({ client, clock, seal: unsealed, wake() {}, onError }).sync(),
  credentials: () =>
    createHeldSecrets({
      label: "mooring.dev/credentials",
      finalizer: "mooring.dev/finalizer",
      client,
      clock,
      wake() {},
      onError,
    }).sync(),
  namespaces: () => createNamespaces({ client, clock, onError }).begin(),
  async objects() {
    const objects = createObjects(kinds, unsealed, onError);
    const resource = {
      group: "mooring.dev",
      version: "v1alpha1",
      kind: "Datacenter",
      plural: "datacenters",
      namespaced: true,
    };
    await watch({ client, clock, resource, store: objects.store("Datacenter"), onError }).synced;
  },
};
await doors[door]?.();
console.log("taken in");
process.exit(0);
