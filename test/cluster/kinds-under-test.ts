import { kinds } from "../../src/kinds/index.ts";
import { hasResource, type ResourceKind } from "../../src/kinds/kind.ts";
import { subjects as known } from "../subjects/index.ts";
import type { Subject as Described } from "../subjects/subject.ts";
import { manifest } from "../subjects/surroundings.ts";
import { type HandsFor, named } from "./hands.ts";

/** Defaults for a kind whose subject does not override them. */
const usual: Required<Pick<Described, "shows" | "unlike" | "place" | "nobody">> = {
  shows: (name) => ({ name }),
  unlike: { name: "another-name" },
  place: () => ({}),
  nobody: "00000000-0000-4000-8000-000000000000",
};

/** The facts about a kind that the policy contract needs. */
export interface Subject extends Omit<Described, "kind" | "hands" | keyof typeof usual>, Readonly<typeof usual> {
  kind: ResourceKind;
  /** A manifest of the kind; `spec` is merged into a valid one. */
  manifest(name: string, spec?: object): object;
  hands: ReturnType<HandsFor>;
}

/** Every kind that has a resource and a subject. */
export const subjects: Subject[] = kinds.filter(hasResource).flatMap((kind) => {
  const subject = known.find((each) => each.kind === kind.kind);
  if (!subject?.wire) return [];
  const { spec, own, hands = named, wire } = subject;
  return {
    ...usual,
    ...subject,
    kind,
    hands: hands(wire),
    manifest: (name: string, change?: object) => manifest(kind.kind, name, { ...spec, ...own?.(name), ...change }),
  };
});
