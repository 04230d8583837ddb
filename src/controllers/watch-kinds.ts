import type { Deps } from "../engine/observe/deps.ts";
import { resourceOf } from "../engine/state/object.ts";
import type { KubeObject } from "../kube/resource.ts";
import { type Watcher, type WatchOptions, watch } from "../kube/watch/watch.ts";

/** Begins to watch every kind. An operator of one namespace neither knows nor manages what belongs to all. */
export const watchKinds = (
  { client, clock, objects }: Pick<Deps, "client" | "clock" | "objects">,
  namespace: string | undefined,
  interrupted: (kind: string) => NonNullable<WatchOptions<KubeObject>["onError"]>,
): Watcher[] =>
  objects.kinds
    .filter(({ scope }) => scope !== "Cluster" || namespace === undefined)
    .map((kind) =>
      watch<KubeObject>({
        client,
        resource: resourceOf(kind),
        store: objects.store(kind.kind),
        clock,
        onError: interrupted(kind.kind),
        ...(namespace !== undefined && { namespace }),
      }),
    );
