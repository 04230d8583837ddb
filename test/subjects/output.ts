import { readStatus } from "../../src/engine/status/status.ts";
import type { KubeObject } from "../../src/kube/resource.ts";
import type { PromisedSecret } from "../crash/lives/secrets.ts";
import type { Life } from "./subject.ts";

/** The same life of an object that tells workloads of its resource: under a name of its own, another one with each change. */
export function telling(life: Life, own: string): Life {
  const nameOf = (nth: number) => `${own}-told-${nth}`;
  const output = (nth: number) => ({ output: { secretName: nameOf(nth) } });
  return {
    ...life,
    spec: { ...life.spec, ...output(0) },
    changes: life.changes.map((change, index) => ({ ...change, spec: { ...change.spec, ...output(index + 1) } })),
    secrets: (object) => [
      ...(life.secrets?.(object) ?? []),
      ...promised(object, [0, ...life.changes.keys().map((at) => at + 1)].map(nameOf)),
    ],
  };
}

/** The one that spec names is about the current resource; no earlier one is left. */
function promised(object: KubeObject, names: string[]): PromisedSecret[] {
  const { output }: { output?: { secretName: string } } = Object(object.spec);
  const works = async (data: Record<string, string>) =>
    data.ID === readStatus(object).id ? undefined : "its ID is another one's";
  return names.map((name) =>
    name === output?.secretName ? { name, works } : { name, gone: true, works: async () => "it is left over" },
  );
}
