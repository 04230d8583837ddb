import { objectOf } from "../engine/accounts/accounts.ts";
import { keyTo, type ObjectKey } from "../engine/state/object.ts";
import { hasResource, type ResourceKind } from "../kinds/kind.ts";
import type { KubeObject } from "../kube/resource.ts";
import { adopted } from "./adoption.ts";
import { emptied } from "./inside.ts";
import type { PlanItem } from "./item.ts";
import { baseOf, type Candidate, hiddenItem, itemOf, objectItem, refusal } from "./outcome.ts";
import { placeholders } from "./placeholders.ts";
import { forgotten, project } from "./projection.ts";
import { absentIn, stayingUsers } from "./references.ts";
import type { Stage } from "./stage.ts";

/** The objects that the caller may read. */
export interface Sight {
  /** Every Account that objects of a namespace may use. */
  accounts(namespace: string): boolean;
  object(key: ObjectKey): boolean;
}
const seesAll: Sight = { accounts: () => true, object: () => true };

/**
 * Decides for each candidate as the operator would. Referenced objects come first: an object that the plan creates
 * exists for the following ones, with a placeholder id.
 */
export async function planAll(
  stage: Stage,
  candidates: readonly Candidate[],
  sight: Sight = seesAll,
  progress: (done: number) => void = () => {},
): Promise<PlanItem[]> {
  const newIds = placeholders();
  const items = new Map<ObjectKey, PlanItem>();
  const byKey = new Map<ObjectKey, Candidate>();
  for (const each of candidates) {
    const object = each.desired ?? each.live;
    if (!object) continue;
    byKey.set(keyTo(each.kind, object), each);
    stage.put(each.desired ?? withDeletion(object));
  }
  // Starts all lists concurrently.
  for (const [key, { kind }] of byKey) {
    const found = stage.objects.find(key);
    if (found && hasResource(kind)) stage.begin(kind, found.object);
  }
  for (const key of byKey.keys()) await visit(key, new Set());
  return [...byKey.keys()].flatMap((key) => items.get(key) ?? []);

  async function visit(key: ObjectKey, trail: Set<ObjectKey>): Promise<void> {
    const candidate = byKey.get(key);
    const found = stage.objects.find(key);
    if (!candidate || !found || items.has(key) || trail.has(key)) return;
    trail.add(key);
    const named = stage.objects.named(found.kind, found.object).map((each) => each.key);
    if (candidate.desired) for (const each of named) await visit(each, trail);
    items.set(key, await planOne(key, candidate, named));
    progress(items.size);
  }

  /** The decision for an object; for one whose resource is given up, the one that follows. */
  async function decided(key: ObjectKey, kind: ResourceKind, object: KubeObject) {
    const first = await stage.decide(key, kind, object);
    // A person asks for another resource than the one that the platform answered with.
    const isAsked = first.decision.step === "retract" && first.context.view.resource.refused !== undefined;
    if (first.decision.step !== "forget" && !isAsked) return first;
    const rest = forgotten(object);
    stage.put(rest);
    return stage.decide(key, kind, rest);
  }

  async function planOne(key: ObjectKey, candidate: Candidate, named: readonly ObjectKey[]): Promise<PlanItem> {
    const { kind, live, desired, refused } = candidate;
    const base = baseOf(candidate);
    if (candidate.isHidden) return hiddenItem(candidate, base);
    if (refused !== undefined) return refusal(candidate, base, refused);
    const found = stage.objects.find(key)?.object;
    if (!found) return base;
    const users = desired ? [] : stayingUsers(stage, key, found);
    if (!hasResource(kind)) return objectItem(base, live, desired, users);
    const now = await decided(key, kind, found);
    const { context, decision, unread } = desired ? { ...now, unread: undefined } : await emptied(stage, now);
    const account = context.view.account.key === undefined ? [] : [objectOf(context.view.account.key)];
    const first = [...new Set([...account, ...named])].filter((each) => comesFirst(items.get(each)));
    const isStuck = named.some((each) => STUCK.has(items.get(each)?.action ?? "none"));
    const seesAccounts = sight.accounts(found.metadata.namespace ?? "");
    const isPlaced = context.view.resource.claim !== undefined && context.view.spec.replacement === undefined;
    const absent = absentIn(stage, kind, found, isPlaced, sight.object);
    const item = itemOf({ base, candidate, context, decision, first, isStuck, absent, users, seesAccounts });
    if (item.action === "adopt") return adopted(stage, newIds.readable, key, kind, context, item);
    if (item.action === "create" || (item.action === "replace" && item.replacement?.allowed)) {
      project(stage, kind, found, context, newIds.next(kind, found));
    }
    const message = [item.message, unread].filter((each) => each !== undefined).join("; ");
    return { ...item, fields: item.fields.map(newIds.readable), ...(message !== "" && { message }) };
  }
}

/** The object after `kubectl delete`: the API server waits for the finalizer. */
const withDeletion = (object: KubeObject): KubeObject => ({
  ...object,
  metadata: { ...object.metadata, deletionTimestamp: object.metadata.deletionTimestamp ?? new Date(0).toISOString() },
});

const STUCK: ReadonlySet<PlanItem["action"]> = new Set(["wait", "blocked", "invalid", "delete"]);
const FIRST: ReadonlySet<PlanItem["action"]> = new Set(["create", "adopt", "replace", "unknown"]);
/** After it, references to the object lead somewhere. What the caller may not read may be Ready already. */
const comesFirst = (item: PlanItem | undefined): boolean => item !== undefined && FIRST.has(item.action);
