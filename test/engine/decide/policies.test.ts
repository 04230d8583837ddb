import { describe, expect } from "vitest";
import { holds, noParent } from "../support/decisions.ts";
import {
  absent,
  claim,
  contents,
  type Facts,
  failure,
  inside,
  lacking,
  NOW,
  present,
  presentDrifted,
  request,
} from "../support/views.ts";

type Verdict = NonNullable<Facts["replacement"]>["verdict"];
const why = ["it stays where it is", "it was booted from it"];
const moved = (verdict: Verdict) => ({ fields: ["location"], why: why.slice(0, 1), verdict });

describe("an object that names an existing resource", () => {
  const adopt = "id-9";
  holds([
    ["takes it over", { adopt }, { step: "adopt", id: adopt }],
    ["waits for its parent first", { adopt, specObstacle: noParent }, { step: "wait", reason: "ReferenceNotReady" }],
    ["does not ask again and again", { adopt, failure: failure(NOW + 5) }, { step: "stall", recheckMs: 5 }],
    ["goes at once when it is deleted before", { adopt, deleting: true }, { step: "release", reason: "Deleted" }],
  ]);
});

describe("an object that only observes", () => {
  const observed = (more: Partial<Facts>): Partial<Facts> => ({ observed: true, claim, ...more });
  holds([
    ["needs to know what", { observed: true }, { step: "stall", reason: "InvalidSpec" }],
    ["takes a first look", observed({}), { step: "wait", reason: "Observing", read: "list" }],
    ["rests on what it sees, whatever differs", observed({ observation: presentDrifted() }), { step: "rest" }],
    ["replaces nothing", observed({ observation: present(), replacement: moved("allowed") }), { step: "rest" }],
    [
      "waits while others change it",
      observed({ observation: present({ busy: true }) }),
      { step: "wait", reason: "Observing" },
    ],
    [
      "says that it is missing, and looks on",
      observed({ observation: absent({ absence: "unseen" }) }),
      { step: "stall", reason: "Missing", read: "member" },
    ],
    [
      "says that it is gone, and makes no other",
      observed({ observation: absent() }),
      { step: "stall", reason: "NotAdoptable" },
    ],
    [
      "leaves it when it goes",
      observed({ observation: present(), deleting: true }),
      { step: "release", reason: "Retained" },
    ],
  ]);
});

describe("an object whose immutable field has changed", () => {
  const changed = (verdict: Verdict, more: Partial<Facts> = {}): Partial<Facts> => ({
    claim,
    replacement: moved(verdict),
    observation: present(),
    ...more,
  });
  const replacing = (outcome: "unknown" | "DONE" | "FAILED") => request({ action: "replace", outcome });
  holds([
    ["says what to do", changed("forbidden"), { step: "stall", reason: "ImmutableFieldChanged" }],
    [
      "does not name a policy that would not help",
      changed("final"),
      { step: "stall", reason: "ImmutableFieldChanged", message: expect.stringMatching(/: change it back$/) },
    ],
    [
      "says how an adopted resource can be replaced, of which spec need not say all",
      changed("kept"),
      { step: "stall", message: expect.stringMatching(/say in spec all that it is to have, then remove externalId$/) },
    ],
    [
      "names every field that has changed, and why that cannot be",
      changed("forbidden", { replacement: { fields: ["location", "boot.image"], why, verdict: "forbidden" } }),
      {
        message:
          "location, boot.image cannot be changed in place and have changed since the Server was created (it stays where it is; it was booted from it): change it back, or set replacePolicy: WhenNeeded, which deletes the Server and creates a new one",
      },
    ],
    [
      "names the values of fields that spec had not stated, and how to keep the resource",
      changed("forbidden", {
        replacement: {
          fields: ["location", "boot"],
          why,
          verdict: "forbidden",
          late: { drift: [{ field: "location", wanted: "de/fra", found: "de/txl" }], holdsData: true },
        },
      }),
      {
        message:
          "location is de/txl on the platform, not de/fra; boot has changed since the Server was created, and cannot be changed in place (it stays where it is; it was booted from it): set what is there or change spec back, which keeps the Server, or set replacePolicy: WhenNeeded, which deletes the Server with its data and creates a new one",
      },
    ],
    [
      "does not say that a token is deleted at once",
      changed("forbidden", { successive: true }),
      { message: expect.stringMatching(/creates a new token and revokes this one a few minutes later$/) },
    ],
    [
      "is kept while its replacement cannot be created",
      changed("allowed", { lacking: lacking() }),
      { step: "stall", reason: "InvalidSpec" },
    ],
    ["loses no data unasked", changed({ allowedBy: "true" }), { step: "stall", reason: "DataLossNotAllowed" }],
    [
      "says what the loss is about",
      changed({ allowedBy: "true" }),
      {
        message:
          'location cannot be changed in place and has changed since the Server was created (it stays where it is); replacing the Server loses its data: set the annotation mooring.dev/allow-data-loss to "true" to allow it once, or change it back',
      },
    ],
    ["is deleted to be made again", changed("allowed"), { step: "delete", action: "replace" }],
    ["is left where it cannot be deleted", changed("allowed", { permanent: true }), { step: "forget" }],
    [
      "is not deleted while it is being changed",
      changed("allowed", { observation: present({ busy: true }) }),
      { step: "wait" },
    ],
    [
      "is not deleted while it holds others",
      changed("allowed", { contents: contents({ found: inside(["server s"]) }) }),
      { step: "stall", reason: "NotEmpty" },
    ],
    [
      "is not deleted twice",
      changed("allowed", { request: replacing("unknown") }),
      { step: "wait", reason: "Replacing", read: "member" },
    ],
    ["says so when that failed", changed("allowed", { request: replacing("FAILED") }), { step: "fail", gone: false }],
    [
      "waits until it is gone",
      changed("allowed", { observation: absent(), request: replacing("unknown") }),
      { step: "wait", reason: "Replacing" },
    ],
    [
      "lets go of the id when it is gone",
      changed("allowed", { observation: absent(), request: replacing("DONE") }),
      { step: "forget" },
    ],
  ]);
});

describe("a deleted object that others live in", () => {
  const held = (more: Parameters<typeof contents>[0]): Partial<Facts> => ({
    deleting: true,
    claim,
    observation: present(),
    contents: contents(more),
  });
  holds([
    ["goes when it is empty", held({}), { step: "delete", action: "delete" }],
    ["is looked into first", held({ found: undefined }), { step: "inspect" }],
    [
      "is looked into once more after a later read, which may rest on somebody's change",
      { ...held({ found: inside([], NOW - 900) }), observation: present({ asOf: NOW - 500 }) },
      { step: "inspect" },
    ],
    [
      "waits a moment after the first look that shows nothing",
      held({ found: inside([], NOW - 500, NOW - 500) }),
      { step: "wait", reason: "Observing", recheckMs: 1500 },
    ],
    ["is looked into once more then", held({ found: inside([], NOW - 2000, NOW - 2000) }), { step: "inspect" }],
    [
      "is not looked into on a read that is older than the wish",
      { ...held({ found: undefined }), observation: present({ asOf: NOW - 500 }), desiredSince: NOW - 400 },
      { step: "wait", read: "list" },
    ],
    ["waits for those on their way out", held({ leaving: ["Server/shop/a"] }), { step: "wait", reason: "Deleting" }],
    [
      "names the objects that stay",
      held({ staying: ["Server/shop/a"], found: undefined }),
      { step: "stall", reason: "NotEmpty" },
    ],
    [
      "names what others put there",
      held({ found: inside(["server web (s1)"]) }),
      { step: "stall", reason: "NotEmpty" },
    ],
    [
      "goes with all that it holds when that is wanted",
      held({ staying: ["Server/shop/a"], ignored: true }),
      { step: "delete" },
    ],
    [
      "stays while objects of other namespaces live in it, whatever its owner allows",
      held({ staying: ["an object of another namespace"], guests: true, ignored: true }),
      { step: "stall", reason: "NotEmpty" },
    ],
  ]);
});
