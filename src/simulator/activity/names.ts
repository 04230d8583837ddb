import { z } from "zod";
import type { Route } from "../http/exchange.ts";
import { basePath } from "../store/resource.ts";

/** The types that the activity log spells in its own way. */
const types: Record<string, string> = {
  "firewall-rule": "firewallrule",
  backupunit: "backupUnit",
  "autoscaling-group": "group",
};

export const typeName = (type: string) => types[type] ?? type;

/** The first word of an action, by type. For every other type of the core API it is `vr`. */
const areas: Record<string, string> = { ipblock: "ip", snapshot: "sn" };
const verbs: Record<string, string> = { GET: "read", POST: "create", PUT: "update", PATCH: "update", DELETE: "delete" };
const ownVerbs: Record<string, string> = { "ip.ipblock.create": "reserve", "ip.ipblock.delete": "release" };
const links: Record<string, string> = { POST: "attach", DELETE: "detach" };

/** The action of a call on a type, as the log names it: `vr.server.create`, `ip.ipblock.reserve`. */
export function actionName(method: string, path: string, type: string): string {
  const core = path.startsWith(`${basePath}/`);
  const [first = ""] = (core ? path.slice(basePath.length) : path).split("/").slice(1);
  const coreArea = first === "um" ? "sec" : (areas[type] ?? "vr");
  const area = core ? coreArea : first;
  const verb = verbOf(method, path);
  return `${area}.${type}.${ownVerbs[`${area}.${type}.${verb}`] ?? verb}`;
}

function verbOf(method: string, path: string): string {
  const link = /\/(servers\/[^/]+\/(volumes|cdroms)|balancednics)(\/[^/]+)?$/.test(path) ? links[method] : undefined;
  if (link !== undefined) return link;
  const last = path.split("/").at(-1) ?? "";
  if (method === "GET" && last === "generate") return "create";
  // A POST to a path that is no collection is an operation: .../servers/<id>/reboot.
  const isOperation = method === "POST" && /^[a-z-]+[^s]$/.test(last);
  return isOperation ? last.replace(/-snapshot$/, "") : (verbs[method] ?? "create");
}

const asked = z.looseObject({ model: z.string() });

/** The model that was asked. The body of a refused call may name anything, so its model is left out. */
export function askedModel({ body }: { body: string }, answered: boolean) {
  const named = answered ? asked.safeParse(JSON.parse(body || "{}")).data : undefined;
  return { type: "model", id: named?.model ?? "", action: "inference.model.read" };
}

/** The resource that a call is about: the last segment of the template with an id, or a collection. */
export function namedIn(template: string, params: Readonly<Record<string, string>>): { type: string; id: string } {
  const segments = template.split("/");
  const last = segments.at(-1) ?? "";
  const at = segments.findLastIndex((segment) => segment.startsWith("{") && segment !== "{region}");
  if (at >= 0 && !isCollection(last)) {
    return { type: singular(segments[at - 1] ?? ""), id: params[segments[at]?.slice(1, -1) ?? ""] ?? "" };
  }
  return { type: singular(segments.findLast(isCollection) ?? last), id: "" };
}

const isCollection = (segment: string) => segment.endsWith("s");
const singular = (collection: string) => (collection === "k8s" ? collection : typeName(collection.replace(/s$/, "")));

/** The call that creates a token. On the platform it is a GET. */
export const minting = "/auth/v1/tokens/generate";

/** Reads of the logs themselves are not noted: each would make the log longer. */
const logs = /^\/(activitylog|cloudapi\/v6\/requests)(\/|$)/;

/** How the activity log notes a call; undefined: not at all. A POST to a model is a read. */
export function notedAs({ method, template, access }: Route): "change" | "read" | undefined {
  if (access !== "user") return undefined;
  if (template.startsWith("/inference/")) return "read";
  if (method !== "GET" || template === minting) return "change";
  return logs.test(template) ? undefined : "read";
}
