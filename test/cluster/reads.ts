import { resourceOf } from "../../src/engine/state/object.ts";
import { readStatus, readyOf } from "../../src/engine/status/status.ts";
import { kinds } from "../../src/kinds/index.ts";
import { isNotFound } from "../../src/kube/client/errors.ts";
import type { KubeClient } from "../../src/kube/client/transport.ts";
import { type KubeObject, pathOf, type Resource } from "../../src/kube/resource.ts";
import { until } from "./chaos/wait.ts";
import { jsonPath } from "./json-path.ts";

/**
 * Reads objects of a namespace like kubectl, over one connection. A kubectl process, which reads the whole API
 * discovery first, costs fifty times as much.
 */
export interface Reads {
  /** An object, `server/web`, or a list, `servers`. */
  get(name: string, fieldSelector?: string): Promise<KubeObject>;
  /** A value of an object by kubectl's JSONPath. */
  value(name: string, path: string): Promise<string>;
  /** Like `kubectl wait`, for up to 90 seconds each. */
  untilReady(...names: string[]): Promise<void>;
  untilReason(name: string, reason: string): Promise<void>;
  /** An object with the same name and another uid counts as another one. */
  untilGone(name: string, uid?: string): Promise<void>;
}

const core = (kind: string): Resource => ({
  group: "",
  version: "v1",
  kind,
  plural: `${kind.toLowerCase()}s`,
  namespaced: true,
});
const resources = [...kinds.map(resourceOf), ...["Secret", "Event", "ConfigMap"].map(core)];

/** The path of an object, `server/web`, or of a list, `servers`. */
export function pathTo(called: string, namespace: string): string {
  const [word = "", name] = called.split("/");
  const resource = resources.find(({ kind, plural }) => [kind.toLowerCase(), plural].includes(word.toLowerCase()));
  if (!resource) throw new Error(`nobody knows where ${called} is`);
  return pathOf(resource, { name, ...(resource.namespaced && { namespace }) });
}

/** `explain` returns more information for a wait that times out. */
export function openReads(client: KubeClient, namespace: string, explain: () => Promise<string>): Reads {
  const get: Reads["get"] = (called, fieldSelector) =>
    client.request({ method: "GET", path: pathTo(called, namespace), query: { fieldSelector } });
  const condition = async (name: string) => {
    const object = await get(name);
    const { status, reason, message } = readyOf(object) ?? {};
    const { uid } = object.metadata;
    const current = readStatus(object).observedGeneration === object.metadata.generation;
    return { uid, isReady: status === "True" && current, reason, text: `Ready is ${status} (${reason}: ${message})` };
  };
  const patiently = async (name: string, missing: () => Promise<string | undefined>) => {
    try {
      await until(missing, { title: name });
    } catch (error) {
      throw new Error(`${error}\n${await explain()}`, { cause: error });
    }
  };
  const each = async (names: string[], missing: (name: string) => Promise<string | undefined>) => {
    for (const name of names) await patiently(name, () => missing(name));
  };
  return {
    get,
    value: async (name, path) => jsonPath(await get(name), path),
    untilReady: (...names) =>
      each(names, async (name) => {
        const { isReady, text } = await condition(name);
        return isReady ? undefined : text;
      }),
    untilReason: (name, wanted) =>
      patiently(name, async () => {
        const { reason, text } = await condition(name);
        return reason === wanted ? undefined : text;
      }),
    untilGone: (name, wanted) =>
      patiently(name, async () => {
        try {
          const { uid, text } = await condition(name);
          return wanted === undefined || uid === wanted ? text : undefined;
        } catch (error) {
          if (isNotFound(error)) return undefined;
          throw error;
        }
      }),
  };
}
