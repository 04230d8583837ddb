import { describe, expect, test } from "vitest";
import { isAgain, pendingRequest } from "../../src/engine/look/pending.ts";
import { markOf } from "../../src/engine/objects/intent.ts";
import type { ResourceStatus } from "../../src/engine/schema/status-schema.ts";
import type { Operation } from "../../src/kinds/kind.ts";

const SENT = "2026-01-01T10:00:00.000Z";
const sent = Date.parse(SENT);
const statusWith = (request: Partial<NonNullable<ResourceStatus["request"]>>): ResourceStatus => ({
  id: "id-1",
  request: { action: "update", status: "BUSY", since: SENT, url: "/requests/1/status", ...request },
});

describe("what status and the platform tell of a request", () => {
  test("counts from when it was sent until it is heard to be done, and from then on from there", () => {
    const status = statusWith({});
    expect(pendingRequest(status, undefined)).toEqual({ action: "update", since: sent, outcome: "unknown" });
    expect(pendingRequest(status, { status: "BUSY", knownAt: sent + 700 })).toMatchObject({ since: sent });
    // A read that begins in the very millisecond has begun after it.
    expect(pendingRequest(status, { status: "DONE", knownAt: sent + 700 })).toMatchObject({ since: sent + 699 });
  });

  test("is nothing once it has failed, or where nothing is owned", () => {
    expect(pendingRequest(statusWith({ status: "FAILED" }), undefined)).toBeUndefined();
    expect(pendingRequest({ ...statusWith({}), id: undefined }, undefined)).toBeUndefined();
  });
});

describe("a write that must not happen twice", () => {
  const restore: Operation = { action: "restore", method: "POST", path: "/v/restore", once: true, marks: { at: "a" } };
  const noted = statusWith({ ...markOf(restore), marks: { at: "a" } });

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
