import { kinds } from "../../src/kinds/index.ts";
import { CREDENTIALS, type Manifest, manifest, subjectsOf } from "../crash/lives.ts";
import type { Wanted } from "./verdict.ts";

/** One object through its life: it is created, changed step by step, deleted, and created again. */
export interface Inhabitant {
  readonly kind: string;
  readonly name: string;
  readonly annotations: Record<string, string>;
  /** Its successive specs, the first to be created with. The platform need not know the way back. */
  readonly stages: readonly { spec: object; shows: Record<string, unknown> }[];
}

export interface Population {
  /** Ready before anybody else comes, and never touched. */
  readonly prerequisites: readonly Manifest[];
  readonly inhabitants: readonly Inhabitant[];
}

/** Objects of all kinds in the registry, as many of each, living as test/crash/lives.ts describes it. */
export function populate(count: number, api: string): Population {
  const subjects = subjectsOf(kinds).map(({ kind, life }) => ({ kind, life: life({ api }) }));
  const prerequisites = new Map<string, Manifest>();
  for (const { life } of subjects) {
    for (const each of life.prerequisites) prerequisites.set(`${each.kind}/${each.metadata.name}`, each);
  }
  // With several Accounts in the namespace each object has to name its own.
  const choice = { accountRef: { name: "main" } };
  const inhabitants = Array.from({ length: count }, (_, index): Inhabitant => {
    const subject = subjects[index % subjects.length];
    if (!subject) throw new Error("there are no kinds");
    const { kind, life } = subject;
    const withAccount = (spec: object) => (kind.resource ? { ...choice, ...spec } : spec);
    const stages = [{ spec: life.spec, shows: {} }, ...life.changes].map(({ spec, shows = {} }) => ({
      spec: withAccount(spec),
      shows,
    }));
    const name = `${kind.kind.toLowerCase()}-${index}`;
    return { kind: kind.kind, name, annotations: life.annotations ?? {}, stages };
  });
  const accounted = [...prerequisites.values()].map((each) =>
    each.kind === "Account" ? each : { ...each, spec: { ...choice, ...each.spec } },
  );
  return { prerequisites: accounted, inhabitants };
}

export const secret = (token: string) => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name: CREDENTIALS },
  stringData: { token },
});

/** The object at a stage of its life. */
export function at({ kind, name, annotations, stages }: Inhabitant, stage: number): Manifest {
  return manifest(kind, name, stages[stage]?.spec ?? {}, annotations);
}

export function wantedAt({ kind, name, stages }: Inhabitant, stage: number): Wanted {
  return { kind, name, shows: stages[stage]?.shows ?? {} };
}
