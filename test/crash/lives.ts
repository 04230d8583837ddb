import type { Kind } from "../../src/kinds/kind.ts";
import { subjects } from "../subjects/index.ts";
import { type Change, type Life, lifeOf } from "../subjects/subject.ts";
import type { Ground } from "../subjects/surroundings.ts";

export type { Change, Life };

/** What objects reach the platform through. */
export const accountKinds = ["ClusterAccount", "Account"] as const;
export type AccountKind = (typeof accountKinds)[number];

/** A kind together with what happens to it. */
export interface Subject {
  kind: Kind;
  account: AccountKind;
  life: (ground: Ground) => Life;
  /** It is killed nowhere but at its creation. */
  creationOnly?: true;
}

/** Created and deleted again, and killed nowhere but at its creation. */
export const atCreation = ({ life, ...subject }: Subject): Subject => ({
  ...subject,
  life: (ground) => ({ ...life(ground), changes: [] }),
  creationOnly: true,
});

/** Without the changes that neither lead to a kill in this phase nor follow from it. */
export const inPhase = ({ life, ...subject }: Subject, phase: string): Subject => ({
  ...subject,
  life: (ground) => {
    const { changes, ...rest } = life(ground);
    return { ...rest, changes: changes.filter(({ title }) => title === phase) };
  },
});

/**
 * The lives of these kinds, with each of these kinds of Account; else with one of them, by turns. An operator that knows no
 * ClusterAccounts cannot be killed over one. Throws when a kind with a resource on the platform has no life.
 */
export function subjectsOf(kinds: readonly Kind[], accounts?: readonly AccountKind[]): Subject[] {
  const known = new Map(subjects.map((subject) => [subject.kind, subject]));
  const without = kinds.filter(({ kind, resource }) => resource && !known.has(kind)).map(({ kind }) => kind);
  if (without.length > 0) {
    throw new Error(`no subject in test/subjects/kinds for ${without.join(", ")}: add one, so that it is killed, too`);
  }
  // Kinds without a resource on the platform do not count, so that a new one changes nobody's turn.
  const managed = kinds.filter(({ resource }) => resource);
  return kinds.flatMap((kind) => {
    const subject = known.get(kind.kind);
    if (!subject) return [];
    const index = managed.indexOf(kind);
    return accountKinds
      .filter((each, turn) => accounts?.includes(each) ?? (turn === Math.max(0, index) % 2 || kind.scope === "Cluster"))
      .filter((each) => each === "ClusterAccount" || kind.scope !== "Cluster")
      .map((account) => ({ kind, account, life: (ground: Ground) => lifeOf(subject, kind, ground) }));
  });
}

/** The kinds that `--kind` names; all of them when it names none. */
export function chosenKinds(kinds: readonly Kind[], names: readonly string[] | undefined): readonly Kind[] {
  const unknown = names?.find((name) => !kinds.some(({ kind }) => kind === name));
  if (unknown !== undefined) throw new Error(`--kind: "${unknown}" is none of ${kinds.map(({ kind }) => kind)}`);
  return kinds.filter(({ kind }) => names?.includes(kind) ?? true);
}
