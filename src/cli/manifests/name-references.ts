import { GROUP } from "../../kinds/index.ts";
import type { Kind } from "../../kinds/kind.ts";
import { type Json, structural } from "../../kube/write/structural.ts";

/** For kustomize: the fields that name objects, by kind. It then updates references when it changes names. */
export function nameReferences(kinds: readonly Kind[]): Json {
  const all = kinds.flatMap((kind) =>
    references(structural(kind.spec, "spec"), "spec").map(([field, path]) => ({ field, path, kind: kind.kind })),
  );
  const targets = new Set(all.flatMap(({ field }) => targetsOf(field, kinds)));
  return {
    nameReference: [...targets].map((target) => ({
      kind: target,
      ...(builtIn.includes(target) ? { version: "v1" } : { group: GROUP }),
      fieldSpecs: all
        .filter(({ field }) => targetsOf(field, kinds).includes(target))
        .map(({ kind, path }) => ({ group: GROUP, kind, path: `${path}/name` })),
    })),
  };
}

const builtIn = ["Secret", "ConfigMap"];

/**
 * Fields have the name of the kind that they refer to: lanRef, userDataSecretRef, secretKeyRef, clusterRef for a
 * KafkaCluster. accountRef has two kinds.
 */
function targetsOf(field: string, kinds: readonly Kind[]): string[] {
  const word = field.replace(/(Key)?Ref$/, "").toLowerCase();
  const named = [...builtIn, ...kinds.map(({ kind }) => kind)].filter((kind) => {
    const called = kind.toLowerCase();
    return called.endsWith(word) || word.endsWith(called);
  });
  if (named.length === 0) throw new Error(`${field}: there is no kind that it could name`);
  return named;
}

/** Every reference field of a schema with its path. kustomize descends into lists without help. */
function references({ properties, items }: Json, path: string): [field: string, path: string][] {
  const below = Object.entries(Object(properties)).flatMap(([name, child]) => {
    const here = `${path}/${name}`;
    return name.endsWith("Ref") ? [[name, here] satisfies [string, string]] : references(Object(child), here);
  });
  return items === undefined ? below : [...below, ...references(Object(items), path)];
}
