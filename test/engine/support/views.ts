import fc from "fast-check";
import { decide } from "../../../src/engine/decide/decide.ts";
import type { Decision } from "../../../src/engine/decide/decision.ts";
import type {
  Contents,
  Observation,
  OutputState,
  PendingRequest,
  ResourceView,
  Search,
  SecretState,
  SecretsView,
  SpecView,
  Times,
  Verdict,
  View,
} from "../../../src/engine/observe/view.ts";
import { type Claim, type Intent, writeKeyOf } from "../../../src/engine/state/intent.ts";
import type { Accepted, Failure } from "../../../src/engine/state/memory.ts";
import type { RecreatePolicy } from "../../../src/engine/state/policies.ts";
import type { Absence } from "../../../src/engine/state/presence.ts";
import type { Obstacle, Reason } from "../../../src/engine/status/reasons.ts";
import type { Comparison } from "../../../src/kinds/desired.ts";

/** On the clock of the process, which never jumps. */
export const NOW = 5_000_000;
/** How long what was accepted may stay invisible. */
export const BELIEVED = 60_000;
/** How long the outcome of a write without an answer is open. */
export const UNSETTLED = 20_000;
const WALL = Date.UTC(2026, 0, 1);

export const intentAt = (at: number): Intent => ({
  nonce: "n1",
  at: new Date(WALL + at).toISOString(),
  by: { pod: "mooring-0", process: "before", deadlineMs: 10_000 },
  hash: "h",
  parents: {},
  account: "a/b",
  endpoint: "http://platform.test",
  fixed: {},
});
export const claim: Claim = { id: "id-1", parents: {}, account: "a/b", endpoint: "http://platform.test" };

/** The facts of all parts of a view, side by side: each test names those that are different. */
export type Facts = Omit<SpecView, "obstacle"> &
  ResourceView &
  SecretsView &
  Times & { accountObstacle: Obstacle | undefined; specObstacle: Obstacle | undefined };

/** A new object that nothing stands in the way of. */
export const factsOf = (more: Partial<Facts> = {}): Facts => ({
  settledAt: (more.intent ? Date.parse(more.intent.at) - WALL : 0) + UNSETTLED,
  now: NOW,
  deleting: false,
  desiredSince: NOW - 30_000,
  graceUntil: 0,
  annotateAt: undefined,
  paused: false,
  terminating: false,
  hasFinalizer: true,
  recorded: true,
  deletionPolicy: "Delete",
  recreatePolicy: "WhenDeleted",
  recreateAsked: false,
  observed: false,
  adopt: undefined,
  replacement: undefined,
  contents: undefined,
  intent: undefined,
  unsent: false,
  claim: undefined,
  unknownKey: undefined,
  request: undefined,
  unfinished: false,
  accountObstacle: undefined,
  specObstacle: undefined,
  ungranted: undefined,
  observation: { seen: "unknown" },
  search: undefined,
  failure: undefined,
  accepted: undefined,
  permanent: false,
  unwanted: false,
  unchecked: false,
  unlisted: false,
  secret: undefined,
  repair: undefined,
  output: undefined,
  keyDueAt: undefined,
  successive: false,
  previous: undefined,
  othersKey: false,
  renewal: undefined,
  platformNow: WALL + NOW,
  believedMs: BELIEVED,
  ...more,
});

/** The view with these facts in its parts; each part has all of them, and its type says which ones count. */
export function viewOf(more: Partial<Facts> = {}): View {
  const { accountObstacle, specObstacle, ...facts } = factsOf(more);
  const account = { key: "a/b", obstacle: accountObstacle };
  const spec = { ...facts, obstacle: specObstacle };
  return { kind: "Server", account, spec, resource: facts, secrets: facts, times: facts };
}

export const decideOn = (facts: Partial<Facts>): Decision => decide(viewOf(facts));

/** A look at the claimed resource, a second ago. */
export const present = (more: Partial<Extract<Observation, { seen: "present" }>> = {}): Observation => ({
  seen: "present",
  asOf: NOW - 1000,
  busy: false,
  comparison: { drift: [] },
  ...more,
});
export const absent = (more: Partial<Extract<Observation, { seen: "absent" }>> = {}): Observation => ({
  seen: "absent",
  asOf: NOW - 1000,
  absence: "deleted",
  since: NOW - 30_000,
  logged: true,
  ...more,
});
export const drifted = {
  drift: [{ field: "cores", wanted: "4", found: "2" }],
  next: { action: "update", method: "PATCH", path: "/servers/id-1" },
} as const;

/** What has to happen before a deletion. */
export const preDelete = { action: "detach volume data", method: "DELETE", path: "/servers/id-1/volumes/v" } as const;

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
  beganAt: NOW - 500,
  endedAt: more.beganAt ?? NOW - 500,
  settledSearches: 2,
  matches: [],
  pending: false,
  rivals: 1,
  rank: 0,
  inFlight: false,
  ...more,
});
export const failure = (retryAt: number, reason: Reason = "ProvisioningFailed"): Failure => ({
  reason,
  message: "the platform said no",
  retryAt,
});

/** Seen inside just now. */
export const inside = (names: string[], asOf = NOW): Contents["found"] => ({ asOf, names });

export const contents = (more: Partial<Contents> = {}): Contents => ({
  leaving: [],
  staying: [],
  found: inside([]),
  verb: "still holds",
  guests: false,
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
  found: optional(fc.record({ asOf: past, names })),
  verb: fc.constantFrom("still holds" as const, "is still used by" as const),
  guests: fc.boolean(),
  ignored: fc.boolean(),
});
const replacement = fc.record({
  fields: fc.subarray(["location", "boot.image"], { minLength: 1 }),
  why: fc.subarray(["it stays where it is"]),
  verdict: fc.constantFrom<Verdict>("final", "forbidden", { allowedBy: "true" }, "allowed"),
});

/** Every field by itself, whatever the others say. */
const anything = fc.record({
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

const owned = (seen: Parameters<typeof present>[0] = {}) => ({ claim, observation: present(seen) });
const unanswered = ({ since = NOW - 10_000, ...more }: Partial<PendingRequest> = {}) =>
  request({ action: "update", outcome: "unanswered", since, settledAt: since + UNSETTLED, ...more });
const longAgo = NOW - UNSETTLED - 10_000;

/** The resource is a key by itself, and there was one before it. */
const succeeded = (isOver: boolean) => ({
  ...owned(),
  secret: "current" as const,
  successive: true,
  previous: { asOf: NOW - 1000, isOver },
});
function succeeding(at: number): Intent {
  return { ...intentAt(at), succeeds: "id-0" };
}

/** Ways to each step. What a view says besides comes by chance, so that each step is met with much that speaks against it. */
const WAYS: Record<Decision["step"], readonly Partial<Facts>[]> = {
  pause: [{ paused: true }],
  ignore: [{ deleting: true, hasFinalizer: false }],
  rest: [owned(), { ...owned(), secret: "current" }, { ...owned(), output: { dueAt: NOW + 1, obstacle: notOwned() } }],
  wait: [
    { claim },
    { claim, request: request(), observation: present({ busy: true }) },
    { ...owned({ comparison: drifting() }), request: done({ since: NOW - BELIEVED - 500, unseen: true }) },
    { deleting: true, ...owned(), desiredSince: NOW },
    { ...owned(), secret: "missing", repair: { at: NOW + 1000, why: "because" } },
    { ...leavingKey(), observation: present({ preDelete }) },
    { ...leavingKey(), request: unanswered({ action: "delete", since: longAgo }) },
  ],
  stall: [owned({ comparison: { drift: [...drifted.drift] } }), { specObstacle: badSpec() }],
  fail: [
    { claim, observation: absent(), request: request({ outcome: "FAILED" }) },
    { ...owned({ comparison: drifting() }), request: request({ action: "update", outcome: "FAILED" }) },
  ],
  check: [{ unchecked: true }, { ...owned(), secret: "outdated", unchecked: true }],
  idle: [{ unwanted: true, successive: true }],
  create: [
    {},
    { intent: intentAt(longAgo), search: search(), settledAt: NOW - 10_000 },
    { intent: intentAt(longAgo), search: search({ matches: ["id-1", "id-2"] }), successive: true, settledAt: 0 },
  ],
  adopt: [{ adopt: "id-9" }, { permanent: true }],
  inspect: [{ deleting: true, ...owned(), contents: contents({ found: undefined }) }],
  search: [{ intent: intentAt(NOW - 5000) }],
  claim: [{ intent: intentAt(NOW - 5000), search: search({ matches: ["id-1"] }) }],
  mark: [
    { ...owned(), hasFinalizer: false },
    { intent: intentAt(NOW - 5000), recorded: false },
  ],
  forget: [
    { claim, observation: absent(), recreatePolicy: "WhenDeleted" },
    { claim, observation: absent(), request: request({ action: "replace", outcome: "DONE" }) },
  ],
  update: [
    owned({ comparison: drifting() }),
    { deleting: true, ...owned({ preDelete }) },
    { ...owned({ preDelete }), unwanted: true, successive: true },
  ],
  renew: [
    { ...owned(), secret: "missing", repair: { at: NOW, why: "because" } },
    { ...owned(), secret: "current", keyDueAt: 0 },
    { ...owned(), secret: "outdated", keyDueAt: 0, unchecked: true },
    { ...owned(), secret: "missing", renewal: "lost", request: unanswered({ since: longAgo }) },
    {
      ...owned(),
      successive: true,
      replacement: { fields: ["lifetime"], why: ["it is fixed"], verdict: "allowed" },
    },
  ],
  revoke: [
    succeeded(true),
    { ...succeeded(false), keyDueAt: 0 },
    { ...succeeded(false), unwanted: true },
    { ...succeeded(false), deleting: true },
    { deleting: true, successive: true, previous: { asOf: NOW - 1000, isOver: false } },
  ],
  publish: [
    { ...owned(), secret: "outdated", repair: { at: NOW, why: undefined } },
    { ...owned(), secret: "unread" },
    { ...owned(), secret: "unmarked", repair: { at: NOW, why: undefined } },
  ],
  output: [
    { ...owned(), output: { dueAt: NOW } },
    { ...owned(), observed: true, output: { dueAt: NOW, obstacle: notOwned() } },
  ],
  recall: [{ ...owned(), request: unanswered() }],
  retract: [
    { ...owned(), request: unanswered({ since: longAgo, recalledAt: NOW - 500 }) },
    { intent: succeeding(longAgo), successive: true, search: search(), settledAt: NOW - 10_000 },
    { intent: intentAt(longAgo), adopt: "id-9", search: search(), settledAt: NOW - 10_000 },
  ],
  deliver: [{ ...owned(), secret: "current", renewal: "answered", request: unanswered() }],
  delete: [
    { deleting: true, ...owned() },
    { deleting: true, ...owned(), contents: contents() },
    { ...owned(), replacement: { fields: ["location"], why: ["it stays where it is"], verdict: "allowed" } },
    { ...owned({ broken: "because" }), unfinished: true },
    { ...owned(), unwanted: true, successive: true },
  ],
  release: [{ deleting: true }, { deleting: true, claim, observation: absent() }],
};

function done(more: Partial<PendingRequest>): PendingRequest {
  return request({ action: "update", outcome: "DONE", ...more });
}
function leavingKey(): Partial<Facts> {
  return { deleting: true, ...owned(), secret: "missing", renewal: "lost", request: unanswered({ since: longAgo }) };
}
function drifting(): Comparison {
  return { drift: [...drifted.drift], next: drifted.next };
}
export function ungranted() {
  return { reason: "ReferenceNotGranted", message: "serverRef: no Grant", stalled: true } as const;
}
export function notOwned() {
  return { reason: "ConfigMapNotOwned", message: "ConfigMap web already exists" } as const;
}
function badSpec() {
  return { reason: "InvalidSpec", message: "spec.ram: too small" } as const;
}

/**
 * Only what `observe` can put together: a claim and an open intent exclude each other, and nothing that is always there has
 * an intent; a request, an observation, contents, a replacement and a Secret speak of a claimed resource, a search of an
 * open intent. Only a key that is a resource has one before it, is succeeded, or may not be wanted; only one that is none is
 * renewed in place. Nothing is seen through an Account that cannot be used, and nothing compared that is busy or unclear.
 */
function consistent(view: Facts): Facts {
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

/** What is being deleted stays so: a deletion of something that stays was a replacement. */
const possible = ({ request, deleting }: Facts): PendingRequest | undefined =>
  request?.action === "delete" && !deleting ? { ...request, action: "replace" } : request;

const withoutRecall = ({ recalledAt: _, ...rest }: PendingRequest): PendingRequest => rest;

const FIELDS = [
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

const STEPS = Object.keys(WAYS).filter((step): step is Decision["step"] => step in WAYS);

export { STEPS };

/** The facts of every view that `observe` can put together; a way to each step is taken about equally often. */
export const anyFacts: fc.Arbitrary<Facts> = fc
  .tuple(anything, fc.constantFrom(undefined, ...STEPS), fc.nat(5), fc.subarray([...FIELDS], { maxLength: 2 }))
  .map(([fields, step, way, chance]) => {
    if (step === undefined) return consistent(factsOf(fields));
    const ways = WAYS[step];
    const by = Object.fromEntries(chance.map((field) => [field, fields[field]]));
    return consistent(factsOf({ ...ways[way % ways.length], ...by }));
  });

/** The facts of an object whose creation got no answer, with nothing else in the way: the cases that matter are common. */
export const recoveringFacts: fc.Arbitrary<Facts> = fc
  .record({
    deleting: fc.boolean(),
    at: fc.integer({ min: NOW - 2 * UNSETTLED, max: NOW }),
    seenAt: fc.integer({ min: NOW - 2 * UNSETTLED, max: NOW }),
    beganAt: fc.integer({ min: NOW - 8000, max: NOW }),
    settledSearches: fc.integer({ min: 1, max: 3 }),
    matches: fc.subarray(["id-1", "id-2", "id-3"]),
    pending: mostly(false),
    rivals: fc.integer({ min: 1, max: 3 }),
    rank: fc.nat(2),
    inFlight: mostly(false),
    looked: mostly(true),
  })
  .map(({ deleting, at, seenAt, looked, rank, rivals, ...found }) =>
    factsOf({
      deleting,
      intent: intentAt(at),
      settledAt: Math.max(at, seenAt) + UNSETTLED,
      search: looked ? { ...found, endedAt: found.beganAt, rivals, rank: rank % rivals } : undefined,
    }),
  );

function mostly(usual: boolean): fc.Arbitrary<boolean> {
  return fc.constantFrom(usual, usual, usual, !usual);
}
