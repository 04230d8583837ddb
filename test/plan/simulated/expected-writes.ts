import type { PlanItem } from "../../../src/plan/item.ts";
import type { Subject } from "../../cluster/kinds-under-test.ts";
import type { Write } from "./world.ts";

/** The writes of one object: those that make its resource, that delete it, and whether there are others. */
export interface Told {
  creations: number;
  deletions: number;
  changes: boolean;
}

const templateOf = (path: string) => path.replaceAll(/\/([0-9a-f-]{36}|\d+)(?=\/|$)/g, "/{id}");

export function toldBy({ wire }: Subject, writes: readonly Write[]): Told {
  const ids = {
    datacenter: "1",
    volume: "1",
    server: "1",
    lan: "1",
    cluster: "1",
    nics: { x: "1" },
    regions: { x: "de-txl" },
  };
  const own = templateOf(wire?.path(ids, "x") ?? "");
  const creation = templateOf((wire?.creation ?? wire?.path)?.(ids, "x") ?? "");
  const sorted = writes.map(({ method, path }) => {
    const template = templateOf(path);
    if (method === "POST" && template === creation) return "creation";
    if (method === "GET") return "creation";
    return method === "DELETE" && template === `${own}/{id}` ? "deletion" : "change";
  });
  const count = (what: string) => sorted.filter((each) => each === what).length;
  return { creations: count("creation"), deletions: count("deletion"), changes: count("change") > 0 };
}

/** The promise of an item of a plan. A creation or replacement may need more writes than one. */
export function promisedBy(item: PlanItem, { kind }: Subject, told: Told): Told {
  const { action, writes, replacement } = item;
  const nothing = { creations: 0, deletions: 0, changes: false };
  if (!writes) return nothing;
  const isPermanent = kind.resource.identity.permanent !== undefined && kind.resource.identity.permanent !== false;
  const { changes } = told;
  if (action === "create") return { creations: 1, deletions: 0, changes };
  if (action === "replace") return replacement?.allowed ? { creations: 1, deletions: 1, changes } : nothing;
  if (action === "delete") return isPermanent ? { ...nothing, changes: true } : { creations: 0, deletions: 1, changes };
  return { ...nothing, changes: true };
}
