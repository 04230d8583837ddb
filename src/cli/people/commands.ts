import type { PeopleCommand } from "../frame/command.ts";

/**
 * Commands for people by name. Each is loaded only when it is called; `test/cli/people.test.ts` compares the summaries.
 */
export const people: Readonly<Record<string, { summary: string; load(): Promise<PeopleCommand> }>> = {
  why: {
    summary: "why an object is not Ready, root cause first: what to do and who has to act",
    load: async () => (await import("./objects/why.ts")).why,
  },
  get: {
    summary: "objects of all kinds in one table, problems first",
    load: async () => (await import("./objects/get.ts")).get,
  },
  tree: {
    summary: "objects as trees, or the dependencies and dependents of one object",
    load: async () => (await import("./objects/tree.ts")).tree,
  },
  wait: {
    summary: "wait until objects are Ready or deleted; ends immediately with the reason if one is Stalled or paused",
    load: async () => (await import("./objects/wait.ts")).wait,
  },
  reconcile: {
    summary: "reconcile objects immediately, and retry what failed",
    load: async () => (await import("./objects/annotate.ts")).reconcile,
  },
  pause: {
    summary: "pause objects: their resources are not changed any more",
    load: async () => (await import("./objects/annotate.ts")).pause,
  },
  resume: {
    summary: "resume paused objects",
    load: async () => (await import("./objects/annotate.ts")).resume,
  },
  rotate: {
    summary: "issue a new key, token or certificate for objects that have one",
    load: async () => (await import("./objects/annotate.ts")).rotate,
  },
  drift: {
    summary: "objects whose resource differs from spec, field by field",
    load: async () => (await import("./contract/drift.ts")).drift,
  },
  orphans: {
    summary: "resources on the platform without an object, with age, price and what to do",
    load: async () => (await import("./contract/orphans.ts")).orphans,
  },
  cost: {
    summary: "what objects cost per month, by namespace, owner or kind",
    load: async () => (await import("./contract/cost.ts")).cost,
  },
  expiring: {
    summary: "keys, tokens and certificates that expire soon",
    load: async () => (await import("./contract/expiring.ts")).expiring,
  },
  options: {
    summary: "valid values for spec with an Account: locations, images, templates, sizes, models",
    load: async () => (await import("./contract/options.ts")).options,
  },
  plan: {
    summary: "what an apply of manifests would create, change, replace, adopt and delete, with prices",
    load: async () => (await import("../plan/command.ts")).plan,
  },
  import: {
    summary: "existing resources of the platform as manifests that change nothing when applied",
    load: async () => (await import("../import/command.ts")).importCommand,
  },
  explain: {
    summary: "what a reason means and what to do",
    load: async () => (await import("./explain.ts")).explain,
  },
  doctor: {
    summary: "check cluster, CRDs, operator, rights and Accounts, each with its fix",
    load: async () => (await import("./doctor.ts")).doctor,
  },
  completion: {
    summary: "completion for bash, zsh and fish",
    load: async () => (await import("./completion.ts")).completion,
  },
};
