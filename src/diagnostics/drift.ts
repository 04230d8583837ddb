import { z } from "zod";
import { inputsOf } from "../engine/observe/spec/spec.ts";
import type { Claim } from "../engine/state/intent.ts";
import { claimOf, objectKey } from "../engine/state/object.ts";
import { readStatus, readWhole } from "../engine/status/status.ts";
import type { Drift, Referent } from "../kinds/desired.ts";
import { hasResource, type ResourceKind } from "../kinds/kind.ts";
import { NotFound } from "../platform/answers/errors.ts";
import { products } from "../platform/products/products.ts";
import { allObjects, type MooringObject, type ObjectAsked, objectNamed, summaryOf } from "./objects.ts";
import type { PlatformReader } from "./reader.ts";
import type { Sources } from "./sources.ts";

/** Maximum concurrent reads. */
const SIDE_BY_SIDE = 8;

/** The drift of an object, and its source. */
interface Compared {
  drift: readonly Drift[];
  /**
   * The reason why the platform was not read. The drift is then the one in status, from the operator's last reconcile.
   */
  notRead?: string;
}

export interface DriftAsked {
  namespace?: string | undefined;
  selector?: string | undefined;
  /** Only these objects. */
  objects?: readonly ObjectAsked[] | undefined;
}

const hasClaim = ({ kind, object }: MooringObject) => hasResource(kind) && claimOf(object) !== undefined;

/** The objects to compare, and all that they may refer to. Throws for a named object that is not there. */
async function objectsOf(sources: Sources, { namespace, selector, objects }: DriftAsked) {
  if (!objects) {
    const all = await allObjects(sources, namespace, undefined, selector);
    return { all, chosen: [...all.values()] };
  }
  const cluster = await sources.cluster();
  const chosen = await Promise.all(objects.map((each) => objectNamed(cluster, each, sources.signal)));
  const spaces = new Set(chosen.map(({ object }) => object.metadata.namespace));
  const found = await Promise.all([...spaces].map((space) => allObjects(sources, space)));
  return { all: new Map(found.flatMap((each) => [...each])), chosen };
}

/**
 * Objects whose resource differs from spec. Each resource is read now, through the Account of its object; if that fails,
 * the drift in status is reported instead and marked as such.
 */
export async function driftReport(
  sources: Sources,
  asked: DriftAsked,
  platformOf: (account: string | undefined) => Promise<PlatformReader> = sources.platform,
) {
  const { all, chosen } = await objectsOf(sources, asked);
  const owners = chosen.filter(hasClaim);
  let at: string | undefined;
  const platforms = new Map<string | undefined, Promise<PlatformReader | string>>();
  const open = (account: string | undefined) =>
    platformOf(account).then(
      (platform) => {
        at ??= new Date(platform.now()).toISOString();
        return platform;
      },
      (error: unknown) => messageOf(error),
    );
  const platformFor = ({ object }: MooringObject) => {
    const { account } = readStatus(object);
    const known = platforms.get(account) ?? open(account);
    platforms.set(account, known);
    return known;
  };
  const compared: { each: MooringObject; result: Compared }[] = [];
  for (let begin = 0; begin < owners.length; begin += SIDE_BY_SIDE) {
    const part = owners.slice(begin, begin + SIDE_BY_SIDE);
    const results = part.map(async (each) => ({
      each,
      result: await compare(await platformFor(each), all, each, sources),
    }));
    compared.push(...(await Promise.all(results)));
    sources.progress(compared.length, "resources compared");
  }
  const items = compared.flatMap(({ each, result: { drift, notRead } }) => {
    if (drift.length === 0) return [];
    const { kind, namespace: where, name, reason, message, id } = summaryOf(each);
    const source =
      notRead === undefined ? { as_of: at } : { as_of: "the operator's last reconcile", not_read: notRead };
    return [{ kind, namespace: where, name, id, reason, message, drift, ...source }];
  });
  const without = asked.objects ? chosen.filter((each) => !hasClaim(each)) : [];
  const unread = compared.filter(({ result }) => result.notRead !== undefined);
  const notChecked = [
    ...without.map(({ key }) => `${key}: it has no resource`),
    ...unread.map(({ each, result }) => `${each.key}: ${result.notRead}`),
  ];
  return {
    items,
    checked: compared.length - unread.length,
    ...(at !== undefined && { read_at: at }),
    ...(notChecked.length > 0 && { not_checked: notChecked.slice(0, 50) }),
    ...(unread.length > 0 && {
      note: `${unread.length} resources were not read: for them, the drift of the operator's last reconcile is shown`,
    }),
  };
}

async function compare(
  platform: PlatformReader | string,
  all: ReadonlyMap<string, MooringObject>,
  each: MooringObject,
  { signal }: Sources,
): Promise<Compared> {
  const { drift: recorded = [] } = readStatus(each.object);
  if (typeof platform === "string") return { drift: recorded, notRead: platform };
  try {
    return { drift: await read(platform, all, each, signal) };
  } catch (error) {
    signal.throwIfAborted();
    return { drift: recorded, notRead: messageOf(error) };
  }
}

async function read(
  platform: PlatformReader,
  all: ReadonlyMap<string, MooringObject>,
  { kind, object }: MooringObject,
  signal: AbortSignal,
): Promise<readonly Drift[]> {
  const claim = claimOf(object);
  if (!hasResource(kind) || !claim) return [];
  const { contract } = readStatus(object);
  if (contract !== undefined && platform.contractNumber !== undefined && contract !== platform.contractNumber) {
    throw new Error(`it belongs to contract ${contract}, which these credentials do not read`);
  }
  const desired = kind.resource.desire(object.spec);
  const refs: Record<string, Referent> = {};
  for (const { role, target, kind: other, bond = "place", part, field } of desired.references) {
    if ("id" in target) {
      refs[role] = { id: target.id, status: {} };
      continue;
    }
    const key = objectKey(other, target.namespace ?? object.metadata.namespace ?? "", target.name);
    const named = all.get(key)?.object;
    const status = named ? readWhole(named) : {};
    const id = part ? part.of(status) : named && readStatus(named).id;
    if (id !== undefined) refs[role] = { id, status };
    else if (bond === "use") throw new Error(`${field} refers to ${key}, which could not be read`);
  }
  const { place } = kind.resource;
  const found = await member(platform, kind, claim, signal).catch((error: unknown) => {
    if (error instanceof NotFound) return undefined;
    throw error;
  });
  if (found === undefined) throw new Error('the platform does not show it: see "mooring orphans"');
  const item = place.reads ? place.reads(found) : found;
  return desired.compare(item, inputsOf(object, { parents: claim.parents, refs })).drift;
}

const listShape = z.looseObject({ items: z.array(z.looseObject({ id: z.coerce.string() })) });

/** The resource as the platform shows it. Some products show what they never delete only in a list, or without an id. */
async function member(platform: PlatformReader, { resource }: ResourceKind, claim: Claim, signal: AbortSignal) {
  const { place, identity } = resource;
  const { endpoint, url, shaped = (answer: unknown) => answer } = products[place.product];
  const path = place.collection(claim.parents);
  const { permanent } = identity;
  const at = url(platform.endpoint(endpoint), permanent ? path : `${path}/${encodeURIComponent(claim.id)}`);
  const address = `${at}?depth=${Math.max(1, place.depth)}`;
  const { body } = await platform.read({ method: "GET", url: address, product: place.product, signal });
  if (!permanent) return shaped(body);
  const { data } = listShape.safeParse(body);
  return data ? data.items.find(({ id }) => id === claim.id) : { id: claim.id, ...Object(body) };
}

function messageOf(error: unknown): string {
  if (error instanceof z.ZodError) {
    const fields = error.issues.map(({ path }) => path.join("."));
    return `the platform's answer has an unexpected form: ${fields.join(", ")}`;
  }
  return error instanceof Error ? error.message : String(error);
}
