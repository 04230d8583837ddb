import { z } from "zod";
import { checked, objectIn } from "./core/kind/body.ts";
import type { Route } from "./http/exchange.ts";
import { regions } from "./pipelines/kinds.ts";
import { pipelinesIn } from "./records/pipelines.ts";
import type { World } from "./world.ts";

const threshold = z.number().optional();

const ruleSchema = z
  .object({
    region: z.enum([...regions], { error: "must be a region such as de-txl" }),
    name: z.string().min(1).max(100),
    /** The name of a pushed metric: any of its series counts, by its newest sample. */
    metric: z.string().min(1).max(200),
    above: threshold,
    below: threshold,
    /** Where a change is posted to. */
    notify: z.url({ protocol: /^https?$/, error: "must be an http or https URL" }).optional(),
  })
  .refine(({ above, below }) => (above === undefined) !== (below === undefined), {
    path: ["above"],
    error: "exactly one of above and below is needed",
  });

export const rulesSchema = z.object({ rules: z.array(ruleSchema).max(100) });
export type Rule = z.infer<typeof ruleSchema>;

export interface Standing extends Rule {
  state: "no data" | "ok" | "firing";
  value: number | undefined;
  labels: Readonly<Record<string, string>>;
}

/** The rules of each contract, in memory like the samples, and which of them fire. */
const kept = new WeakMap<World, { rules: Rule[]; firing: Set<Rule> }>();

export const setRules = (world: World, rules: Rule[]) => void kept.set(world, { rules, firing: new Set() });

/** The state of the rules of a region, or of all. */
export const standings = (world: World, region?: string): Standing[] =>
  (kept.get(world)?.rules ?? [])
    .filter((rule) => region === undefined || rule.region === region)
    .map((rule) => standingOf(world, rule));

const isBeyond = ({ above, below }: Rule, value: number) =>
  (above !== undefined && value > above) || (below !== undefined && value < below);

/** By the first series that is beyond the threshold, else by any. */
function standingOf(world: World, rule: Rule): Standing {
  const found = pipelinesIn(world, "metrics", rule.region).flatMap(({ id }) =>
    world.samples.read(id, { name: rule.metric }).flatMap(({ labels: { __name__: _, ...labels }, samples }) => {
      const value = samples.at(-1)?.value;
      return value === undefined ? [] : [{ labels, value }];
    }),
  );
  const worst = found.find(({ value }) => isBeyond(rule, value));
  const shown = worst ?? found[0] ?? { labels: {}, value: undefined };
  return { ...rule, state: worst ? "firing" : found.length > 0 ? "ok" : "no data", ...shown };
}

/** A notification that takes longer is given up. */
const patienceMs = 5_000;

/** Notifies the targets of rules that have begun or ceased to fire, once per change. */
export function tellChanges(world: World, region: string): void {
  const { rules = [], firing = new Set<Rule>() } = kept.get(world) ?? {};
  for (const rule of rules.filter((each) => each.region === region)) {
    const { state, name, metric, value, labels } = standingOf(world, rule);
    if ((state === "firing") === firing.has(rule)) continue;
    if (state === "firing") firing.add(rule);
    else firing.delete(rule);
    if (rule.notify === undefined) continue;
    const news = { name, metric, state: state === "firing" ? "firing" : "resolved", value, labels };
    const body = JSON.stringify(news);
    const headers = { "content-type": "application/json" };
    // A failed notification is ignored.
    void fetch(rule.notify, { method: "POST", headers, body, signal: AbortSignal.timeout(patienceMs) }).catch(() => {});
  }
}

/** The alert rules of the dashboards: shown with their state, and replaced as a whole. */
export function alertRoutes(world: World): Route[] {
  const route = (method: "GET" | "PUT", change: (body: string) => void): Route => ({
    method,
    template: "/_simulator/alerts",
    access: "steering",
    handle({ body }) {
      change(body);
      return { status: 200, body: { rules: standings(world) }, indent: true };
    },
  });
  return [
    route("GET", () => {}),
    route("PUT", (body) => setRules(world, checked(rulesSchema, objectIn(body), "(root)").rules)),
  ];
}
