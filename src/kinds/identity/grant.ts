import { z } from "zod";
import { listed, listedField } from "../fields/column.ts";
import { list, objectName } from "../fields/fields.ts";
import type { Kind } from "../kind.ts";
import { adviceShown } from "./account.ts";
import { admitsNamespace, type Guest, kindNames, namespaces } from "./admission.ts";

const spec = z.object({
  namespaces: namespaces.describe("Namespaces whose objects may refer to them, by name or by selector."),
  kinds: kindNames().min(1).describe("Kinds of this namespace that may be referred to."),
  names: list(objectName().describe("Name of an object."), { max: 256 })
    .optional()
    .describe("Names of the objects that may be referred to. Default: all objects of these kinds."),
});

export const grant: Kind = {
  kind: "Grant",
  plural: "grants",
  governs: true,
  shortNames: ["grant"],
  limit: 100,
  free: true,
  description: "Lets objects of other namespaces refer to objects of this one.",
  spec,
  status: z.object({
    kinds: listedField("Kinds"),
    names: listedField("Names"),
    advice: adviceShown,
  }),
  shows(raw) {
    const { kinds, names } = readGrant(raw) ?? {};
    return { kinds: listed(kinds), names: listed(names) ?? "all" };
  },
  rules: [],
  immutable: {},
  columns: [
    { name: "Kinds", type: "string", path: ".status.kinds", description: "Kinds that may be referred to" },
    { name: "Names", type: "string", path: ".status.names", description: "Names that may be referred to" },
  ],
};

export type GrantSpec = z.output<typeof spec>;
/** Undefined if the spec cannot be parsed: then it grants nothing. */
export const readGrant = (raw: unknown): GrantSpec | undefined => spec.safeParse(raw).data;

/** Whether objects of a namespace may refer to the object of this kind and name. */
export const grants = (
  { namespaces, kinds, names }: GrantSpec,
  { kind, name }: { kind: string; name: string },
  guest: Guest,
): boolean => kinds.includes(kind) && (names?.includes(name) ?? true) && admitsNamespace(namespaces, guest);
