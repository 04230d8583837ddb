import { describe, expect, test } from "vitest";
import { type Decision, decide, type View } from "../../src/engine/decide.ts";
import {
  absent,
  claim,
  drifted,
  failure,
  intentAt,
  NOW,
  present,
  presentDrifted,
  request,
  search,
  UNSETTLED,
  viewOf,
} from "./views.ts";

type Case = [promise: string, view: Partial<View>, expected: Partial<Decision>];

function holds(cases: Case[]) {
  test.each(cases)("%s", (_, view, expected) => {
    expect(decide(viewOf(view))).toMatchObject(expected);
  });
}

const accountDown = { reason: "AccountNotReady", message: "Account a/b: no token", stalled: false } as const;
const noParent = { reason: "ReferenceNotReady", message: "waiting for Datacenter dc", stalled: false } as const;
const badSpec = { reason: "InvalidSpec", message: "spec.ram: too small", stalled: true } as const;
const open = intentAt(NOW - 5000);
const longAgo = intentAt(NOW - UNSETTLED - 10_000);

describe("an object without a resource", () => {
  holds([
    ["is created", {}, { step: "create" }],
    ["is not created while it is paused", { paused: true }, { step: "wait", reason: "Paused" }],
    ["waits for its Account", { accountObstacle: accountDown }, { step: "wait", reason: "AccountNotReady" }],
    ["waits for its parent", { specObstacle: noParent }, { step: "wait", reason: "ReferenceNotReady" }],
    [
      "stalls on a spec that nothing but an edit mends",
      { specObstacle: badSpec },
      { step: "stall", reason: "InvalidSpec" },
    ],
    ["says why it failed until its time has come", { failure: failure(NOW + 700) }, { step: "stall", retryMs: 700 }],
    ["is created again when its time has come", { failure: failure(NOW) }, { step: "create" }],
  ]);
});

describe("an object with an open intent", () => {
  holds([
    ["looks before it does anything", { intent: open }, { step: "search" }],
    ["goes on at once when the POST was certainly not executed", { intent: open, unsent: true }, { step: "create" }],
    ["takes the only match", { intent: open, search: search({ matches: ["x"] }) }, { step: "claim", id: "x" }],
    [
      "takes the match of its place among equals",
      { intent: open, search: search({ matches: ["x", "y"], rivals: 2, rank: 1 }) },
      { step: "claim", id: "y" },
    ],
    [
      "leaves the only match to the equal that was first",
      { intent: open, search: search({ matches: ["x"], rivals: 2, rank: 1 }) },
      { step: "wait", reason: "Recovering" },
    ],
    [
      "takes nothing while an equal POST is under way",
      { intent: open, search: search({ matches: ["x"], inFlight: true }) },
      { step: "wait", reason: "Recovering" },
    ],
    [
      "stops when more was made than was asked for",
      { intent: open, search: search({ matches: ["x", "y"] }) },
      { step: "stall", reason: "Ambiguous" },
    ],
    [
      "waits while a creation may still appear",
      { intent: open, search: search() },
      { step: "wait", reason: "Recovering" },
    ],
    [
      "looks again when the look is old",
      { intent: open, search: search({ lookedAt: NOW - 2000 }) },
      { step: "search" },
    ],
    [
      "looks once more after the window has passed",
      { intent: longAgo, search: search({ lookedAt: NOW - 15_000 }) },
      { step: "search" },
    ],
    [
      "creates again when a look after the window found nothing",
      { intent: longAgo, search: search() },
      { step: "create" },
    ],
    [
      "waits for its parent before it creates again",
      { intent: longAgo, search: search(), specObstacle: noParent },
      { step: "wait", reason: "ReferenceNotReady" },
    ],
    [
      "keeps looking after the window while an equal POST is under way",
      { intent: longAgo, search: search({ inFlight: true }) },
      { step: "wait", reason: "Recovering" },
    ],
    ["cannot look without its Account", { intent: open, accountObstacle: accountDown }, { step: "wait" }],
  ]);
});

describe("an object with a resource", () => {
  const owned = (more: Partial<View>): Partial<View> => ({ claim, ...more });
  const fresh = NOW - UNSETTLED + 5000;
  holds([
    ["rests when all is as wanted", owned({ observation: present() }), { step: "rest" }],
    ["asks for a first look", owned({}), { step: "wait", reason: "Observing", look: "list" }],
    [
      "waits while the platform creates it",
      owned({ observation: present({ busy: true }), request: request() }),
      { step: "wait", reason: "Creating" },
    ],
    [
      "waits while somebody else changes it",
      owned({ observation: present({ busy: true }) }),
      { step: "wait", reason: "Updating" },
    ],
    [
      "does not trust a look that is older than its own change",
      owned({ observation: present({ asOf: NOW - 10_000 }), request: request({ action: "update" }) }),
      { step: "wait", reason: "Updating" },
    ],
    [
      "is changed when it differs",
      owned({ observation: presentDrifted() }),
      { step: "update", operation: drifted.next },
    ],
    [
      "is not changed twice: the request of the first change is asked for",
      owned({ observation: presentDrifted(), request: request({ action: "update" }) }),
      { step: "wait", reason: "Updating", look: "member" },
    ],
    [
      "is changed again when the first change is done and something else differs",
      owned({ observation: presentDrifted(), request: request({ action: "update", outcome: "DONE" }) }),
      { step: "update" },
    ],
    [
      "says so when its change failed",
      owned({
        observation: presentDrifted(),
        request: request({ action: "update", outcome: "FAILED", message: "no" }),
      }),
      { step: "fail", reason: "ProvisioningFailed", gone: false, message: "update of the server failed: no" },
    ],
    [
      "is not changed again before its time has come",
      owned({ observation: presentDrifted(), failure: failure(NOW + 900) }),
      { step: "stall", retryMs: 900 },
    ],
    [
      "stalls on a difference that cannot be changed in place",
      owned({ observation: present({ comparison: { drift: [...drifted.drift] } }) }),
      { step: "stall", reason: "Drifted" },
    ],
    [
      "stalls when spec cannot be read, and is left alone",
      owned({ observation: present({ comparison: undefined }), specObstacle: badSpec }),
      { step: "stall", reason: "InvalidSpec" },
    ],
    [
      "is let go when its creation failed",
      owned({ observation: absent(), request: request({ outcome: "FAILED", message: "quota exceeded" }) }),
      { step: "fail", reason: "QuotaExceeded", gone: true },
    ],
    [
      "is waited for while it is not visible yet",
      owned({ observation: absent(), request: request({ outcome: "BUSY" }) }),
      { step: "wait", reason: "Creating" },
    ],
    [
      "is looked for by its id before it counts as gone",
      owned({ observation: absent({ confirmed: false }) }),
      { step: "wait", look: "member" },
    ],
    [
      "is given time to appear after its creation is done",
      owned({ observation: absent(), request: request({ since: fresh, outcome: "DONE" }) }),
      { step: "wait", reason: "Creating" },
    ],
    [
      "is let go when a finished creation has not appeared in time",
      owned({ observation: absent(), request: request({ since: NOW - UNSETTLED - 2000, outcome: "DONE" }) }),
      { step: "forget" },
    ],
    ["is let go when somebody removed it", owned({ observation: absent() }), { step: "forget" }],
  ]);
});

describe("a deleted object", () => {
  const deleted = (more: Partial<View>): Partial<View> => ({ deleting: true, ...more });
  const owned = (more: Partial<View>): Partial<View> => deleted({ claim, ...more });
  holds([
    ["that was let go already is none of ours", deleted({ hasFinalizer: false }), { step: "ignore" }],
    ["stays while it is paused", owned({ paused: true, observation: present() }), { step: "wait", reason: "Paused" }],
    [
      "that made nothing goes at once",
      deleted({ accountObstacle: accountDown }),
      { step: "release", reason: "Deleted" },
    ],
    [
      "with Retain goes and leaves its resource",
      owned({ deletionPolicy: "Retain", observation: present() }),
      { step: "release", reason: "Retained" },
    ],
    ["waits for its Account", owned({ accountObstacle: accountDown }), { step: "wait", reason: "AccountNotReady" }],
    [
      "does not care for spec or parents any more",
      owned({ observation: present(), specObstacle: badSpec }),
      { step: "delete" },
    ],
    ["asks for a first look", owned({}), { step: "wait", reason: "Deleting", look: "list" }],
    [
      "waits until its resource can be deleted",
      owned({ observation: present({ busy: true }), request: request() }),
      { step: "wait", reason: "Creating" },
    ],
    [
      "does not delete twice",
      owned({ observation: present(), request: request({ action: "delete", since: NOW - 500 }) }),
      { step: "wait", reason: "Deleting" },
    ],
    [
      "asks how its deletion went when the resource is still there",
      owned({ observation: present(), request: request({ action: "delete" }) }),
      { step: "wait", reason: "Deleting", look: "member" },
    ],
    [
      "says so when its deletion failed",
      owned({ observation: present(), request: request({ action: "delete", outcome: "FAILED" }) }),
      { step: "fail", gone: false, message: "delete of the server failed: the platform gave no reason" },
    ],
    [
      "tries again when its time has come",
      owned({ observation: present(), failure: failure(NOW - 1) }),
      { step: "delete" },
    ],
    ["does not try again before", owned({ observation: present(), failure: failure(NOW + 1) }), { step: "stall" }],
    [
      "goes when its deletion is done",
      owned({ observation: absent({ confirmed: false }), request: request({ action: "delete", outcome: "DONE" }) }),
      { step: "release", reason: "Deleted" },
    ],
    [
      "goes when its creation failed",
      owned({ observation: absent(), request: request({ outcome: "FAILED" }) }),
      { step: "release", reason: "Deleted" },
    ],
    ["goes when somebody else removed the resource", owned({ observation: absent() }), { step: "release" }],
    [
      "does not believe a list alone",
      owned({ observation: absent({ confirmed: false }) }),
      { step: "wait", look: "member" },
    ],
    [
      "waits for a creation that cannot be seen yet",
      owned({ observation: absent(), request: request({ outcome: "DONE" }) }),
      { step: "wait", reason: "Creating" },
    ],
    ["looks for what an open intent made", deleted({ intent: open }), { step: "search" }],
    [
      "claims what an open intent made, to delete it then",
      deleted({ intent: open, search: search({ matches: ["x"] }) }),
      { step: "claim", id: "x" },
    ],
    [
      "waits while a creation may still appear",
      deleted({ intent: open, search: search() }),
      { step: "wait", reason: "Recovering" },
    ],
    [
      "goes when an open intent made nothing",
      deleted({ intent: longAgo, search: search() }),
      { step: "release", reason: "Deleted" },
    ],
    [
      "goes at once when nothing was sent",
      deleted({ intent: open, unsent: true }),
      { step: "release", reason: "Deleted" },
    ],
  ]);
});
