import { decide } from "../../../src/engine/decide/decide.ts";
import type { Decision } from "../../../src/engine/decide/decision.ts";
import type {
  Contents,
  Observation,
  PendingRequest,
  ResourceView,
  Search,
  SecretsView,
  SpecView,
  Times,
  View,
} from "../../../src/engine/observe/view.ts";
import type { Claim, Intent } from "../../../src/engine/state/intent.ts";
import type { Failure } from "../../../src/engine/state/memory.ts";
import type { Obstacle, Reason } from "../../../src/engine/status/reasons.ts";

/** On the clock of the process, which never jumps. */
export const NOW = 5_000_000;
/** How long what was accepted may stay invisible. */
export const BELIEVED = 60_000;
/** How long the outcome of a write without an answer is open. */
export const UNSETTLED = 20_000;
export const WALL = Date.UTC(2026, 0, 1);

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
  lacking: undefined,
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

/** A read of the claimed resource, a second ago. */
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

/** A write that has to come before a deletion. */
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

/** Seen inside just now; by default it was not the first look. */
export const inside = (names: string[], asOf = NOW, since = asOf - 5000): Contents["found"] => ({ asOf, names, since });

export const contents = (more: Partial<Contents> = {}): Contents => ({
  leaving: [],
  staying: [],
  found: inside([]),
  verb: "still holds",
  guests: false,
  ignored: false,
  ...more,
});

export function ungranted() {
  return { reason: "ReferenceNotGranted", message: "serverRef: no Grant", stalled: true } as const;
}
export function lacking() {
  return { reason: "InvalidSpec", message: "type is required to create a Volume" } as const;
}
export function notOwned() {
  return { reason: "ConfigMapNotOwned", message: "ConfigMap web already exists" } as const;
}
