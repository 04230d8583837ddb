import fc from "fast-check";
import type { Subject } from "../../cluster/kinds-under-test.ts";
import type { Manifest } from "../../subjects/surroundings.ts";

/** How an object gets its resource: a new one, or one that somebody else has made. */
export type Mode = "create" | "adopt" | "observe";
export type How = "apply" | "prune" | "destroy";

export interface Version {
  mode: Mode;
  spec: object;
}

/** One object before and after: made, changed, changed over, left out, deleted. */
export interface Case {
  /** Whether the resource to adopt or observe is still there. */
  isThere: boolean;
  before: Version | undefined;
  after: Version | undefined;
  how: How;
  isSelected: boolean;
  deletionPolicy: "Delete" | "Retain";
  replacePolicy: "Never" | "WhenNeeded";
  mayLose: boolean;
  /** The Account that the files name. */
  account: "main" | "nobody" | undefined;
}

const GROUND = { api: "", nth: 1 };

/** All specs that the fixture of a kind has. */
export function specsOf(subject: Subject, name: string): object[] {
  const { spec: plain, change, fixedChange, move, unlike, lists = {}, life } = subject;
  const { spec = plain, changes = [] } = life?.(GROUND) ?? {};
  const others = [change?.(name), fixedChange, move].flatMap((each) => each?.spec ?? []);
  const emptied = Object.values(lists).flatMap((each) => [each.spec, each.silent ?? {}]);
  const all = [
    spec,
    ...[...others, ...emptied, unlike].map((each) => ({ ...spec, ...each })),
    ...changes.map((each) => each.spec),
  ];
  // The contract has one Account here, and a Secret is not part of a plan.
  return all.map(({ accountRef: _, output: __, ...rest }: Record<string, unknown>) => rest);
}

/** The objects that the fixtures of these kinds refer to. */
export function neededBy(subjects: readonly Subject[]): Manifest[] {
  const all = subjects.flatMap(({ needs }) => needs?.(GROUND) ?? []);
  return [...new Map(all.map((each) => [`${each.kind}/${each.metadata.name}`, each])).values()];
}

/** There is nothing to adopt by id where the resource is always there. */
const modesOf = ({ kind: { resource } }: Subject): Mode[] =>
  resource.identity.permanent ? ["create", "observe"] : ["create", "adopt", "observe"];

export function casesOf(subject: Subject): fc.Arbitrary<Case> {
  const modes = modesOf(subject);
  const version = fc.record({ mode: fc.constantFrom(...modes), spec: fc.constantFrom(...specsOf(subject, "changed")) });
  return fc.record({
    isThere: fc.boolean(),
    before: fc.option(version, { nil: undefined, freq: 3 }),
    after: fc.option(version, { nil: undefined, freq: 3 }),
    how: fc.constantFrom<How>("apply", "apply", "prune", "destroy"),
    isSelected: fc.boolean(),
    deletionPolicy: fc.constantFrom("Delete", "Retain"),
    replacePolicy: fc.constantFrom("Never", "WhenNeeded"),
    mayLose: fc.boolean(),
    account: fc.constantFrom(undefined, undefined, "main", "nobody"),
  });
}
