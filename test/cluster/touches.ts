import { z } from "zod";
import { applyObject } from "../../src/cli/demo/install.ts";
import { kinds } from "../../src/kinds/index.ts";
import type { KubeClient } from "../../src/kube/client/transport.ts";
import { pathTo, type Reads } from "./reads.ts";

/** Changes objects of a namespace like kubectl, over one connection instead of a process per change. */
export interface Touches {
  /** Applies objects as one field manager. */
  apply(...objects: object[]): Promise<void>;
  /** Applies objects as another field manager, as Flux and Argo CD do. */
  applyServerSide(...objects: object[]): Promise<void>;
  /** A JSON merge patch of an object, `server/web`. */
  patch(name: string, change: object): Promise<void>;
  /** In kubectl's form: `key=value`, or `key-` to remove it. */
  annotate(name: string, annotation: string): Promise<void>;
  /** Deletes objects without waiting; given by name or as they were applied. */
  askToRemove(...objects: (string | object)[]): Promise<void>;
  /** Deletes objects and waits until they are gone. */
  remove(...objects: (string | object)[]): Promise<void>;
}

const manifest = z.looseObject({ kind: z.string(), metadata: z.looseObject({ name: z.string() }) });

export function touches(client: KubeClient, namespace: string, { get, untilGone }: Reads): Touches {
  const applyAs = async (manager: string, objects: object[]) => {
    for (const object of objects) {
      const { metadata, ...rest } = manifest.parse(object);
      const isNamespaced = kinds.find(({ kind }) => kind === rest.kind)?.scope !== "Cluster";
      await applyObject(client, { ...rest, metadata: { ...(isNamespaced && { namespace }), ...metadata } }, manager);
    }
  };
  const nameOf = (object: string | object) => {
    if (typeof object === "string") return object;
    const { kind, metadata } = manifest.parse(object);
    return `${kind}/${metadata.name}`;
  };
  const patch: Touches["patch"] = async (name, body) => {
    const contentType = "application/merge-patch+json";
    await client.request({ method: "PATCH", path: pathTo(name, namespace), contentType, body });
  };
  const askToRemove: Touches["askToRemove"] = async (...objects) => {
    for (const object of objects) {
      await client.request({ method: "DELETE", path: pathTo(nameOf(object), namespace) });
    }
  };
  return {
    apply: (...objects) => applyAs("kubectl", objects),
    applyServerSide: (...objects) => applyAs("flux", objects),
    patch,
    async annotate(name, annotation) {
      const [key = "", value] = annotation.endsWith("-") ? [annotation.slice(0, -1), null] : annotation.split(/=(.*)/s);
      await patch(name, { metadata: { annotations: { [key]: value } } });
    },
    askToRemove,
    async remove(...objects) {
      const names = objects.map(nameOf);
      const before = await Promise.all(names.map((name) => get(name)));
      await askToRemove(...names);
      for (const [index, name] of names.entries()) await untilGone(name, before[index]?.metadata.uid);
    },
  };
}
