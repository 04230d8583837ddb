import { describe, expect } from "vitest";
import { accountDown, badSpec, holds, openIntent, settledIntent } from "../support/decisions.ts";
import {
  absent,
  claim,
  contents,
  type Facts,
  failure,
  NOW,
  preDelete,
  present,
  request,
  search,
} from "../support/views.ts";

describe("a deleted object", () => {
  const deleted = (more: Partial<Facts>): Partial<Facts> => ({ deleting: true, ...more });
  const owned = (more: Partial<Facts>): Partial<Facts> => deleted({ claim, ...more });
  holds([
    ["that was let go already is none of ours", deleted({ hasFinalizer: false }), { step: "ignore" }],
    ["stays while it is paused", owned({ paused: true, observation: present() }), { step: "pause" }],
    [
      "that made nothing goes at once",
      deleted({ accountObstacle: accountDown }),
      { step: "release", reason: "Deleted" },
    ],
    [
      "with Retain goes and leaves its resource",
      owned({ deletionPolicy: "Retain", observation: present() }),
      {
        step: "release",
        reason: "Retained",
        message: "Server id-1 is kept on the platform; to manage it again, create the object with its externalId",
      },
    ],
    [
      "with Retain that has no id says so without one",
      deleted({ deletionPolicy: "Retain" }),
      { step: "release", reason: "Retained", message: "Server is kept on the platform" },
    ],
    ["waits for its Account", owned({ accountObstacle: accountDown }), { step: "wait", reason: "AccountNotReady" }],
    [
      "does not care for spec or parents any more",
      owned({ observation: present(), specObstacle: badSpec }),
      { step: "delete" },
    ],
    ["asks for a first look", owned({}), { step: "wait", reason: "Deleting", read: "list" }],
    [
      "waits until its resource can be deleted",
      owned({ observation: present({ busy: true }), request: request() }),
      { step: "wait", reason: "Creating" },
    ],
    [
      "takes leave first of what must not go with it",
      owned({ observation: present({ preDelete }) }),
      { step: "update", operation: preDelete },
    ],
    [
      "waits for the end of that",
      owned({ observation: present({ preDelete }), request: request({ action: preDelete.action }) }),
      { step: "wait", read: "member" },
    ],
    [
      "does not do it again before it has looked again",
      owned({
        observation: present({ preDelete, asOf: NOW - 2000 }),
        request: request({ action: preDelete.action, since: NOW - 1000, outcome: "DONE" }),
      }),
      { step: "wait", read: "list" },
    ],
    [
      "says so when that failed",
      owned({ observation: present({ preDelete }), request: request({ action: "detach", outcome: "FAILED" }) }),
      { step: "fail", gone: false },
    ],
    [
      "finds out what became of a write before it takes leave",
      owned({ observation: present({ preDelete }), request: request({ outcome: "unanswered" }) }),
      { step: "recall" },
    ],
    [
      "waits for those that use it and go as well",
      owned({ observation: present(), contents: contents({ verb: "is still used by", leaving: ["Server/shop/web"] }) }),
      { step: "wait", reason: "Deleting", message: "waiting for the deletion of Server/shop/web" },
    ],
    [
      "names what uses it on the platform",
      owned({
        observation: present({ users: ["server s on the platform"] }),
        contents: contents({ verb: "is still used by" }),
      }),
      {
        step: "stall",
        reason: "InUse",
        message: expect.stringMatching(/^Server is still used by server s on the platform\. /),
      },
    ],
    [
      "names those that use it and stay",
      owned({ observation: present(), contents: contents({ verb: "is still used by", staying: ["Server/shop/web"] }) }),
      {
        step: "stall",
        reason: "InUse",
        message:
          "Server is still used by Server/shop/web. To keep all of it on the platform, set deletionPolicy: Retain (with externalId: id-1 where the object is applied again, or another Server is created). To delete it, let them use another Server or none, or delete them first (their data is lost, unless they have deletionPolicy: Retain)",
      },
    ],
    [
      "does not delete twice",
      owned({ observation: present(), request: request({ action: "delete", since: NOW - 500 }) }),
      { step: "wait", reason: "Deleting" },
    ],
    [
      "asks how its deletion went when the resource is still there",
      owned({ observation: present(), request: request({ action: "delete" }) }),
      { step: "wait", reason: "Deleting", read: "member" },
    ],
    [
      "says so when its deletion failed",
      owned({ observation: present(), request: request({ action: "delete", outcome: "FAILED" }) }),
      { step: "fail", gone: false, message: "delete of the Server failed: the platform gave no reason" },
    ],
    [
      "tries again when its time has come",
      owned({ observation: present(), failure: failure(NOW - 1) }),
      { step: "delete" },
    ],
    ["does not try again before", owned({ observation: present(), failure: failure(NOW + 1) }), { step: "stall" }],
    [
      "goes when its deletion is done",
      owned({ observation: absent({ absence: "unseen" }), request: request({ action: "delete", outcome: "DONE" }) }),
      { step: "release", reason: "Deleted" },
    ],
    [
      "goes when its creation failed",
      owned({ observation: absent(), request: request({ outcome: "FAILED" }) }),
      { step: "release", reason: "Deleted" },
    ],
    ["goes when somebody else removed the resource", owned({ observation: absent() }), { step: "release" }],
    ["goes when it is missing for long", owned({ observation: absent({ absence: "missing" }) }), { step: "release" }],
    [
      "does not believe a list alone",
      owned({ observation: absent({ absence: "unseen" }) }),
      { step: "wait", reason: "Deleting", read: "member" },
    ],
    [
      "does not go while a deletion that has no request may be under way",
      owned({
        observation: absent({ absence: "unseen" }),
        request: request({ action: "delete", outcome: "accepted" }),
      }),
      { step: "wait", reason: "Deleting" },
    ],
    [
      "is deleted again where a deletion without a request has left it",
      owned({ observation: present(), request: request({ action: "delete", outcome: "accepted" }) }),
      { step: "delete" },
    ],
    [
      "waits for a creation that cannot be seen yet",
      owned({ observation: absent({ absence: "unseen" }), request: request({ outcome: "DONE" }) }),
      { step: "wait", reason: "Creating" },
    ],
    ["looks for what an open intent made", deleted({ intent: openIntent }), { step: "search" }],
    [
      "claims what an open intent made, to delete it then",
      deleted({ intent: openIntent, search: search({ matches: ["x"] }) }),
      { step: "claim", identity: "x" },
    ],
    [
      "waits while a creation may still appear",
      deleted({ intent: openIntent, search: search() }),
      { step: "wait", reason: "Recovering" },
    ],
    [
      "goes when an open intent made nothing",
      deleted({ intent: settledIntent, search: search() }),
      { step: "release", reason: "Deleted" },
    ],
    [
      "goes at once when nothing was sent",
      deleted({ intent: openIntent, unsent: true }),
      { step: "release", reason: "Deleted" },
    ],
  ]);
});
