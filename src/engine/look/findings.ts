import type { Kind } from "../../kinds/kind.ts";
import type { Intent } from "../objects/intent.ts";
import { type ObjectKey, openIntent } from "../objects/objects.ts";
import type { Deps } from "./deps.ts";
import type { Search } from "./view.ts";

/** What the last search found, in the light of what every object owns or is about to own by now. */
export function findings(deps: Deps, key: ObjectKey, kind: Kind, intent: Intent): Search | undefined {
  const { unclaimed, search } = deps.memories.of(key);
  const pending = search?.pending ?? false;
  const known = unclaimed?.nonce === intent.nonce ? unclaimed.id : inSecret(deps, key, intent);
  if (known !== undefined) {
    const now = deps.clock.now();
    return { lookedAt: now, endedAt: now, matches: [known], pending, rivals: 1, rank: 0, inFlight: false };
  }
  if (search?.nonce !== intent.nonce) return undefined;
  const equals = deps.objects
    .rivals(kind.kind, intent)
    .filter((rival) => rival === key || sameContract(deps, intent.account, rival));
  /** The id that another object is claiming at this moment. */
  const taking = (rival: ObjectKey): string | undefined => {
    const { unclaimed: held } = deps.memories.of(rival);
    const object = deps.objects.find(rival)?.object;
    return rival !== key && object && held && held.nonce === openIntent(object)?.nonce ? held.id : undefined;
  };
  const rivals = equals.filter((rival) => taking(rival) === undefined);
  const taken = new Set(equals.map(taking));
  const matches = Object.keys(search.requests).filter(
    (id) => !taken.has(id) && !deps.objects.wasClaimed(kind.kind, { id, parents: intent.parents }, search.lookedAt),
  );
  // With one more that cannot be seen yet there would be too many: what can be seen may be somebody else's twin.
  const crowded = pending && matches.length >= rivals.length;
  return {
    lookedAt: search.lookedAt,
    endedAt: search.endedAt,
    pending,
    matches,
    rivals: rivals.length,
    rank: rivals.indexOf(key),
    inFlight:
      crowded || equals.some((rival) => deps.memories.of(rival).posting === true || taking(rival) !== undefined),
  };
}

/** Whether an equal creation of another object can be mistaken for one of ours. */
function sameContract(deps: Deps, account: string, rival: ObjectKey): boolean {
  const object = deps.objects.find(rival)?.object;
  const other = object && openIntent(object)?.account;
  const contract = (key: string | undefined) => key && deps.accounts.get(key)?.connection.contractNumber;
  const [ours, theirs] = [contract(account), contract(other)];
  // Who does not say its contract may work in any.
  return other === account || ours === undefined || theirs === undefined || ours === theirs;
}

/** What the Secret says that answers this very intent: it was written before the claim. */
function inSecret(deps: Deps, key: ObjectKey, { nonce }: Intent): string | undefined {
  const found = deps.objects.find(key);
  if (!found?.kind.resource?.secret?.key) return undefined;
  try {
    const publication = found.kind.resource.desire(found.object.spec).publication({ name: found.object.metadata.name });
    const note = publication && deps.published.find(found.object, publication.name).note;
    return note?.nonce === nonce ? note.resource : undefined;
  } catch {
    return undefined;
  }
}
