import { kinds } from "../../src/kinds/index.ts";
import { type Kind, usesAccount } from "../../src/kinds/kind.ts";
import { type Change, type Life, subjectsOf } from "../crash/lives/lives.ts";
import { CREDENTIALS, type Manifest, manifest } from "../crash/lives/manifests.ts";
import type { Wanted } from "./verdict.ts";

/** One object through its life: created, changed step by step, deleted, and created again. */
export interface Inhabitant {
  readonly kind: string;
  readonly name: string;
  /** Its spec at each stage, beginning with its creation. The changes may be irreversible. */
  readonly stages: readonly Stage[];
  readonly secrets: NonNullable<Life["secrets"]>;
}

interface Stage {
  spec: object;
  annotations: Record<string, string>;
  shows: Record<string, unknown>;
}

/** All kinds except permanent resources, which exist only once per region. */
export const soakedKinds: readonly Kind[] = kinds.filter(
  // The tenants have their own Accounts; those with a password are in year.ts.
  ({ kind, resource }) => !resource?.identity.permanent && kind !== "Account",
);

export interface Population {
  /** Ready before all others, and never changed. */
  readonly prerequisites: readonly Manifest[];
  readonly inhabitants: readonly Inhabitant[];
}

/** Objects of these kinds, equally many of each, with the lives of test/crash/lives/lives.ts and this Account. */
export function populate(
  count: number,
  api: string,
  inhabited: readonly Kind[],
  account: Manifest,
  suffix = "",
): Population {
  const subjects = subjectsOf(inhabited, ["Account"]);
  const prerequisites = new Map<string, Manifest>();
  // With several Accounts in the namespace, each object must name its own.
  const choice = { accountRef: { kind: account.kind, name: account.metadata.name } };
  const inhabitants = Array.from({ length: count }, (_, index): Inhabitant => {
    const subject = subjects[index % subjects.length];
    if (!subject) throw new Error("there are no kinds");
    const { kind } = subject;
    const life = subject.life({ api, nth: Math.floor(index / subjects.length) });
    for (const each of life.prerequisites) prerequisites.set(`${each.kind}/${each.metadata.name}`, each);
    const { annotations = {}, secrets = () => [] } = life;
    const phases: Change[] = [{ title: "create", spec: life.spec }, ...life.changes];
    const stages = phases.map(({ spec, shows = {}, ...change }) => ({
      spec: usesAccount(kind) ? { ...choice, ...spec } : spec,
      annotations: { ...annotations, ...change.annotations },
      shows,
    }));
    return { kind: kind.kind, name: `${kind.kind.toLowerCase()}-${index}${suffix}`, stages, secrets };
  });
  const accounted = [...prerequisites.values()].map((each) =>
    each.kind === "Account" ? account : { ...each, spec: { ...choice, ...each.spec } },
  );
  return { prerequisites: accounted, inhabitants };
}

export const secret = (token: string, name = CREDENTIALS) => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name },
  stringData: { token },
});

/** The object at a stage of its life. */
export function at({ kind, name, stages }: Inhabitant, stage: number): Manifest {
  const { spec = {}, annotations } = stages[stage] ?? {};
  return manifest(kind, name, spec, annotations);
}

export function wantedAt({ kind, name, stages, secrets }: Inhabitant, stage: number): Wanted {
  return { kind, name, shows: stages[stage]?.shows ?? {}, secrets };
}
