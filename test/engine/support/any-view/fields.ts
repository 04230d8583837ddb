import fc from "fast-check";
import type {
  Contents,
  Observation,
  OutputState,
  PendingRequest,
  Search,
  SecretState,
  Verdict,
} from "../../../../src/engine/observe/view.ts";
import { type Intent, writeKeyOf } from "../../../../src/engine/state/intent.ts";
import type { Accepted, Failure } from "../../../../src/engine/state/memory.ts";
import type { RecreatePolicy } from "../../../../src/engine/state/policies.ts";
import type { Absence } from "../../../../src/engine/state/presence.ts";
import type { Reason } from "../../../../src/engine/status/reasons.ts";
import type { Comparison } from "../../../../src/kinds/desired.ts";
import { claim, drifted, intentAt, lacking, NOW, notOwned, preDelete, UNSETTLED, ungranted, WALL } from "../views.ts";

const reason = fc.constantFrom<Reason>(
  "AccountNotReady",
  "ReferenceNotReady",
  "InvalidSpec",
  "Rejected",
  "QuotaExceeded",
);
const around = fc.integer({ min: NOW - 200_000, max: NOW + 100_000 });
const past = fc.integer({ min: NOW - 200_000, max: NOW });
const words = fc.constantFrom("because", "quota exceeded", "limit reached");
const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });

const obstacle = fc.record({ reason, message: words });
const comparison = fc.constantFrom<Comparison | undefined>(
  undefined,
  { drift: [] },
  { drift: [...drifted.drift] },
  { drift: [...drifted.drift], next: drifted.next },
  { drift: [...drifted.drift], next: { ...drifted.next, method: "DELETE" } },
);
const observation: fc.Arbitrary<Observation> = fc.oneof(
  fc.constant<Observation>({ seen: "unknown" }),
  fc.record({
    seen: fc.constant("absent" as const),
    asOf: past,
    absence: fc.constantFrom<Absence>("unseen", "leaving", "missing", "deleted"),
    since: past,
    logged: fc.boolean(),
  }),
  fc
    .record({
      asOf: past,
      busy: fc.boolean(),
      comparison,
      attached: fc.boolean(),
      broken: mostly(false),
      unclear: mostly(false),
    })
    .map(
      ({ asOf, busy, comparison, attached, broken, unclear }): Observation => ({
        seen: "present",
        asOf,
        busy,
        comparison,
        ...(attached && { preDelete }),
        ...(broken && { broken: "because" }),
        ...(unclear && { unclear: "the answer is not understood" }),
      }),
    ),
);
const pending: fc.Arbitrary<PendingRequest> = fc
  .record({
    action: fc.constantFrom("create", "update", "delete", "replace", "start"),
    since: past,
    outcome: fc.constantFrom<PendingRequest["outcome"]>("unanswered", "accepted", "unknown", "BUSY", "DONE", "FAILED"),
    message: optional(words),
    recalledAt: optional(past),
    openMs: fc.constantFrom(UNSETTLED / 2, UNSETTLED),
    unseen: fc.boolean(),
  })
  .map(({ message, recalledAt, openMs, ...rest }) => ({
    ...rest,
    settledAt: rest.since + openMs,
    ...(message !== undefined && { message }),
    ...(recalledAt !== undefined && { recalledAt }),
  }));
/** Most looks that count are young ones. */
const recent = fc.oneof(fc.integer({ min: NOW - 8000, max: NOW }), past);
const found: fc.Arbitrary<Search> = fc
  .record({
    beganAt: recent,
    settledSearches: fc.integer({ min: 0, max: 3 }),
    matches: fc.uniqueArray(fc.constantFrom("id-1", "id-2", "id-3"), { maxLength: 3 }),
    pending: fc.boolean(),
    rivals: fc.integer({ min: 1, max: 3 }),
    rank: fc.integer({ min: 0, max: 2 }),
    inFlight: fc.boolean(),
  })
  .map((each) => ({ ...each, endedAt: each.beganAt }));
const failed: fc.Arbitrary<Failure> = fc.record({ reason, message: words, retryAt: around });
const taken: fc.Arbitrary<Accepted> = fc
  .record({
    write: fc.constantFrom(undefined, writeKeyOf(drifted.next), writeKeyOf(preDelete), {
      call: "PATCH /other",
      hash: "h",
    }),
    times: fc.integer({ min: 1, max: 6 }),
    at: past,
    retryAt: around,
  })
  .map((each) => ({ ...each, generation: 1 }));
const names = fc.subarray(["Server/shop/a", "Server/shop/b"]);
const anyContents: fc.Arbitrary<Contents> = fc.record({
  leaving: names,
  staying: names,
  found: optional(fc.record({ asOf: past, names, since: past })),
  verb: fc.constantFrom("still holds" as const, "is still used by" as const),
  guests: fc.boolean(),
  ignored: fc.boolean(),
});
const replacement = fc.record({
  fields: fc.subarray(["location", "boot.image"], { minLength: 1 }),
  why: fc.subarray(["it stays where it is"]),
  verdict: fc.constantFrom<Verdict>("final", "kept", "forbidden", { allowedBy: "true" }, "allowed"),
});

/** Every field by itself, whatever the others say. */
export const anything = fc.record({
  deleting: fc.boolean(),
  desiredSince: past,
  paused: mostly(false),
  terminating: mostly(false),
  hasFinalizer: mostly(true),
  recorded: mostly(true),
  deletionPolicy: fc.constantFrom("Delete" as const, "Retain" as const),
  recreatePolicy: fc.constantFrom<RecreatePolicy>("WhenDeleted", "WhenMissing", "Never"),
  recreateAsked: mostly(false),
  observed: mostly(false),
  adopt: optional(fc.constant("id-9")),
  replacement: optional(replacement),
  contents: optional(anyContents),
  intent: optional(fc.tuple(past, mostly(false)).map(([at, succeeds]) => (succeeds ? succeeding(at) : intentAt(at)))),
  settledAt: fc.integer({ min: NOW - 200_000, max: NOW + UNSETTLED }),
  claim: optional(fc.constant(claim)),
  unsent: mostly(false),
  request: optional(pending),
  unfinished: mostly(false),
  accountObstacle: optional(obstacle),
  specObstacle: optional(obstacle),
  ungranted: fc.constantFrom(undefined, ungranted()),
  lacking: fc.constantFrom(undefined, undefined, lacking()),
  observation,
  search: optional(found),
  failure: optional(failed),
  accepted: optional(taken),
  permanent: mostly(false),
  unwanted: mostly(false),
  unchecked: mostly(false),
  unlisted: mostly(false),
  secret: fc.constantFrom<SecretState | undefined>(
    undefined,
    "unknown",
    "unread",
    "missing",
    "outdated",
    "unmarked",
    "current",
  ),
  repair: fc.option(fc.record({ at: around, why: optional(words) }), { nil: undefined }),
  output: fc.oneof(
    fc.constantFrom<OutputState | undefined>(undefined, undefined, "unknown"),
    fc.record({ dueAt: around }),
    fc.record({ dueAt: around, obstacle: fc.constant(notOwned()) }),
  ),
  keyDueAt: fc.constantFrom(undefined, undefined, undefined, 0, WALL + NOW, WALL + NOW + 1),
  successive: mostly(false),
  previous: optional(fc.record({ asOf: past, isOver: fc.boolean() })),
  othersKey: mostly(false),
  renewal: fc.constantFrom(undefined, "lost" as const, "answered" as const),
});
type Fields = typeof anything extends fc.Arbitrary<infer T> ? T : never;

export function succeeding(at: number): Intent {
  return { ...intentAt(at), succeeds: "id-0" };
}

export const FIELDS = [
  "deleting",
  "desiredSince",
  "paused",
  "terminating",
  "hasFinalizer",
  "recorded",
  "deletionPolicy",
  "observed",
  "adopt",
  "replacement",
  "contents",
  "intent",
  "settledAt",
  "claim",
  "unsent",
  "request",
  "unfinished",
  "accountObstacle",
  "specObstacle",
  "observation",
  "search",
  "failure",
  "accepted",
  "permanent",
  "secret",
  "output",
  "keyDueAt",
  "successive",
  "previous",
  "othersKey",
  "renewal",
] as const satisfies readonly (keyof Fields)[];

export function mostly(usual: boolean): fc.Arbitrary<boolean> {
  return fc.constantFrom(usual, usual, usual, !usual);
}
