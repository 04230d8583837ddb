import type { ObjectKey } from "../../engine/state/object.ts";
import type { Reason } from "../../engine/status/reasons.ts";
import { allObjects, isPaused, isReady, type MooringObject, summaryOf } from "../objects.ts";
import type { Sources } from "../sources.ts";
import { type Actor, needsSomebody } from "./actors.ts";
import { accountOf, type ChainLink, type Find, leavingIn, rootOf, stepOf } from "./chain.ts";
import { findKey } from "./find.ts";
import { idleOperator, startOperator } from "./operator-state.ts";

/** A root cause, and all objects that wait for it. */
export interface Problem {
  cause: string;
  reason: string;
  message: string;
  what_to_do: string;
  who: Actor;
  affected: { object: string; reason: string; message: string }[];
}

/**
 * All objects that are not Ready, grouped by root cause: first causes that need a user, then those with the most
 * waiting objects.
 */
export async function problems(
  sources: Sources,
  asked: { namespace?: string | undefined; selector?: string | undefined },
) {
  const { namespace, selector } = asked;
  const chosen = await allObjects(sources, namespace, undefined, selector);
  // The objects that they wait for may have other labels.
  const all = selector === undefined ? chosen : await allObjects(sources, namespace);
  const notReady = [...chosen.values()].filter(({ object }) => !isReady(object));
  const find = await finder(sources, all);
  const groups = new Map<string, Problem>();
  for (const each of notReady) {
    const root = rootOf(await stepOf(find, each.key, each));
    const { reason, message } = summaryOf(each);
    const id = `${root.object} ${root.reason}`;
    const group = groups.get(id) ?? { ...causeOf(root), affected: [] };
    group.affected.push({ object: each.key, reason, message });
    groups.set(id, group);
  }
  const found = together([...groups.values()], (key) => all.get(key));
  const idle =
    notReady.length > 0 ? await idleOperator(await sources.cluster(), sources.now(), sources.signal) : undefined;
  return {
    ...(idle !== undefined && { operator: { message: idle, what_to_do: startOperator } }),
    problems: found.sort(
      (a, b) => urgency(a) - urgency(b) || b.affected.length - a.affected.length || a.cause.localeCompare(b.cause),
    ),
    not_ready: notReady.length,
    paused: [...chosen.values()].filter(isPaused).map(({ key }) => key),
    total: chosen.size,
  };
}

/** Reasons that an Account or a namespace causes, although each object has them as its own. */
const common: ReadonlySet<string> = new Set<Reason>([
  "AccountNotFound",
  "AccountNotAllowed",
  "AccountMoved",
  "ContractChanged",
  "EndpointInvalid",
  "EndpointNotAllowed",
]);

/** Objects with the same trouble with their Account are one problem: an edit of the Account, or of the namespace, ends it. */
function together(found: Problem[], objectOf: (key: string) => MooringObject | undefined): Problem[] {
  const byCause = Map.groupBy(found, (problem) => {
    const object = common.has(problem.reason) ? objectOf(problem.cause) : undefined;
    const [cause] = object ? causesOf(object) : [];
    return `${cause ?? problem.cause} ${problem.reason}`;
  });
  return [...byCause].flatMap(([id, alike]) => {
    const [first] = alike;
    if (!first || alike.length === 1) return alike;
    const isSame = alike.every(({ message }) => message === first.message);
    const message = isSame ? first.message : `${first.cause}: ${first.message}`;
    const [cause = ""] = id.split(" ");
    return [{ ...first, cause, message, affected: alike.flatMap(({ affected }) => affected) }];
  });
}

/** The Account of an object; its namespace where it has none. */
const causesOf = (each: MooringObject): string[] => [...accountOf(each), `Namespace/${each.object.metadata.namespace}`];

const urgency = ({ who }: Problem) => (needsSomebody(who) ? 0 : 1);

const causeOf = ({ object, reason, message, what_to_do, who }: ChainLink) => ({
  cause: object,
  reason,
  message,
  what_to_do,
  who,
});

/** Searches the listed objects first, then the cluster. */
async function finder(sources: Sources, all: ReadonlyMap<string, MooringObject>): Promise<Find> {
  const cluster = await sources.cluster();
  const asked = new Map<string, ReturnType<Find>>();
  const find = async (key: ObjectKey) => {
    const listed = all.get(key);
    if (listed) return listed;
    const answer = asked.get(key) ?? findKey(cluster, key, sources.signal);
    asked.set(key, answer);
    return answer;
  };
  const prefixOf = (key: string) => key.slice(0, key.lastIndexOf("/") + 1);
  const names = async (key: ObjectKey) =>
    [...all.keys()].flatMap((each) => (prefixOf(each) === prefixOf(key) ? each.slice(prefixOf(key).length) : []));
  const leaving = async (key: ObjectKey) => leavingIn(all.values(), key);
  return Object.assign(find, { names, leaving });
}
