import { readStatus } from "../../src/engine/schema/status.ts";
import type { KubeObject } from "../../src/kube/resource.ts";
import type { PromisedSecret } from "../crash/secrets.ts";
import type { Life } from "./subject.ts";

const nameOf = (nth: number) => `told-${nth}`;

/** The same life of an object that tells workloads of its resource: under another name with each change. */
export function telling(life: Life): Life {
  const output = (nth: number) => ({ output: { secretName: nameOf(nth) } });
  return {
    ...life,
    spec: { ...life.spec, ...output(0) },
    changes: life.changes.map((change, index) => ({ ...change, spec: { ...change.spec, ...output(index + 1) } })),
    secrets: (object) => [...(life.secrets?.(object) ?? []), ...promised(object, life.changes.length)],
  };
}

/** The one that spec names is about the resource that there is; none of before is left. */
function promised(object: KubeObject, last: number): PromisedSecret[] {
  const { output }: { output?: { secretName: string } } = Object(object.spec);
  const works = async (data: Record<string, string>) =>
    data.ID === readStatus(object).id ? undefined : "its ID is another one's";
  return Array.from({ length: last + 1 }, (_, nth) =>
    nameOf(nth) === output?.secretName
      ? { name: nameOf(nth), works }
      : { name: nameOf(nth), gone: true, works: async () => "it is left over" },
  );
}
