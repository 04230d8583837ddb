import { describe } from "vitest";
import { accountDown, badSpec, holds, noParent, openIntent, settledIntent } from "../support/decisions.ts";
import {
  absent,
  BELIEVED,
  claim,
  drifted,
  type Facts,
  failure,
  lacking,
  NOW,
  present,
  presentDrifted,
  request,
  search,
  ungranted,
} from "../support/views.ts";

describe("an object without a resource", () => {
  holds([
    ["is created", {}, { step: "create" }],
    ["asks for what nothing can be created without", { lacking: lacking() }, { step: "stall", reason: "InvalidSpec" }],
    ["is not created while it is paused", { paused: true }, { step: "pause" }],
    ["waits for its Account", { accountObstacle: accountDown }, { step: "wait", reason: "AccountNotReady" }],
    [
      "says nothing of its parent while it is young: that usually comes in the same breath",
      { specObstacle: noParent, graceUntil: NOW + 300 },
      { step: "wait", reason: "Observing", recheckMs: 300 },
    ],
    [
      "says nothing of a missing Grant while it is young: that may come in the same breath",
      { specObstacle: ungranted(), ungranted: ungranted(), graceUntil: NOW + 300 },
      { step: "wait", reason: "Observing", recheckMs: 300 },
    ],
    [
      "waits for a person where no Grant comes",
      { specObstacle: ungranted(), ungranted: ungranted() },
      { step: "stall", reason: "ReferenceNotGranted" },
    ],
    [
      "says at once what only an edit mends",
      { specObstacle: badSpec, graceUntil: NOW + 300 },
      { step: "stall", reason: "InvalidSpec" },
    ],
    ["waits for its parent", { specObstacle: noParent }, { step: "wait", reason: "ReferenceNotReady" }],
    [
      "stalls on a spec that nothing but an edit mends",
      { specObstacle: badSpec },
      { step: "stall", reason: "InvalidSpec" },
    ],
    ["says why it failed until its time has come", { failure: failure(NOW + 700) }, { step: "stall", recheckMs: 700 }],
    ["is created again when its time has come", { failure: failure(NOW) }, { step: "create" }],
  ]);
});

describe("an object with an open intent", () => {
  holds([
    ["looks before it does anything", { intent: openIntent }, { step: "search" }],
    [
      "goes on at once when the POST was certainly not executed",
      { intent: openIntent, unsent: true },
      { step: "create" },
    ],
    [
      "takes the only match",
      { intent: openIntent, search: search({ matches: ["x"] }) },
      { step: "claim", identity: "x" },
    ],
    [
      "takes the match of its place among equals",
      { intent: openIntent, search: search({ matches: ["x", "y"], rivals: 2, rank: 1 }) },
      { step: "claim", identity: "y" },
    ],
    [
      "takes nothing while there are fewer matches than equals: it may be the other's",
      { intent: openIntent, search: search({ matches: ["x"], rivals: 2 }) },
      { step: "wait", reason: "Recovering" },
    ],
    [
      "takes nothing while an equal POST is under way",
      { intent: openIntent, search: search({ matches: ["x"], inFlight: true }) },
      { step: "wait", reason: "Recovering" },
    ],
    [
      "stops when more was made than was asked for",
      { intent: openIntent, search: search({ matches: ["x", "y"] }) },
      { step: "stall", reason: "Ambiguous", recheckMs: 30_000 },
    ],
    [
      "looks again whether there is still too much",
      { intent: openIntent, search: search({ matches: ["x", "y"], beganAt: NOW - 5000 }) },
      { step: "search" },
    ],
    [
      "claims nothing by a look of five seconds ago: it may be another's by now",
      { intent: openIntent, search: search({ matches: ["x"], beganAt: NOW - 5000 }) },
      { step: "search" },
    ],
    [
      "takes what is left over once everything is visible, whoever was first",
      { intent: settledIntent, search: search({ matches: ["x"], rivals: 2, rank: 1 }) },
      { step: "claim", identity: "x" },
    ],
    [
      "keeps looking after the window while something accepted cannot be seen",
      { intent: settledIntent, search: search({ pending: true }) },
      { step: "wait", reason: "Recovering", recheckMs: 2000 },
    ],
    [
      "takes nothing while something that matches cannot be seen yet, which may be its own",
      { intent: settledIntent, search: search({ matches: ["x", "y"], rivals: 2, pending: true }) },
      { step: "wait", reason: "Recovering" },
    ],
    [
      "counts the window from when this process first saw the intent",
      { intent: settledIntent, settledAt: NOW + 1, search: search() },
      { step: "wait", reason: "Recovering" },
    ],
    [
      "waits while a creation may still appear",
      { intent: openIntent, search: search() },
      { step: "wait", reason: "Recovering" },
    ],
    [
      "looks again when the look is old",
      { intent: openIntent, search: search({ beganAt: NOW - 2000 }) },
      { step: "search" },
    ],
    [
      "looks once more after the window has passed",
      { intent: settledIntent, search: search({ beganAt: NOW - 15_000 }) },
      { step: "search" },
    ],
    [
      "creates again when a look after the window found nothing",
      { intent: settledIntent, search: search() },
      { step: "create" },
    ],
    [
      "waits for its parent before it creates again",
      { intent: settledIntent, search: search(), specObstacle: noParent },
      { step: "wait", reason: "ReferenceNotReady" },
    ],
    [
      "keeps looking after the window while an equal POST is under way",
      { intent: settledIntent, search: search({ inFlight: true }) },
      { step: "wait", reason: "Recovering" },
    ],
    ["cannot look without its Account", { intent: openIntent, accountObstacle: accountDown }, { step: "wait" }],
  ]);
});

describe("an object with a resource", () => {
  const owned = (more: Partial<Facts>): Partial<Facts> => ({ claim, ...more });
  const fresh = NOW - BELIEVED + 5000;
  holds([
    ["rests when all is up to date", owned({ observation: present() }), { step: "rest" }],
    ["asks for a first look", owned({}), { step: "wait", reason: "Observing", read: "list" }],
    [
      "waits while the platform creates it",
      owned({ observation: present({ busy: true }), request: request() }),
      { step: "wait", reason: "Creating" },
    ],
    [
      "waits while somebody else changes it",
      owned({ observation: present({ busy: true }) }),
      { step: "wait", reason: "Observing" },
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
      { step: "wait", reason: "Updating", read: "member" },
    ],
    [
      "waits for what is done and not seen yet, where doing it twice would be wrong",
      owned({
        observation: presentDrifted(),
        request: request({ action: "update", outcome: "DONE", since: fresh, unseen: true }),
      }),
      { step: "wait", reason: "Updating", read: "member" },
    ],
    [
      "is changed again when what was done stays unseen for too long",
      owned({
        observation: presentDrifted(),
        request: request({ action: "update", outcome: "DONE", since: NOW - BELIEVED - 2000, unseen: true }),
      }),
      { step: "update" },
    ],
    [
      "is not changed again because reads take long: a later one may show it",
      owned({
        observation: presentDrifted(),
        request: request({ action: "update", outcome: "DONE", since: NOW - BELIEVED - 500, unseen: true }),
      }),
      { step: "wait", reason: "Updating", read: "member" },
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
      { step: "fail", reason: "ProvisioningFailed", gone: false, message: "update of the Server failed: no" },
    ],
    [
      "is not changed again before its time has come",
      owned({ observation: presentDrifted(), failure: failure(NOW + 900) }),
      { step: "stall", recheckMs: 900 },
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
      "keeps its intent until it has rested for a while",
      owned({ observation: present(), annotateAt: NOW + 1 }),
      { step: "rest", keep: false },
    ],
    [
      "keeps its id instead of its intent after that",
      owned({ observation: present(), annotateAt: NOW }),
      { step: "rest", keep: true },
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
      "is given time to appear after its creation is done",
      owned({ observation: absent({ absence: "unseen" }), request: request({ since: fresh, outcome: "DONE" }) }),
      { step: "wait", reason: "Creating" },
    ],
    [
      "is missing when a finished creation has not appeared in time",
      owned({
        observation: absent({ absence: "unseen" }),
        request: request({ since: NOW - BELIEVED - 2000, outcome: "DONE" }),
      }),
      { step: "stall", reason: "Missing" },
    ],
  ]);
});
