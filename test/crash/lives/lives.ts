import type { Kind } from "../../../src/kinds/kind.ts";
import { subjects } from "../../subjects/index.ts";
import { type Change, type Life, lifeOf } from "../../subjects/subject.ts";
import type { Ground } from "../../subjects/surroundings.ts";

export type { Change, Life };

/** The kinds of Accounts that lives use. */
export const accountKinds = ["ClusterAccount", "Account"] as const;
export type AccountKind = (typeof accountKinds)[number];

/** A kind and its life. */
export interface Subject {
  kind: Kind;
  account: AccountKind;
  life: (ground: Ground) => Life;
  /** It is killed only at its creation. */
  creationOnly?: true;
}

/** Created and deleted, and killed only at its creation. */
export const atCreation = ({ life, ...subject }: Subject): Subject => ({
  ...subject,
  life: (ground) => ({ ...life(ground), changes: [] }),
  creationOnly: true,
});

/** Without changes that are irrelevant for a kill in this phase. */
export const inPhase = ({ life, ...subject }: Subject, phase: string): Subject => ({
  ...subject,
  life: (ground) => {
    const { changes, ...rest } = life(ground);
    return { ...rest, changes: changes.filter(({ title }) => title === phase) };
  },
});

/**
 * The lives of these kinds, with each of these kinds of Account, or else alternating. An operator without
 * ClusterAccounts cannot be killed over one. Throws if a kind with a resource on the platform has no life.
 */
export function subjectsOf(kinds: readonly Kind[], accounts?: readonly AccountKind[]): Subject[] {
  const known = new Map(subjects.map((subject) => [subject.kind, subject]));
  const without = kinds.filter(({ kind, resource }) => resource && !known.has(kind)).map(({ kind }) => kind);
  if (without.length > 0) {
    throw new Error(`no subject in test/subjects/kinds for ${without.join(", ")}: add one, so that it is killed, too`);
  }
  // Only kinds with a resource count, so that a new kind without one does not change the alternation.
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

/** The kinds of `--kind`; all without it. */
export function chosenKinds(kinds: readonly Kind[], names: readonly string[] | undefined): readonly Kind[] {
  const unknown = names?.find((name) => !kinds.some(({ kind }) => kind === name));
  if (unknown !== undefined) throw new Error(`--kind: "${unknown}" is none of ${kinds.map(({ kind }) => kind)}`);
  return kinds.filter(({ kind }) => names?.includes(kind) ?? true);
}
