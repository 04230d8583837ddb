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
    /** The name of a pushed metric. The newest sample of each of its series is compared. */
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

/** A rule with its current state. */
export interface RuleStatus extends Rule {
  state: "no data" | "ok" | "firing";
  value: number | undefined;
  labels: Readonly<Record<string, string>>;
}

/** The rules of each contract, in memory like the samples, and which of them fire. */
const kept = new WeakMap<World, { rules: Rule[]; firing: Set<Rule> }>();

export const setRules = (world: World, rules: Rule[]) => void kept.set(world, { rules, firing: new Set() });

/** The state of the rules of a region, or of all. */
export const ruleStatuses = (world: World, region?: string): RuleStatus[] =>
  (kept.get(world)?.rules ?? [])
    .filter((rule) => region === undefined || rule.region === region)
    .map((rule) => statusOf(world, rule));

const isBeyond = ({ above, below }: Rule, value: number) =>
  (above !== undefined && value > above) || (below !== undefined && value < below);

/** The state by the first series that is above or below the threshold as the rule says, else by the first series. */
function statusOf(world: World, rule: Rule): RuleStatus {
  const found = pipelinesIn(world, "metrics", rule.region).flatMap(({ id }) =>
    world.samples.read(id, { name: rule.metric }).flatMap(({ labels: { __name__: _, ...labels }, samples }) => {
      const value = samples.at(-1)?.value;
      return value === undefined ? [] : [{ labels, value }];
    }),
  );
  const beyond = found.find(({ value }) => isBeyond(rule, value));
  const shown = beyond ?? found[0] ?? { labels: {}, value: undefined };
  const calm = found.length > 0 ? "ok" : "no data";
  return { ...rule, state: beyond === undefined ? calm : "firing", ...shown };
}

/** A notification that takes longer is given up. */
const timeoutMs = 5_000;

/** Notifies the targets of rules that have begun or ceased to fire, once per change. */
export function notifyChanges(world: World, region: string): void {
  const { rules = [], firing = new Set<Rule>() } = kept.get(world) ?? {};
  for (const rule of rules.filter((each) => each.region === region)) {
    const { state, name, metric, value, labels } = statusOf(world, rule);
    if ((state === "firing") === firing.has(rule)) continue;
    if (state === "firing") firing.add(rule);
    else firing.delete(rule);
    if (rule.notify === undefined) continue;
    const notification = { name, metric, state: state === "firing" ? "firing" : "resolved", value, labels };
    const body = JSON.stringify(notification);
    const headers = { "content-type": "application/json" };
    // A failed notification is ignored.
    void fetch(rule.notify, { method: "POST", headers, body, signal: AbortSignal.timeout(timeoutMs) }).catch(() => {});
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
      return { status: 200, body: { rules: ruleStatuses(world) }, indent: true };
    },
  });
  return [
    route("GET", () => {}),
    route("PUT", (body) => setRules(world, checked(rulesSchema, objectIn(body), "(root)").rules)),
  ];
}
