import { fixedChance } from "../chance.ts";
import { type Effects, noEffects } from "../http/effects.ts";
import type { Method } from "../http/exchange.ts";
import type { FaultPlan, FaultRule } from "./plan.ts";

type Ending = Extract<
  FaultRule,
  { fault: "request-lost" | "reset" | "hang" | "status" | "404-everything" | "token-revoked" | "response-lost" }
>;

/** The faults that one call meets. At most one of them ends the call; the others change its execution and add up. */
export interface Injection {
  ending: Ending | null;
  /** Real milliseconds that the request is held before it is executed. */
  hold: number;
  /** Whether a reset of the connection drops a request that is held. */
  resetDrops: boolean;
  /** Real milliseconds the answer comes late. */
  delay: number;
  deliveries: 1 | 2;
  effects: Effects;
}

export const noInjection: Injection = {
  ending: null,
  hold: 0,
  resetDrops: false,
  delay: 0,
  deliveries: 1,
  effects: noEffects,
};

/** The parts of a call that rules match. */
export interface MatchedCall {
  method: Method;
  template: string;
  depth: number;
}

/** Decides by the plan what happens to each call: the same calls in the same order meet the same faults. */
export interface FaultChooser {
  choose(call: MatchedCall): Injection;
  plan(): FaultPlan;
  replace(plan: FaultPlan): void;
}

export function createFaultChooser(first: FaultPlan, simulatorSeed: number): FaultChooser {
  let plan = first;
  let rules = prepared(plan);

  function happens(rule: PreparedRule, index: number): boolean {
    if (rule.spec.count !== undefined && rule.fired >= rule.spec.count) return false;
    rule.matched += 1;
    if (rule.matched <= rule.spec.skip) return false;
    const seed = plan.seed ?? simulatorSeed;
    if (rule.spec.probability < 1 && fixedChance(seed, `fault/${index}`, rule.matched) >= rule.spec.probability) {
      return false;
    }
    rule.fired += 1;
    return true;
  }

  return {
    choose(call) {
      let injection = noInjection;
      for (const [index, rule] of rules.entries()) {
        if (injection.ending !== null && isEnding(rule.spec)) continue;
        if (!concerns(rule.spec, call) || !rule.matches(`${call.method} ${call.template}`)) continue;
        if (happens(rule, index)) injection = withFault(injection, rule.spec);
      }
      return injection;
    },
    plan: () => plan,
    replace(next) {
      plan = next;
      rules = prepared(plan);
    },
  };
}

interface PreparedRule {
  spec: FaultRule;
  matches(route: string): boolean;
  matched: number;
  fired: number;
}

function prepared(plan: FaultPlan): PreparedRule[] {
  return plan.rules.map((spec) => {
    const isMeant = matcher(spec.route);
    const exceptions = spec.except.map(matcher);
    const matches = (route: string) => isMeant(route) && !exceptions.some((isExcepted) => isExcepted(route));
    return { spec, matches, matched: 0, fired: 0 };
  });
}

/** Matches a route of the plan: `*` is any text, `{name}` a parameter of any name. */
function matcher(route: string | undefined): (route: string) => boolean {
  if (route === undefined) return () => true;
  const pattern = route
    .split(/(\*|\{[^}]*\})/)
    .map((part) => (part === "*" ? ".*" : part.startsWith("{") ? "\\{[^}]*\\}" : literally(part)))
    .join("");
  const expression = new RegExp(`^${pattern}$`);
  return (text) => expression.test(text);
}

/** Whether a rule can affect a call. A call that it cannot affect does not use up its `count` and `skip`. */
function concerns(rule: FaultRule, { method, depth }: MatchedCall): boolean {
  switch (rule.fault) {
    case "late-visibility":
    case "request-failed":
    case "slow-provisioning":
    case "duplicate-delivery":
      return method !== "GET";
    case "hidden-while-deleting":
      return method === "DELETE";
    case "accepted-not-done":
      return method === "PATCH" || method === "PUT";
    case "missing-item":
    case "empty-lists":
    case "stale":
      return method === "GET";
    case "shallow":
      return method === "GET" && depth >= 2;
    default:
      return true;
  }
}

const literally = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

function isEnding(rule: FaultRule): rule is FaultRule & Ending {
  switch (rule.fault) {
    case "request-lost":
    case "reset":
    case "hang":
    case "status":
    case "404-everything":
    case "token-revoked":
    case "response-lost":
      return true;
    default:
      return false;
  }
}

function withFault(injection: Injection, rule: FaultRule): Injection {
  if (isEnding(rule)) return { ...injection, ending: rule };
  const { effects } = injection;
  switch (rule.fault) {
    case "slow":
      return { ...injection, delay: injection.delay + rule.seconds * 1000 };
    case "held-connection": {
      const resetDrops = injection.resetDrops || rule.resetDrops;
      return { ...injection, hold: injection.hold + rule.seconds * 1000, resetDrops };
    }
    case "duplicate-delivery":
      return { ...injection, deliveries: 2 };
    case "late-visibility":
      return { ...injection, effects: { ...effects, invisibleFor: effects.invisibleFor + rule.seconds * 1000 } };
    case "request-failed":
      return { ...injection, effects: { ...effects, failWith: rule.message } };
    case "slow-provisioning":
      return { ...injection, effects: { ...effects, slowdown: effects.slowdown * rule.factor } };
    case "missing-item": {
      const hideYoungerThan = effects.hideYoungerThan + rule.seconds * 1000;
      return { ...injection, effects: { ...effects, hideYoungerThan } };
    }
    case "empty-lists": {
      const mostListed = Math.min(effects.mostListed ?? rule.keep, rule.keep);
      return { ...injection, effects: { ...effects, mostListed, noMembers: effects.noMembers || rule.single } };
    }
    case "hidden-while-deleting":
      return { ...injection, effects: { ...effects, hideWhileDeleting: true } };
    case "accepted-not-done":
      return { ...injection, effects: { ...effects, notDone: true } };
    case "altered-answer":
      return { ...injection, effects: { ...effects, alterations: [...effects.alterations, rule] } };
    case "stale":
      return { ...injection, effects: { ...effects, stale: effects.stale + rule.seconds * 1000 } };
    case "shallow":
      return { ...injection, effects: { ...effects, shallow: rule.leavesOut } };
    case "empty-content":
      return { ...injection, effects: { ...effects, emptyContent: true } };
    case "slow-stream":
      return { ...injection, effects: { ...effects, eventPause: effects.eventPause + rule.seconds * 1000 } };
    case "cut-stream":
      return { ...injection, effects: { ...effects, eventsUntilCut: Math.min(effects.eventsUntilCut, rule.after) } };
    case "date-header":
      return { ...injection, effects: { ...effects, dateSkew: effects.dateSkew + rule.seconds * 1000 } };
    case "clock-skew":
      return { ...injection, effects: { ...effects, skew: effects.skew + rule.seconds * 1000 } };
  }
}
