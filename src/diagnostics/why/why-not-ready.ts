import { z } from "zod";
import { readStatus } from "../../engine/status/status.ts";
import { isForbidden } from "../../kube/client/errors.ts";
import { EVENTS, type KubeObject } from "../../kube/resource.ts";
import type { ClusterReader } from "../cluster.ts";
import {
  adviceFor,
  isPaused,
  isReady,
  kindOf,
  type MooringObject,
  type ObjectAsked,
  objectNamed,
  summaryOf,
} from "../objects.ts";
import type { Sources } from "../sources.ts";
import { actorInWords } from "./actors.ts";
import { type ChainLink, type Find, howToResume, rootOf, stepOf } from "./chain.ts";
import { findIn } from "./find.ts";
import { idleOperator, startOperator } from "./operator-state.ts";

const MOST_EVENTS = 10;

/**
 * Why an object is not Ready: the chain of objects that it waits for, down to the root cause, and the platform's view
 * of the request.
 */
export async function whyNotReady(sources: Sources, asked: ObjectAsked) {
  const { signal } = sources;
  const cluster = await sources.cluster();
  const found = await objectNamed(cluster, asked, signal);
  const { object } = found;
  const { conditions = [], drift, advice } = readStatus(object);
  const find = await findIn(sources);
  const chain = await stepOf(find, found.key, found);
  const root = rootOf(chain);
  const ready = isReady(object);
  // An edit since the last reconcile is not in effect yet, although the object is Ready.
  const isStale = (readStatus(object).observedGeneration ?? 0) < (object.metadata.generation ?? 0);
  const paused = isPaused(found);
  const isDone = ready && !isStale && !paused;
  const idle = isDone ? undefined : await idleOperator(cluster, sources.now(), signal);
  // If the root cause is a user's task, a stopped operator does not matter, unless the object was edited since.
  const isIdle = idle !== undefined && !paused && (root.who === "operator" || isStale);
  const request = await requestOf(sources, root.object === found.key ? found : await find(root.object));
  const finding = ready ? readyAnswer(found, { isStale, paused }) : { answer: inWords(root), ...root };
  return {
    ...summaryOf(found),
    ready,
    ...(paused && { paused }),
    answer: isIdle ? idle : finding.answer,
    what_to_do: isIdle ? startOperator : finding.what_to_do,
    acts: actorInWords(isIdle ? "administrator" : finding.who),
    ...(!ready && { cause: { object: root.object, reason: root.reason, message: root.message, who: root.who } }),
    waits_for: chain.waits_for,
    conditions,
    ...(request && { request }),
    ...(drift && { drift }),
    ...(advice && { advice }),
    events: await eventsOf(sources, cluster, object),
    ...(idle !== undefined && { operator: idle }),
  };
}

/** The answer for an object that is Ready: whether that holds for the whole of its spec, and goes on. */
function readyAnswer(found: MooringObject, { isStale, paused }: { isStale: boolean; paused: boolean }) {
  const { key, object } = found;
  if (paused) {
    const edit = isStale ? "its last edit has no effect yet" : "edits have no effect";
    const answer =
      object.metadata.deletionTimestamp === undefined
        ? `${key} is Ready and paused: ${edit}, and its resource is not changed`
        : `${key} is paused and being deleted: its resource stays until the object is resumed`;
    return { answer, what_to_do: howToResume(found), who: "you" as const };
  }
  if (!isStale) return { answer: `${key} is Ready: nothing to do`, what_to_do: "Nothing.", who: "nobody" as const };
  return {
    answer: `${key} is Ready, but its last edit was not reconciled yet`,
    what_to_do: adviceFor("Pending"),
    who: "operator" as const,
  };
}

const inWords = ({ object, exists, reason, message }: ChainLink) =>
  exists ? `${object} is not Ready (${reason}): ${message}` : message;

/** The request that the root cause waits for, with its state on the platform. */
async function requestOf(sources: Sources, found: Awaited<ReturnType<Find>>) {
  if (!found || found === "hidden") return undefined;
  const { request } = readStatus(found.object);
  return request && { object: found.key, ...request, platform: await platformStateOf(sources, request.url) };
}

const event = z.looseObject({
  type: z.string().nullish(),
  reason: z.string().nullish(),
  message: z.string().nullish(),
  count: z.number().nullish(),
  lastTimestamp: z.string().nullish(),
  eventTime: z.string().nullish(),
});

async function eventsOf(sources: Sources, cluster: ClusterReader, { metadata, kind }: KubeObject) {
  const fieldSelector = `involvedObject.kind=${kindOf(kind).kind},involvedObject.name=${metadata.name}`;
  const namespace = metadata.namespace ?? "default";
  const found = await cluster.list(EVENTS, { namespace, fieldSelector }, sources.signal).catch((error: unknown) => {
    if (!sources.missing || !isForbidden(error)) throw error;
    sources.missing(`events of namespace ${namespace}: you may not list them`);
    return [];
  });
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

/** The state of a request on the platform, or a text that says why it is unknown. */
async function platformStateOf({ platform: open, signal }: Sources, url: string | undefined) {
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
