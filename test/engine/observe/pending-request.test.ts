import { describe, expect, test } from "vitest";
import { isAgain, pendingRequest } from "../../../src/engine/observe/resource/pending-request.ts";
import { writeKeyOf } from "../../../src/engine/state/intent.ts";
import type { Memory } from "../../../src/engine/state/memory.ts";
import type { ResourceStatus } from "../../../src/engine/status/schema.ts";
import type { Operation } from "../../../src/kinds/desired.ts";

const statusWith = (request: Partial<NonNullable<ResourceStatus["request"]>>): ResourceStatus => ({
  id: "id-1",
  request: {
    action: "update",
    status: "BUSY",
    since: "2026-01-01T10:00:00.000Z",
    url: "/requests/1/status",
    ...request,
  },
});
const self = { pod: "mooring-0", process: "this", deadlineMs: 10_000 };
const here = { self, settings: { settleMs: 10_000 } };
/** This process first saw it at this many milliseconds of its own clock. */
const seenAt = (at: number): Memory => ({ begun: { what: "it", at } });

describe("a pending request in status and on the platform", () => {
  test("counts from when this process saw it until it is heard to be done, and from then on from there", () => {
    const status = statusWith({});
    const seen = seenAt(5000);
    expect(pendingRequest(here, status, seen, undefined)).toEqual({
      action: "update",
      since: 5000,
      outcome: "unknown",
    });
    expect(pendingRequest(here, status, seen, { status: "BUSY", knownAt: 5700 })).toMatchObject({ since: 5000 });
    // A read that begins at the same moment counts as later.
    const done = pendingRequest(here, status, seen, { status: "DONE", knownAt: 5700 });
    expect(done?.since).toBeGreaterThan(5699);
    expect(done?.since).toBeLessThan(5700);
  });

  test("does not care for the clock of whoever wrote it down", () => {
    for (const since of ["1999-01-01T00:00:00.000Z", "2999-01-01T00:00:00.000Z"]) {
      const announced = pendingRequest(
        here,
        statusWith({ status: "SENDING", since, by: self }),
        seenAt(5000),
        undefined,
      );
      expect(announced).toEqual({ action: "update", since: 5000, outcome: "unanswered", settledAt: 25_000 });
    }
  });

  test("is nothing once it has failed, or where nothing is owned", () => {
    expect(pendingRequest(here, statusWith({ status: "FAILED" }), {}, undefined)).toBeUndefined();
    expect(pendingRequest(here, { ...statusWith({}), id: undefined }, {}, undefined)).toBeUndefined();
  });
});

describe("a write that must not happen twice", () => {
  const restore: Operation = { action: "restore", method: "POST", path: "/v/restore", once: true, marks: { at: "a" } };
  const noted = statusWith({ ...writeKeyOf(restore), marks: { at: "a" } });

  test("is known again by its call, its body and what it marks", () => {
    expect(isAgain(restore, noted)).toBe(true);
    expect(isAgain({ ...restore, path: "/w/restore" }, noted)).toBe(false);
    expect(isAgain({ ...restore, body: { force: true } }, noted)).toBe(false);
    expect(isAgain({ ...restore, marks: { at: "b" } }, noted)).toBe(false);
  });

  test("is not what any other write is", () => {
    const { once: _, ...often } = restore;
    expect(isAgain(often, noted)).toBe(false);
    expect(isAgain(restore, statusWith({}))).toBe(false);
    expect(isAgain(undefined, noted)).toBe(false);
  });
});
