import fc from "fast-check";
import type { Contents, Observation, PendingRequest, Search, View } from "../../src/engine/look/view.ts";
import type { Claim, Intent } from "../../src/engine/objects/intent.ts";
import type { Failure } from "../../src/engine/objects/memory.ts";
import type { Reason } from "../../src/engine/schema/reasons.ts";
import type { Comparison } from "../../src/kinds/kind.ts";

export const NOW = Date.UTC(2026, 0, 1, 12);
export const UNSETTLED = 60_000;

export const intentAt = (at: number): Intent => ({
  nonce: "n1",
  at: new Date(at).toISOString(),
  hash: "h",
  parents: {},
  account: "a/b",
  fixed: {},
});
export const claim: Claim = { id: "id-1", parents: {}, account: "a/b" };

/** A new object that nothing stands in the way of; each test names what is different. */
export const viewOf = (more: Partial<View> = {}): View => ({
  settledAt: (more.intent ? Date.parse(more.intent.at) : 0) + UNSETTLED,
  now: NOW,
  noun: "server",
  deleting: false,
  paused: false,
  hasFinalizer: true,
  deletionPolicy: "Delete",
  observed: false,
  adopt: undefined,
  replacement: undefined,
  contents: undefined,
  intent: undefined,
  unsent: false,
  claim: undefined,
  request: undefined,
  unfinished: false,
  accountObstacle: undefined,
  specObstacle: undefined,
  observation: { seen: "unknown" },
  search: undefined,
  failure: undefined,
  permanent: false,
  reusesIds: false,
  secret: undefined,
  keyDue: false,
  othersKey: false,
  platformNow: NOW,
  unsettledMs: UNSETTLED,
  ...more,
});

/** A look at the claimed resource, a second ago. */
export const present = (more: Partial<Extract<Observation, { seen: "present" }>> = {}): Observation => ({
  seen: "present",
  asOf: NOW - 1000,
  busy: false,
  state: "AVAILABLE",
  comparison: { drift: [] },
  ...more,
});
export const absent = (more: Partial<Extract<Observation, { seen: "absent" }>> = {}): Observation => ({
  seen: "absent",
  asOf: NOW - 1000,
  confirmed: true,
  ...more,
});
export const drifted = {
  drift: [{ field: "cores", wanted: "4", found: "2" }],
  next: { action: "update", method: "PATCH", path: "/servers/id-1" },
} as const;

/** What has to happen before a deletion. */
export const farewell = { action: "detach volume data", method: "DELETE", path: "/servers/id-1/volumes/v" } as const;

/** A resource that differs from spec and can be brought back. */
export const presentDrifted = (): Observation =>
  present({ comparison: { drift: [...drifted.drift], next: drifted.next } });

export const request = (more: Partial<PendingRequest> = {}): PendingRequest => ({
  action: "create",
  since: NOW - 10_000,
  outcome: "unknown",
  ...more,
});
export const search = (more: Partial<Search> = {}): Search => ({
  lookedAt: NOW - 500,
  endedAt: more.lookedAt ?? NOW - 500,
  matches: [],
  pending: false,
  rivals: 1,
  rank: 0,
  inFlight: false,
  ...more,
});
export const failure = (retryAt: number): Failure => ({
  reason: "ProvisioningFailed",
  message: "the platform said no",
  retryAt,
});

export const contents = (more: Partial<Contents> = {}): Contents => ({
  leaving: [],
  staying: [],
  found: [],
  verb: "still holds",
  ignored: false,
  ...more,
});

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

const obstacle = fc.record({ reason, message: words, stalled: fc.boolean() });
const comparison = fc.constantFrom<Comparison | undefined>(
  undefined,
  { drift: [] },
  { drift: [...drifted.drift] },
  { drift: [...drifted.drift], next: drifted.next },
);
const observation: fc.Arbitrary<Observation> = fc.oneof(
  fc.constant<Observation>({ seen: "unknown" }),
  fc.record({ seen: fc.constant("absent" as const), asOf: past, confirmed: fc.boolean() }),
  fc.record({ asOf: past, busy: fc.boolean(), comparison, attached: fc.boolean(), broken: mostly(false) }).map(
    ({ asOf, busy, comparison, attached, broken }): Observation => ({
      seen: "present",
      asOf,
      busy,
      state: busy ? "BUSY" : "AVAILABLE",
      comparison: busy ? undefined : comparison,
      ...(attached && !busy && { farewell }),
      ...(broken && !busy && { broken: "because" }),
    }),
  ),
);
const pending: fc.Arbitrary<PendingRequest> = fc
  .record({
    action: fc.constantFrom("create", "update", "delete", "replace", "start"),
    since: past,
    outcome: fc.constantFrom<PendingRequest["outcome"]>("unanswered", "unknown", "BUSY", "DONE", "FAILED"),
    message: fc.option(words, { nil: undefined }),
    unseen: fc.boolean(),
  })
  .map(({ message, ...rest }) => ({ ...rest, ...(message !== undefined && { message }) }));
/** Most looks that count are young ones. */
const recent = fc.oneof(fc.integer({ min: NOW - 8000, max: NOW }), past);
const found: fc.Arbitrary<Search> = fc
  .record({
    lookedAt: recent,
    matches: fc.uniqueArray(fc.constantFrom("id-1", "id-2", "id-3"), { maxLength: 3 }),
    pending: fc.boolean(),
    rivals: fc.integer({ min: 1, max: 3 }),
    rank: fc.integer({ min: 0, max: 2 }),
    inFlight: fc.boolean(),
  })
  .map((each) => ({ ...each, endedAt: each.lookedAt }));
const failed: fc.Arbitrary<Failure> = fc.record({ reason, message: words, retryAt: around });
const names = fc.subarray(["Server/shop/a", "Server/shop/b"]);
const inside: fc.Arbitrary<Contents> = fc.record({
  leaving: names,
  staying: names,
  found: fc.option(names, { nil: undefined }),
  verb: fc.constantFrom("still holds" as const, "is still used by" as const),
  ignored: fc.boolean(),
});
const replacement = fc.record({
  fields: fc.subarray(["location", "boot.image"], { minLength: 1 }),
  why: fc.subarray(["it stays where it is"]),
  verdict: fc.constantFrom("forbidden" as const, "losesData" as const, "allowed" as const),
});
const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });

/**
 * Every view that the engine can put together: a claim and an open intent exclude each other, and nothing that is
 * always there has an intent; a request, an observation, contents and a replacement speak of a claimed resource, a
 * search of an open intent.
 */
export const anyView: fc.Arbitrary<View> = fc
  .record({
    deleting: fc.boolean(),
    paused: fc.boolean(),
    hasFinalizer: fc.boolean(),
    deletionPolicy: fc.constantFrom("Delete" as const, "Retain" as const),
    observed: fc.boolean(),
    adopt: optional(fc.constant("id-9")),
    replacement: optional(replacement),
    contents: optional(inside),
    owns: fc.constantFrom("nothing", "intent", "claim"),
    intentAt: past,
    seenAt: past,
    unsent: fc.boolean(),
    request: optional(pending),
    unfinished: mostly(false),
    accountObstacle: optional(obstacle),
    specObstacle: optional(obstacle),
    observation,
    search: optional(found),
    failure: optional(failed),
    permanent: mostly(false),
    reusesIds: mostly(false),
    secret: fc.constantFrom(undefined, "unknown" as const, "missing" as const, "outdated" as const, "current" as const),
    keyDue: fc.boolean(),
    othersKey: fc.boolean(),
  })
  .map(({ owns, adopt, replacement, contents, intentAt: at, seenAt, request, observation, search, unsent, ...rest }) =>
    viewOf({
      ...rest,
      ...(owns === "nothing" && { adopt }),
      ...(owns === "intent" && {
        intent: intentAt(at),
        search,
        unsent,
        settledAt: Math.max(at, seenAt) + UNSETTLED,
        permanent: false,
      }),
      ...(owns === "claim" && {
        claim,
        request: observation.seen === "absent" && request?.outcome === "unanswered" ? undefined : request,
        observation,
        replacement,
        contents,
      }),
    }),
  );

/** Views of an object whose creation got no answer, with nothing else in the way: the cases that matter are common. */
export const recoveringView: fc.Arbitrary<View> = fc
  .record({
    deleting: fc.boolean(),
    at: fc.integer({ min: NOW - 2 * UNSETTLED, max: NOW }),
    seenAt: fc.integer({ min: NOW - 2 * UNSETTLED, max: NOW }),
    lookedAt: fc.integer({ min: NOW - 8000, max: NOW }),
    matches: fc.subarray(["id-1", "id-2", "id-3"]),
    pending: mostly(false),
    rivals: fc.integer({ min: 1, max: 3 }),
    rank: fc.nat(2),
    inFlight: mostly(false),
    looked: mostly(true),
  })
  .map(({ deleting, at, seenAt, looked, rank, rivals, ...found }) =>
    viewOf({
      deleting,
      intent: intentAt(at),
      settledAt: Math.max(at, seenAt) + UNSETTLED,
      search: looked ? { ...found, endedAt: found.lookedAt, rivals, rank: rank % rivals } : undefined,
    }),
  );

function mostly(usual: boolean): fc.Arbitrary<boolean> {
  return fc.constantFrom(usual, usual, usual, !usual);
}
