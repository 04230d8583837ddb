import { z } from "zod";
import { namedBy as accountNamed, objectOf } from "../engine/accounts/accounts.ts";
import { isPaused, namedBy, type ObjectKey, targetOf } from "../engine/state/object.ts";
import { policiesOf } from "../engine/state/policies.ts";
import { needsPerson, type Reason, reasons } from "../engine/status/reasons.ts";
import { readStatus } from "../engine/status/status.ts";
import type { KubeObject, Resource } from "../kube/resource.ts";
import type { ClusterReader } from "./cluster.ts";
import {
  adviceFor,
  findObject,
  isReady,
  type Known,
  kindOf,
  type ObjectAsked,
  objectNamed,
  readyOf,
  summaryOf,
} from "./objects.ts";
import type { Sources } from "./sources.ts";

const EVENTS: Resource = { group: "", version: "v1", kind: "Event", plural: "events", namespaced: true };
const MOST_EVENTS = 10;
const DEEPEST = 8;

/** One step of the chain: an object that is not Ready, and what it waits for. */
interface Step {
  object: string;
  exists: boolean;
  ready: boolean;
  reason: string;
  message: string;
  what_to_do: string;
  waits_for: Step[];
}

/** Why an object is not Ready: what it waits for, down to where somebody has to act, and what the platform says. */
export async function whyNotReady(sources: Sources, asked: ObjectAsked) {
  const { signal } = sources;
  const cluster = await sources.cluster();
  const found = await objectNamed(cluster, asked, signal);
  const { object } = found;
  const { conditions = [], request, drift, advice } = readStatus(object);
  const chain = await stepOf(cluster, found.key, found, signal);
  const root = rootOf(chain);
  const ready = isReady(object);
  return {
    ...summaryOf(found),
    ready,
    answer: ready
      ? `${found.key} is Ready: nothing to do`
      : `${root.object} ${root.exists ? `is not Ready (${root.reason}): ${root.message}` : "does not exist"}`,
    what_to_do: ready ? "Nothing." : wayOut(object, root),
    acts: ready ? "nobody" : needsSomebody(root) ? "a person has to act" : "the operator tries again by itself",
    waits_for: chain.waits_for,
    conditions,
    ...(request && { request: { ...request, platform: await requestOf(sources, request.url) } }),
    ...(drift && { drift }),
    ...(advice && { advice }),
    events: await eventsOf(cluster, object, signal),
  };
}

async function stepOf(
  cluster: ClusterReader,
  key: ObjectKey,
  found: Known | undefined,
  signal: AbortSignal,
  seen: ReadonlySet<ObjectKey> = new Set(),
): Promise<Step> {
  if (!found) {
    const text = adviceFor("ReferenceNotFound");
    const gone = { reason: "ReferenceNotFound", message: `${key} does not exist`, what_to_do: text };
    return { object: key, exists: false, ready: false, ...gone, waits_for: [] };
  }
  const { reason = "Pending", message = "" } = readyOf(found.object) ?? {};
  const ready = isReady(found.object);
  const next = ready || seen.size >= DEEPEST ? [] : neededBy(found).filter((each) => !seen.has(each));
  const below = new Set([...seen, key]);
  const waits: Step[] = [];
  for (const each of new Set(next)) {
    const target = await findObject(cluster, placeOf(each), signal);
    const step = await stepOf(cluster, each, target, signal, below);
    if (!step.ready) waits.push(step);
  }
  return { object: key, exists: true, ready, reason, message, what_to_do: adviceFor(reason), waits_for: waits };
}

/** Keys of objects that belong to no namespace have two parts. */
function placeOf(key: ObjectKey) {
  const [kind = "", name = ""] = key.split("/");
  return key.split("/").length === 2 ? { kind, namespace: undefined, name } : targetOf(key);
}

/** What spec names, and the Account. */
function neededBy({ kind, object }: Known): ObjectKey[] {
  const { accountRef } = policiesOf(object);
  const { account } = readStatus(object);
  const chosen = accountRef ? accountNamed(object.metadata.namespace ?? "", accountRef) : account;
  return [...(chosen ? [objectOf(chosen)] : []), ...namedBy(kind, object).map(({ key }) => key)];
}

/** Where the chain ends: what stands in the way of all the rest. */
const rootOf = (step: Step): Step => {
  const [first] = step.waits_for;
  return first ? rootOf(first) : step;
};

const needsSomebody = ({ exists, reason }: Step) =>
  !exists || (Object.hasOwn(reasons, reason) && needsPerson(reason as Reason));

function wayOut(object: KubeObject, root: Step): string {
  if (isPaused(object)) return reasons.Paused;
  return root.exists ? root.what_to_do : `Create ${root.object}, or correct the name.`;
}

const event = z.looseObject({
  type: z.string().nullish(),
  reason: z.string().nullish(),
  message: z.string().nullish(),
  count: z.number().nullish(),
  lastTimestamp: z.string().nullish(),
  eventTime: z.string().nullish(),
});

async function eventsOf(cluster: ClusterReader, { metadata, kind }: KubeObject, signal: AbortSignal) {
  const fieldSelector = `involvedObject.kind=${kindOf(kind).kind},involvedObject.name=${metadata.name}`;
  const namespace = metadata.namespace ?? "default";
  const found = await cluster.list(EVENTS, { namespace, fieldSelector }, signal);
  return found
    .flatMap((each) => {
      const { data } = event.safeParse(each);
      const time = data?.lastTimestamp ?? data?.eventTime ?? each.metadata.creationTimestamp ?? "";
      return data
        ? [{ time, type: data.type, reason: data.reason, message: data.message, count: data.count ?? 1 }]
        : [];
    })
    .sort((a, b) => (a.time < b.time ? 1 : -1))
    .slice(0, MOST_EVENTS);
}

const requestStatus = z.looseObject({ metadata: z.looseObject({ status: z.string(), message: z.string().nullish() }) });

/** What the platform says about a request; in words where it cannot be asked. */
async function requestOf({ platform: open, signal }: Sources, url: string | undefined) {
  try {
    const platform = await open();
    const api = platform.endpoint("api");
    if (url === undefined || new URL(url).origin !== new URL(api).origin) return "not asked";
    const { body } = await platform.read({ method: "GET", url, signal });
    const { status, message } = requestStatus.parse(body).metadata;
    return { status, message };
  } catch (error) {
    signal.throwIfAborted();
    return `not known: ${error instanceof Error ? error.message : String(error)}`;
  }
}
