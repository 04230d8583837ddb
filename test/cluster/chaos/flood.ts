import { resourceOf } from "../../../src/engine/state/object.ts";
import { kinds } from "../../../src/kinds/index.ts";
import { KubeError } from "../../../src/kube/client/errors.ts";
import { pathOf } from "../../../src/kube/resource.ts";
import type { Manifest } from "./manifests.ts";
import type { Stage } from "./stage.ts";
import { until } from "./wait.ts";

export interface Received {
  accepted: number;
  refused: number;
}

const WIDTH = 24;

/** Sends manifests directly to the API server, many at a time. A refusal is not a failure; any other error is. */
export async function flood(stage: Stage, manifests: readonly Manifest[]): Promise<Received> {
  const received: Received = { accepted: 0, refused: 0 };
  const waiting = manifests.values();
  const send = async () => {
    for (const manifest of waiting) {
      const kind = kinds.find((each) => each.kind === manifest.kind);
      if (!kind) throw new Error(`there is no kind ${manifest.kind}`);
      const path = pathOf(resourceOf(kind), { namespace: stage.namespace });
      try {
        await stage.admin.request({ method: "POST", path, body: manifest });
        received.accepted += 1;
      } catch (error) {
        if (!(error instanceof KubeError) || error.status < 400 || error.status >= 500) throw error;
        received.refused += 1;
      }
    }
  };
  await Promise.all(Array.from({ length: WIDTH }, send));
  return received;
}

/** Deletes all accepted objects and waits until they are gone. Resumes paused objects. */
export async function drain(stage: Stage, kept: readonly string[], forMs: number): Promise<void> {
  const remaining = async () => {
    const lists = await Promise.all(kinds.map(async ({ kind }) => ({ kind, objects: await stage.list(kind) })));
    return lists.flatMap(({ kind, objects }) =>
      objects.filter(({ metadata }) => !kept.includes(metadata.name)).map((object) => ({ kind, object })),
    );
  };
  const doomed = (await remaining()).values();
  const erase = async () => {
    for (const { kind, object } of doomed) {
      const { name, annotations } = object.metadata;
      if (annotations?.["mooring.dev/paused"] === "true") {
        await stage.patch(kind, name, { metadata: { annotations: { "mooring.dev/paused": null } } });
      }
      await stage.remove(kind, name);
    }
  };
  await Promise.all(Array.from({ length: WIDTH }, erase));
  await until(
    async () => {
      const left = await remaining();
      const [first] = left;
      if (!first) return undefined;
      return `${left.length} objects are left, for example ${first.kind} ${JSON.stringify(first.object).slice(0, 1500)}`;
    },
    { title: "draining", forMs, everyMs: 1000 },
  );
}
