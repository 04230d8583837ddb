import { z } from "zod";
import { topics } from "../../diagnostics/options/topics.ts";
import { groupings } from "../../diagnostics/overview/groupings.ts";
import { asking, inNamespace } from "./mooring.ts";
import type { Row } from "./row.ts";

const selector = z.string().max(1000).optional().describe("Only objects with these labels, for example app=shop.");

/** The questions of `mooring import`, `why`, `tree`, `cost`, `options`, `explain` and `doctor`. */
export const people: readonly Row[] = [
  asking({
    name: "list_problems",
    description:
      "All objects that are not Ready, grouped by root cause, with what to do and who has to act. Use it first when several objects have a problem; then why_not_ready for one.",
    args: { ...inNamespace, selector },
    result: z.looseObject({ problems: z.array(z.looseObject({ cause: z.string() })), not_ready: z.number() }),
    answer: async (sources, args) => (await import("../../diagnostics/why/problems.ts")).problems(sources, args),
  }),
  asking({
    name: "get_manifests",
    description:
      "Existing resources of the platform as manifests of Mooring, with references instead of ids and no secrets. Checked with a plan: applied, they write nothing to the platform. Use it to bring what list_orphans names under Mooring. Reads the whole contract.",
    args: {
      kinds: z
        .array(z.string().max(64))
        .min(1)
        .max(32)
        .optional()
        .describe("Only these kinds, for example Server and Volume."),
      datacenters: z
        .array(z.string().min(1).max(253))
        .min(1)
        .max(100)
        .optional()
        .describe("Only what is in these datacenters, by name or id."),
      manage: z
        .boolean()
        .default(false)
        .describe("Objects that manage their resources where that changes nothing; default: they only observe."),
      namespace: z.string().max(63).optional().describe("Namespace of the objects; default: none in the manifests."),
    },
    result: z.looseObject({
      items: z.array(z.looseObject({ kind: z.string(), name: z.string(), manifest: z.string() })),
      not_imported: z.array(z.looseObject({ what: z.string(), why: z.string() })),
    }),
    narrow: "set kinds or datacenters",
    answer: async (sources, args) => (await import("../../import/question.ts")).manifestsQuestion(sources, args),
  }),
  asking({
    name: "get_landscape",
    description:
      "All objects as trees: each below the object that it lives in, else below its Account. Use it for an overview.",
    args: { ...inNamespace, selector },
    result: z.looseObject({ items: z.array(z.looseObject({ object: z.string() })) }),
    answer: async (sources, args) => {
      const { forest, plainBranch } = await import("../../diagnostics/overview/forest.ts");
      return { items: (await forest(sources, args)).map(plainBranch) };
    },
  }),
  asking({
    name: "get_costs",
    description:
      "What the objects in the cluster cost per month by namespace, owner or kind, at the prices of the contract. For a manifest use get_cost_estimate.",
    args: { ...inNamespace, selector, by: z.enum(groupings).default("namespace").describe("What is added up.") },
    result: z.looseObject({ groups: z.array(z.looseObject({})), per_month: z.number(), currency: z.string() }),
    answer: async (sources, args) => (await import("../../diagnostics/overview/costs.ts")).costs(sources, args),
  }),
  asking({
    name: "list_options",
    description:
      "Valid values for spec: locations, CPU families, images, templates, Kafka sizes and models, from the platform's catalogues. Use it before writing a manifest.",
    args: {
      topics: z
        .array(z.enum(topics))
        .min(1)
        .max(topics.length)
        .default([...topics])
        .describe("What is asked for."),
      location: z.string().max(64).optional().describe("Only values for this location, for example de/txl."),
    },
    result: z.looseObject({ options: z.array(z.looseObject({ topic: z.string() })) }),
    narrow: "ask for fewer topics, or for one location",
    answer: async (sources, args) => (await import("../../diagnostics/options/options.ts")).options(sources, args),
  }),
  asking({
    name: "get_reason",
    description: "What a reason of a condition or Event means, what to do and who has to act.",
    args: { reason: z.string().max(64).default("Pending").describe("The reason, for example ReferenceNotFound.") },
    result: z.looseObject({ reason: z.string(), meaning: z.string() }),
    answer: async (_, { reason }) => (await import("../../diagnostics/why/reasons.ts")).explainReason(reason),
  }),
  asking({
    name: "list_installation_checks",
    description:
      "Checks the cluster, the CRDs, the operator, the caller's rights and the Accounts; each line is ok, warn or fail with the fix. Use it when nothing works.",
    args: inNamespace,
    result: z.looseObject({ checks: z.array(z.looseObject({ status: z.string() })), fail: z.number() }),
    answer: async (sources, { namespace }) => {
      const { doctor } = await import("../../diagnostics/doctor/doctor.ts");
      const cluster = await sources.cluster();
      return doctor({ sources, cluster, namespace, platformOf: sources.platform, version: undefined });
    },
  }),
];
