import { describe } from "vitest";
import { holds } from "../support/decisions.ts";
import { claim, contents, drifted, type Facts, failure, inside, NOW, present, request } from "../support/views.ts";

// Regional services keep a resource whose creation failed, and show it as FAILED.
describe("a resource that has failed on the platform", () => {
  const why = "[VDC-5-17] no room left";
  const broken = (more: Parameters<typeof present>[0] = {}) => present({ broken: why, ...more });
  const owned = (more: Partial<Facts>): Partial<Facts> => ({ claim, observation: broken(), ...more });
  const stillborn = (more: Partial<Facts> = {}): Partial<Facts> => owned({ unfinished: true, ...more });

  holds([
    [
      "quotes the platform when it was just created",
      owned({ request: request({ outcome: "DONE" }) }),
      { step: "fail", reason: "ProvisioningFailed", gone: false, message: `create of the Server failed: ${why}` },
    ],
    [
      "is not judged by a look from before its request",
      owned({ observation: broken({ asOf: NOW - 20_000 }), request: request({ outcome: "DONE" }) }),
      { step: "wait", reason: "Creating" },
    ],
    [
      "stays until its time has come when it was never finished",
      stillborn({ failure: failure(NOW + 900) }),
      { step: "stall", reason: "ProvisioningFailed", recheckMs: 900 },
    ],
    [
      "makes room for another one then",
      stillborn({ failure: failure(NOW - 1) }),
      { step: "delete", action: "replace" },
    ],
    [
      "does not take along what is in it",
      stillborn({ contents: contents({ found: inside(["topic orders"]) }) }),
      { step: "stall", reason: "NotEmpty" },
    ],
    [
      "is deleted again when that has failed, too",
      owned({ request: request({ action: "replace", outcome: "DONE" }) }),
      { step: "delete", action: "replace" },
    ],
    [
      "is not deleted again while its deletion is under way",
      stillborn({ request: request({ action: "replace", outcome: "BUSY" }) }),
      { step: "wait", reason: "Replacing", read: "member" },
    ],
    [
      "is left unchanged while it is deleted",
      owned({ observation: present({ busy: true }), request: request({ action: "replace", outcome: "DONE" }) }),
      { step: "wait", reason: "Replacing" },
    ],
    [
      "is never replaced once it was finished: its last change is tried again",
      owned({ observation: broken({ comparison: { drift: [], next: drifted.next } }) }),
      { step: "update", operation: drifted.next },
    ],
    [
      "not before its time has come",
      owned({ observation: broken({ comparison: { drift: [], next: drifted.next } }), failure: failure(NOW + 900) }),
      { step: "stall", recheckMs: 900 },
    ],
    [
      "says so when it was a change that failed",
      owned({ request: request({ action: "update", outcome: "DONE" }) }),
      { step: "fail", message: `update of the Server failed: ${why}` },
    ],
    ["stays where nothing can be written to it", owned({}), { step: "stall", reason: "ProvisioningFailed" }],
    ["stays where it is always there", stillborn({ permanent: true }), { step: "stall", reason: "ProvisioningFailed" }],
    ["goes like any other when its object does", stillborn({ deleting: true }), { step: "delete", action: "delete" }],
  ]);
});
