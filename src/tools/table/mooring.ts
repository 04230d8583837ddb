import { z } from "zod";
import { measures, topFields } from "../../diagnostics/flow-logs/top.ts";
import type { Sources } from "../../diagnostics/sources.ts";
import { argumentsIn, list, type Row } from "./row.ts";

interface Question<Shape extends z.ZodRawShape> {
  name: string;
  description: string;
  args: Shape;
  result: z.ZodType;
  narrow?: string;
  /** Loads the question on demand: a client that only lists tools does not wait for the engine. */
  answer(sources: Sources, args: z.output<z.ZodObject<Shape>>): Promise<unknown>;
}

export function asking<Shape extends z.ZodRawShape>({ answer, ...row }: Question<Shape>): Row {
  const args = z.strictObject(row.args);
  return {
    group: "mooring",
    ...row,
    narrow: row.narrow ?? "ask for one namespace",
    args,
    // The arguments are already validated. Parsed again for their types.
    work: { ask: async (sources, given) => answer(sources, args.parse(given)) },
  };
}

/** The arguments that name one object. */
const named = {
  kind: z.string().max(64).describe("Kind, plural or short name, for example Server, servers or srv."),
  name: z.string().max(253).describe("Name of the object."),
  namespace: z.string().max(63).optional().describe("Its namespace; default: the one of the kubeconfig."),
};
export const inNamespace = {
  namespace: z.string().max(63).optional().describe("Only this namespace; default: all that may be read."),
};

const since = (usual: string) =>
  z.string().max(64).default(usual).describe(`Since when: 15m, 1h, 7d or 2026-03-01T10:00Z; default ${usual}.`);
const until = z
  .string()
  .max(64)
  .optional()
  .describe("End of the period, in the same form; set it to continue a truncated answer. Default: now.");
const object = z.looseObject({ kind: z.string(), name: z.string() });
const objects = list.extend({ items: z.array(object) });

export const mooring: readonly Row[] = [
  asking({
    name: "list_custom_resources",
    description:
      "Mooring's objects in the cluster with Ready, reason and message. Start here for the cluster; with not_ready only those with a problem. Then why_not_ready.",
    args: {
      kind: named.kind.optional(),
      ...inNamespace,
      not_ready: z.boolean().default(false).describe("Only objects that are not Ready."),
    },
    result: objects,
    narrow: "set kind, namespace or not_ready",
    answer: async (sources, args) => (await import("../../diagnostics/resources.ts")).listResources(sources, args),
  }),
  asking({
    name: "get_custom_resource",
    description: "One object with its spec and status. To find out why it is not Ready use why_not_ready instead.",
    args: named,
    result: z.looseObject({ metadata: z.looseObject({ name: z.string() }) }),
    answer: async (sources, args) => (await import("../../diagnostics/resources.ts")).getResource(sources, args),
  }),
  asking({
    name: "why_not_ready",
    description:
      "Why an object is not Ready, and what to do: follows the objects that it waits for down to the root cause, with conditions, the request on the platform and recent Events. Use it first for any object with a problem.",
    args: named,
    result: z.looseObject({ answer: z.string(), what_to_do: z.string(), events: z.array(z.looseObject({})) }),
    answer: async (sources, args) =>
      (await import("../../diagnostics/why/why-not-ready.ts")).whyNotReady(sources, args),
  }),
  asking({
    name: "get_dependency_tree",
    description:
      "Dependencies and dependents of an object, at any depth, with a diagram. Use it before deleting something, or to see what an outage reaches.",
    args: named,
    result: z.looseObject({
      needs: z.array(z.looseObject({})),
      needed_by: z.array(z.looseObject({})),
      picture: z.string(),
    }),
    answer: async (sources, args) => (await import("../../diagnostics/tree.ts")).dependencyTree(sources, args),
  }),
  asking({
    name: "list_drift",
    description:
      "Objects whose resource on the platform differs from spec, with field, wanted and found value. Reads each resource; if that fails, the drift of the operator's last reconcile is shown and marked.",
    args: inNamespace,
    result: objects,
    answer: async (sources, args) => (await import("../../diagnostics/drift.ts")).driftReport(sources, args),
  }),
  asking({
    name: "list_orphans",
    description:
      "Resources on the platform without an object, and objects whose resource is gone. Those in_use belong to what objects need, those of_other_clusters may have objects there: never delete them. Use it to find unnoticed costs. Reads the whole contract.",
    args: {},
    result: z.looseObject({ without_object: z.array(z.looseObject({})), without_resource: z.array(z.looseObject({})) }),
    narrow: "list one datacenter with list_servers and list_volumes",
    answer: async (sources) => (await import("../../diagnostics/orphans.ts")).orphanReport(sources),
  }),
  asking({
    name: "list_expiring",
    description:
      "Keys, tokens and certificates that expire soon, each once, and whether it is renewed automatically: those of Mooring's objects, of the certificate manager, and this server's own token.",
    args: {
      days: z.int().min(0).max(3650).default(30).describe("Number of days; default 30."),
      ...inNamespace,
    },
    result: z.looseObject({ items: z.array(z.looseObject({ expires: z.string() })) }),
    answer: async (sources, args) => (await import("../../diagnostics/expiring.ts")).expiring(sources, args),
  }),
  asking({
    name: "get_cost_estimate",
    description:
      "What the objects of a manifest would cost per month, by the contract's price catalogue. Use it before applying a manifest.",
    args: {
      manifest: z
        .string()
        .min(1)
        .max(200_000)
        .describe("Objects in YAML or JSON, several with --- between them; 32 KiB at most."),
    },
    result: z.looseObject({ items: z.array(z.looseObject({})), per_month: z.number(), currency: z.string() }),
    narrow: "give fewer objects",
    answer: async (sources, args) => (await import("../../diagnostics/cost.ts")).costEstimate(sources, args),
  }),
  asking({
    name: "get_plan",
    description:
      "What an apply of a manifest would create, change (field by field), replace, adopt, wait for or remove, with prices a month before and after. The operator's own decision; changes nothing. Use it before anybody applies or deletes a manifest.",
    args: {
      manifest: z
        .string()
        .min(1)
        .max(200_000)
        .describe("Objects in YAML or JSON, several with --- between them; 32 KiB at most."),
      namespace: named.namespace,
      prune: z
        .string()
        .min(1)
        .max(1024)
        .optional()
        .describe("Labels, for example app=shop: also delete objects that have them and are not in the manifest."),
      destroy: z
        .boolean()
        .default(false)
        .describe("Plans the deletion of all objects of the manifest instead of an apply."),
    },
    result: z.looseObject({ changes: z.boolean(), items: z.array(z.looseObject({ action: z.string() })) }),
    narrow: "give fewer objects",
    answer: async (sources, args) => (await import("../../plan/question.ts")).planQuestion(sources, args),
  }),
  asking({
    name: "get_flow_log_summary",
    description:
      "Who talked to whom: the largest senders, receivers and ports in the flow logs of a bucket. With action REJECT: traffic that a firewall refused.",
    args: {
      ...(argumentsIn("/{bucket}") as { bucket: z.ZodString }),
      prefix: z.string().max(1024).default("").describe("Only objects whose keys begin with it."),
      since: since("1h"),
      until: z.string().max(64).optional().describe("End of the period, in the same form; default: now."),
      action: z.enum(["ACCEPT", "REJECT"]).optional().describe("Only records with this action."),
      nic_id: z.string().max(64).optional().describe("Only records of this NIC, from list_nics."),
      fields: z
        .array(z.enum(topFields))
        .min(1)
        .max(6)
        .default(["srcaddr", "dstaddr", "dstport"])
        .describe("What is summed up."),
      by: z.enum(measures).default("bytes").describe("Measure of the ranking."),
      rows: z.int().min(1).max(1000).default(10).describe("Rows of each field."),
    },
    result: z.looseObject({ totals: z.looseObject({ records: z.number() }), tops: z.array(z.looseObject({})) }),
    narrow: "set fewer rows",
    answer: async (sources, args) =>
      (await import("../../diagnostics/flow-logs/summary.ts")).flowLogSummary(sources, args),
  }),
  asking({
    name: "list_object_activity",
    description:
      "Who changed the resource of an object on the platform, from the activity log, the newest first. Use it when something was changed outside Mooring.",
    args: { ...named, since: since("7d"), until },
    result: z.looseObject({ object: z.string(), events: z.array(z.looseObject({})) }),
    narrow: "set a shorter time with since",
    answer: async (sources, args) => (await import("../../diagnostics/activity.ts")).objectActivity(sources, args),
  }),
  asking({
    name: "list_changes",
    description:
      "What changed since a time, in the cluster and on the platform, the newest first. Use it when something worked before.",
    args: { since: since("1h"), until, ...inNamespace },
    result: z.looseObject({
      since: z.string(),
      changes: z.array(z.looseObject({ time: z.string(), what: z.string() })),
    }),
    narrow: "set a shorter time with since, or a namespace",
    answer: async (sources, args) => (await import("../../diagnostics/changes.ts")).changesSince(sources, args),
  }),
];
