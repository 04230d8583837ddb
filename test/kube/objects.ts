import type { KubeObject, Resource } from "../../src/kube/resource.ts";

export const WIDGETS: Resource = {
  group: "example.dev",
  version: "v1",
  kind: "Widget",
  plural: "widgets",
  namespaced: true,
};

/** A widget in namespace `test`. */
export function widget(name: string, resourceVersion: string | number, extra: object = {}): KubeObject {
  return {
    apiVersion: "example.dev/v1",
    kind: "Widget",
    metadata: { name, namespace: "test", uid: `uid-${name}`, resourceVersion: String(resourceVersion) },
    ...extra,
  };
}

export function status(code: number, reason: string, message = reason, details: object = {}) {
  return { kind: "Status", apiVersion: "v1", status: "Failure", code, reason, message, details };
}

/** Resolves as soon as `holds` does, looked at between turns of the event loop. */
export async function eventually(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise<void>((resolve) => setImmediate(resolve));
}
