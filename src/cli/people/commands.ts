import type { PeopleCommand } from "../frame/command.ts";

/** Commands for people, by name. Each is loaded only when it is called; `test/cli/people.test.ts` compares the summaries. */
export const people: Readonly<Record<string, { summary: string; load(): Promise<PeopleCommand> }>> = {
  plan: {
    summary: "what an apply of manifests would create, change, replace, adopt and delete, with prices",
    load: async () => (await import("../plan/command.ts")).plan,
  },
  import: {
    summary: "an existing landscape of the platform as manifests that change nothing when applied",
    load: async () => (await import("../import/command.ts")).importCommand,
  },
  explain: {
    summary: "what a reason means and what to do",
    load: async () => (await import("./explain.ts")).explain,
  },
};
