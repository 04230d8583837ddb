import { describe, expect, test } from "vitest";
import { obstacleOf } from "../../src/engine/look/problems.ts";
import { needsPerson } from "../../src/engine/schema/reasons.ts";
import { Forbidden, NotFound, Retry, Terminal, Unauthorized } from "../../src/platform/errors.ts";

const refused = (status: number, platformMessage?: string) => ({ call: "POST /servers", status, platformMessage });

describe("an error of the platform", () => {
  test.each([
    ["401", new Unauthorized(refused(401, "bad token")), "Unauthorized", true],
    ["403", new Forbidden(refused(403, "not yours")), "Forbidden", true],
    ["404", new NotFound(refused(404, "not there")), "PlatformUnavailable", false],
    ["422", new Terminal(refused(422, "cores: too many")), "Rejected", true],
    ["422 about a limit", new Terminal(refused(422, "limit reached"), { quota: true }), "QuotaExceeded", true],
    ["422 while busy", new Terminal(refused(422, "is busy"), { busy: true }), "Updating", false],
    ["429", new Retry(refused(429), "no", 3000), "RateLimited", false],
    ["503", new Retry(refused(503), "unknown"), "PlatformUnavailable", false],
    [
      "a timeout",
      new Retry({ call: "POST /servers", status: 0, detail: "timeout" }, "unknown"),
      "PlatformUnavailable",
      false,
    ],
  ])("%s becomes a reason", (_, error, reason, stalled) => {
    expect(obstacleOf(error)).toMatchObject({ reason });
    expect(needsPerson(obstacleOf(error).reason)).toBe(stalled);
    expect(obstacleOf(error).message).not.toBe("");
  });

  test("names the privilege that is needed, unless the platform has done so", () => {
    const told = (words: string) => obstacleOf(new Forbidden(refused(403, words)), "Manage Logs").message;
    expect(told("Access denied")).toBe('Access denied: the privilege "Manage Logs" is needed');
    expect(told('You lack "Manage Logs"')).toBe('You lack "Manage Logs"');
  });

  test("speaks in the platform's own words where it has some", () => {
    expect(obstacleOf(new Terminal(refused(422, "[(root).properties.cores] too many"))).message).toBe(
      "[(root).properties.cores] too many",
    );
    expect(obstacleOf(new Terminal(refused(422))).message).toBe("POST /servers answered 422");
  });
});

test("anything else is a fault of the operator's own", () => {
  expect(obstacleOf(new TypeError("x is undefined"))).toEqual({
    reason: "InternalError",
    message: "x is undefined",
  });
  expect(obstacleOf("words")).toMatchObject({ reason: "InternalError", message: "words" });
});
