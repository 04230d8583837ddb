import { claimOf, resourceOf } from "../../engine/state/object.ts";
import { kinds } from "../../kinds/index.ts";
import type { Kind } from "../../kinds/kind.ts";
import { connect } from "../../kube/client/config.ts";
import { KubeError } from "../../kube/client/errors.ts";
import type { KubeClient } from "../../kube/client/transport.ts";
import { type KubeObject, pathOf } from "../../kube/resource.ts";
import { systemClock } from "../../runtime/clock.ts";
import type { AccessAsked } from "../platform-access.ts";
import type { ObjectName, Objects } from "./object-names.ts";

/** The objects of the current cluster: of all namespaces, or of one if RBAC does not allow more. */
export async function openObjects(
  { namespace, kubeconfig, context }: AccessAsked,
  env: Record<string, string | undefined>,
): Promise<Objects> {
  const client = await connect({ env, kubeconfig, context });
  const ownNamespace = namespace ?? client.namespace ?? "default";
  let names = new Map<string, ObjectName[]>();
  let notBefore = 0;
  return {
    of({ resources, uri }) {
      // The id of the parent is one of the segments of the path.
      const segments = uri.split("/");
      const keys = resources.flatMap(({ id }) => [id, ...segments.map((segment) => `${segment}/${id}`)]);
      return [...new Set(keys.flatMap((key) => names.get(key) ?? []))];
    },
    async refresh(signal) {
      const began = systemClock.monotonic();
      if (began < notBefore) return;
      const next = new Map<string, ObjectName[]>();
      for (const kind of kinds) {
        if (kind.resource === undefined) continue;
        for await (const object of objectsOf(client, kind, ownNamespace, signal)) {
          const { name, namespace: where = ownNamespace } = object.metadata;
          for (const key of keysOf(object)) {
            next.set(key, [...(next.get(key) ?? []), { kind: kind.kind, namespace: where, name }]);
          }
        }
      }
      names = next;
      // Limits the reads to a sixth of the time, because many objects take long to read.
      const ended = systemClock.monotonic();
      notBefore = ended + 5 * (ended - began);
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}

/** Some ids are unique only within their parent: every datacenter has a LAN 1. */
function keysOf(object: KubeObject): string[] {
  const claim = claimOf(object);
  if (claim === undefined) return [];
  const { id, parents } = claim;
  return /^\d+$/.test(id) ? Object.values(parents).map((parent) => `${parent}/${id}`) : [id];
}

async function* objectsOf(
  client: KubeClient,
  kind: Kind,
  ownNamespace: string,
  signal: AbortSignal,
): AsyncGenerator<KubeObject> {
  try {
    yield* list(client, pathOf(resourceOf(kind)), signal);
  } catch (error) {
    const status = error instanceof KubeError ? error.status : undefined;
    if (status === 403) yield* list(client, pathOf(resourceOf(kind), { namespace: ownNamespace }), signal);
    // A cluster without this kind answers 404.
    else if (status !== 404) throw error;
  }
}

interface List {
  items: KubeObject[];
  metadata?: { continue?: string };
}

async function* list(client: KubeClient, path: string, signal: AbortSignal): AsyncGenerator<KubeObject> {
  let next: string | undefined;
  do {
    const query = { limit: "500", continue: next };
    const { items, metadata } = await client.request<List>({ method: "GET", path, query, signal });
    yield* items;
    next = metadata?.continue || undefined;
  } while (next !== undefined);
}
