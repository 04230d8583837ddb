import { asJson } from "../kinds/fields/compare.ts";
import type { PlanItem } from "../plan/item.ts";
import type { Imported } from "./manifests.ts";

export interface Judged {
  kept: Imported[];
  /** Resources without an object, with the reason. */
  dropped: { what: string; why: string }[];
}

/** The object without managementPolicy: Observe. */
const withManagement = ({ object, ...rest }: Imported): Imported => {
  const { managementPolicy: _, ...spec } = asJson(object.spec);
  return { ...rest, object: { ...object, spec } };
};

const titleOf = ({ object: { kind, metadata }, resource: { id } }: Imported): string =>
  `${kind} ${metadata.name} (${id})`;

/**
 * Makes a plan of the objects: none of them may change anything. An object that would is only observed, with the
 * reason; an object that the API server would refuse is left out.
 */
export async function judge(
  imported: readonly Imported[],
  manage: boolean,
  planFor: (objects: readonly Imported[]) => Promise<PlanItem[]>,
): Promise<Judged> {
  let objects = [...imported];
  if (manage) {
    const managing = objects.map(withManagement);
    const items = await planFor(managing);
    objects = managing.map((each, nth) => {
      const why = reasonIn(items[nth]);
      const observer = objects[nth];
      if (why === undefined || !observer) return each;
      return { ...observer, notes: [...observer.notes, { field: "managementPolicy", why: `only observed: ${why}` }] };
    });
  }
  const items = await planFor(objects);
  const kept: Imported[] = [];
  const dropped: Judged["dropped"] = [];
  for (const [nth, each] of objects.entries()) {
    const item = items[nth];
    const why = item && ["invalid", "blocked"].includes(item.action) ? reasonIn(item) : undefined;
    if (why === undefined) kept.push(each);
    else dropped.push({ what: titleOf(each), why });
  }
  return { kept, dropped };
}

/** The reason why managing an object would change something. */
function reasonIn(item: PlanItem | undefined): string | undefined {
  if (!item) return "it is not in the plan";
  const { action, fields, writes, message } = item;
  if (action === "adopt" && !writes && fields.length === 0) return undefined;
  if (action !== "adopt") return message ?? action;
  const differs = fields.map(
    ({ field, from, to }) => `${field} would change from ${from || "none"} to ${to || "none"}`,
  );
  return [...differs, ...(message === undefined ? [] : [message])].join("; ") || "it would be changed";
}
