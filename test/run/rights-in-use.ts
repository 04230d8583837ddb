import { createReadStream } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { z } from "zod";
import { operatorRights } from "../../src/cli/manifests/rbac.ts";
import { kinds } from "../../src/kinds/index.ts";
import { USER_AGENT } from "../../src/operator/config.ts";
import { INSTALLATION, SHARED_NAMESPACE } from "../../src/operator/installation.ts";

// Compares the shipped rights with the operator's calls in the audit log of a test run.

/** Reasons for shipped rights that a test run does not use. */
export const reasons: { rights: RegExp; why: string }[] = [
  {
    rights: /^list /,
    why: "watches begin with a list where the API server has no streaming lists (feature WatchList)",
  },
  {
    rights: /^get \w+\.mooring\.dev$/,
    why: "an object is read once more after a conflict; which kinds that happens to in a run is chance",
  },
  {
    rights: /^update \S+\/finalizers\.mooring\.dev$/,
    why: "the admission plugin OwnerReferencesPermissionEnforcement, off by default, asks for it when a Secret gets an owner",
  },
];

/** Calls that the operator can do without. */
const optional = [
  // With Roles alone, the operator cannot see that a namespace is being deleted.
  "watch namespaces",
];

const bound = z.object({ roleRef: z.object({ name: z.string() }) });
const role = z.object({
  kind: z.enum(["Role", "ClusterRole"]),
  metadata: z.object({ name: z.string() }),
  rules: z.array(z.unknown()),
});
const rule = z.object({
  apiGroups: z.array(z.string()),
  resources: z.array(z.string()),
  resourceNames: z.array(z.string()).optional(),
  verbs: z.array(z.string()),
});

/** A right in one line: `patch datacenters/status.mooring.dev`, `update leases.coordination.k8s.io mooring`. */
const nameOf = (verb: string, resource: string, group = "", name = ""): string =>
  `${verb} ${group === "" ? resource : `${resource}.${group}`} ${name}`.trim();

/** All rights of the operator, for all namespaces and for one. */
export function shippedRights(): Set<string> {
  const documents = [...operatorRights(kinds), ...operatorRights(kinds, { watched: ["shop"] })];
  const names = new Set(documents.flatMap((each) => bound.safeParse(each).data?.roleRef.name ?? []));
  const roles = documents.flatMap((each) => role.safeParse(each).data ?? []);
  const rules = roles.filter(({ metadata }) => names.has(metadata.name)).flatMap((each) => each.rules);
  return new Set(rules.flatMap((each) => rightsOf(rule.parse(each))));
}

const rightsOf = ({ apiGroups, resources, verbs, resourceNames = [""] }: z.output<typeof rule>): string[] =>
  apiGroups.flatMap((group) =>
    resources.flatMap((resource) =>
      verbs.flatMap((verb) => resourceNames.map((name) => nameOf(verb, resource, group, name))),
    ),
  );

const event = z.object({
  verb: z.string(),
  user: z.object({ username: z.string() }),
  requestReceivedTimestamp: z.string(),
  objectRef: z
    .object({
      resource: z.string(),
      subresource: z.string().optional(),
      apiGroup: z.string().optional(),
      name: z.string().optional(),
      namespace: z.string().optional(),
    })
    .optional(),
  annotations: z.record(z.string(), z.string()).optional(),
});

export interface RightsInUse {
  /** Calls of the operator in the log. */
  calls: number;
  used: Set<string>;
  /** Refused calls that the operator needs, with the last caller and time. */
  refused: Map<string, string>;
}

/** Reads the audit logs of a folder. */
export async function rightsInUse(folder: string): Promise<RightsInUse> {
  const found: RightsInUse = { calls: 0, used: new Set(), refused: new Map() };
  for (const file of (await readdir(folder)).filter((name) => name.startsWith("audit"))) {
    for await (const line of createInterface({ input: createReadStream(join(folder, file)) })) {
      if (line.includes(`"userAgent":"${USER_AGENT}"`)) note(found, event.parse(JSON.parse(line)));
    }
  }
  return found;
}

function note(found: RightsInUse, { verb, user, objectRef, annotations = {}, ...asked }: z.output<typeof event>): void {
  if (!objectRef) return;
  const { resource, subresource, apiGroup, name, namespace } = objectRef;
  const whole = subresource === undefined ? resource : `${resource}/${subresource}`;
  found.calls += 1;
  const right = nameOf(verb, whole, apiGroup);
  const isRefused = annotations["authorization.k8s.io/decision"] === "forbid";
  // An operator of one namespace with the rights for all does not notice a second installation there, and logs that.
  const isMarkerElsewhere = name === INSTALLATION && namespace !== SHARED_NAMESPACE;
  if (isRefused && !optional.includes(right) && !isMarkerElsewhere) {
    const what = [namespace, name].filter((each) => each !== undefined).join("/");
    found.refused.set(right, `${user.username} for ${what || "all"}, ${asked.requestReceivedTimestamp}`);
  }
  if (!isRefused) for (const each of [undefined, name]) found.used.add(nameOf(verb, whole, apiGroup, each));
}

/** Unused rights without a reason. */
export const unused = (used: Set<string>): string[] =>
  [...shippedRights()].filter((right) => !used.has(right) && !reasons.some(({ rights }) => rights.test(right)));
