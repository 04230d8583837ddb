import type { Decision } from "../../../../src/engine/decide/decision.ts";
import type { PendingRequest } from "../../../../src/engine/observe/view.ts";
import type { Comparison } from "../../../../src/kinds/desired.ts";
import {
  absent,
  BELIEVED,
  claim,
  contents,
  drifted,
  type Facts,
  intentAt,
  NOW,
  notOwned,
  preDelete,
  present,
  request,
  search,
  UNSETTLED,
} from "../views.ts";
import { succeeding } from "./fields.ts";

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

/** Ways to each step. What a view says besides comes by chance, so that each step is met with much that speaks against it. */
export const WAYS: Record<Decision["step"], readonly Partial<Facts>[]> = {
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
function badSpec() {
  return { reason: "InvalidSpec", message: "spec.ram: too small" } as const;
}

export const STEPS = Object.keys(WAYS).filter((step): step is Decision["step"] => step in WAYS);
