import type { Observation, PendingRequest } from "../../../../src/engine/observe/view.ts";
import { type Facts, intentAt } from "../views.ts";

/**
 * Only what `observe` can put together: a claim and an open intent exclude each other, and nothing that is always there has
 * an intent; a request, an observation, contents, a replacement and a Secret speak of a claimed resource, a search of an
 * open intent. Only a key that is a resource has one before it, is succeeded, or may not be wanted; only one that is none is
 * renewed in place. Nothing is seen through an Account that cannot be used, and nothing compared that is busy or unclear.
 */
export function consistent(view: Facts): Facts {
  const claimed = view.claim !== undefined;
  const { succeeds, ...begun } = view.intent ?? intentAt(0);
  const succeeding = succeeds !== undefined && view.successive;
  const intent = claimed || !view.intent ? undefined : { ...begun, ...(succeeding && { succeeds }) };
  const observation = claimed && !view.accountObstacle ? seen(view) : ({ seen: "unknown" } as const);
  const unwanted = view.successive && view.unwanted;
  const keeps = claimed && !view.observed && !unwanted;
  const gone = observation.seen === "absent" && view.request?.outcome === "unanswered";
  const open = claimed && !gone ? possible(view) : undefined;
  const lost = open?.outcome === "unanswered";
  return {
    ...view,
    intent,
    search: intent && view.search,
    unsent: intent !== undefined && view.unsent,
    permanent: intent === undefined && view.permanent,
    adopt: claimed || intent?.succeeds !== undefined ? undefined : view.adopt,
    observation,
    request: open && (lost ? open : withoutRecall(open)),
    replacement: claimed ? view.replacement : undefined,
    contents: claimed ? view.contents : undefined,
    unfinished: claimed && view.unfinished,
    unwanted,
    previous: view.successive ? view.previous : undefined,
    secret: keeps ? view.secret : undefined,
    output: observation.seen === "present" ? view.output : undefined,
    keyDueAt: keeps && view.secret !== undefined ? view.keyDueAt : undefined,
    renewal: keeps && lost && view.secret !== undefined && !view.successive ? view.renewal : undefined,
    specObstacle:
      observation.seen === "present" && observation.unclear !== undefined
        ? { reason: "PlatformUnavailable", message: observation.unclear }
        : view.specObstacle,
  };
}

function seen({ observation, specObstacle }: Facts): Observation {
  if (observation.seen !== "present") return observation;
  const { asOf, busy, comparison, unclear, broken } = observation;
  if (busy) return { seen: "present", asOf, busy, comparison: undefined };
  const shown = { seen: "present", asOf, busy, ...(broken !== undefined && { broken }) } as const;
  if (unclear !== undefined) return { ...shown, comparison: undefined, unclear };
  const last = observation.preDelete && { preDelete: observation.preDelete };
  return { ...shown, comparison: specObstacle ? undefined : comparison, ...last };
}

/** A deletion is never taken back: if the resource stays, it was a replacement. */
const possible = ({ request, deleting }: Facts): PendingRequest | undefined =>
  request?.action === "delete" && !deleting ? { ...request, action: "replace" } : request;

const withoutRecall = ({ recalledAt: _, ...rest }: PendingRequest): PendingRequest => rest;
