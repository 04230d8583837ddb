import { defaultsOf } from "../../runtime/field-record.ts";
import type { Inputs, Shown } from "../desired.ts";
import type { Kind } from "../kind.ts";

/** The claim of a resource. One that was adopted has the time of that. */
interface Claimed {
  id: string;
  adoptedAt?: string | undefined;
}

/**
 * The problem if spec leaves out what only an existing resource does not need, and that is gone. Without a claim, somebody
 * has asked for a new one with the defaults of spec.
 */
export function lackingProblem(kind: Kind, spec: unknown, shown: Shown, claim?: Claimed): string | undefined {
  const isAdopted = claim?.adoptedAt !== undefined;
  const problems = [
    ...requiredProblem(kind, Object(spec), shown),
    ...(isAdopted ? defaultProblem(kind, spec, shown) : []),
  ];
  return problems.length > 0 ? problems.join("; ") : undefined;
}

function requiredProblem(kind: Kind, spec: object, shown: Shown): string[] {
  const lacks = (field: string) => Reflect.get(spec, field) == null;
  const required = kind.rules
    .flatMap((each) => ("requires" in each && each.requires !== undefined ? [[each.requires].flat()] : []))
    .flatMap((oneOf) => (oneOf.every(lacks) ? oneOf.join(" or ") : []));
  const fields = [...required, ...(kind.needs?.(spec) ?? []).filter(lacks)];
  if (fields.length === 0) return [];
  const known = fields
    .filter((field) => ["string", "number"].includes(typeof shown[field]))
    .map((field) => `${field} ${shown[field]}`);
  const former = known.length > 0 ? `; the previous one had ${known.join(" and ")}` : "";
  const [are, them] = fields.length > 1 ? ["are", "them"] : ["is", "it"];
  return [
    `${fields.join(" and ")} ${are} required to create this ${kind.kind}; spec leaves ${them} out, which is possible only while there is the one in externalId: set ${them}${former}`,
  ];
}

/** A new resource may differ from the adopted one only because spec leaves a field to its default. */
const defaultProblem = (kind: Kind, spec: unknown, shown: Shown): string[] =>
  leftToDefault(kind, spec, shown).map(({ field, found, otherwise }) => {
    const was = found === undefined ? "is not known any more" : `was ${found}`;
    return `${field} of the adopted ${kind.kind} ${was}, and spec leaves it to the default: set ${field} to what a new one is to have, or leave it for ${otherwise}`;
  });

/** A default says nothing about an adopted resource, but it is what the next one would be. */
export function defaultAdvice({ kind, object }: { kind: Kind; object: { spec?: unknown } }, inputs: Inputs): string[] {
  if (!inputs.adopted) return [];
  return leftToDefault(kind, object.spec, inputs.shown).flatMap(({ field, found, otherwise }) =>
    found === undefined
      ? []
      : `${field} is ${found} on the platform, and spec leaves it out: set it, because a ${kind.kind} that has to be created again would be ${otherwise}, the default`,
  );
}

/**
 * Fields of an adopted resource that are fixed at its creation, that spec leaves to their default, and that differ from it.
 * If status was lost, it does not show what they were.
 */
function leftToDefault(kind: Kind, spec: unknown, shown: Shown) {
  const defaults = Object.entries(defaultsOf(kind)).filter(([field]) => Object.hasOwn(kind.status.shape, field));
  return defaults.flatMap(([field, otherwise]) => {
    const { [field]: found } = shown;
    const isLeft = Reflect.get(Object(spec), field) === otherwise;
    return isLeft && found !== otherwise ? [{ field, found, otherwise }] : [];
  });
}
