import { describe, expect, test } from "vitest";
import { KubeError } from "../../src/kube/client/errors.ts";
import { LeadershipLost } from "../../src/kube/lease/leadership-lost.ts";
import { Terminal } from "../../src/platform/answers/errors.ts";
import { createLog, type LogFormat } from "../../src/server/log.ts";

function open(format: LogFormat) {
  const lines: string[] = [];
  return { lines, log: createLog({ level: "info", format }, { write: (line) => lines.push(line) }) };
}

describe("a log line", () => {
  test("is JSON with the level as a word", () => {
    const { log, lines } = open("json");
    log.warn({ object: "Server/shop/web" }, "careful");
    log.debug("not asked for");
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      { level: "warn", time, object: "Server/shop/web", msg: "careful" },
    ]);
  });

  test("is one line of text, whatever others have written into it", () => {
    const { log, lines } = open("text");
    log.info({ object: "Server/shop/web", status: 202, message: "two\nlines \u001b[31m\u2028red" }, "status changed");
    expect(lines).toHaveLength(1);
    expect(lines[0]?.replace(/^\S+ /, "")).toBe(
      'info  status changed object=Server/shop/web status=202 message="two\\nlines \\u001b[31m red"\n',
    );
  });
});

test("in text, what an API answered is told in its own words", () => {
  const { log, lines } = open("text");
  log.warn({ err: new KubeError({ status: 429, reason: "TooManyRequests", message: "GET /x: slow down" }) }, "watch");
  expect(lines[0]).toContain('warn  watch err="GET /x: slow down"\n');
});

describe("an error in the log", () => {
  const failure = { call: "POST /x", status: 422, platformMessage: "cores is too high" };
  test.each([
    new KubeError({ status: 410, reason: "Expired", message: "too old", cause: new Error("inner") }),
    new Terminal(failure),
    new LeadershipLost(),
  ])("has no stack when it was to be expected: %s", (error) => {
    const { log, lines } = open("json");
    log.warn({ err: error }, "watch interrupted");
    expect(JSON.parse(lines[0] ?? "").err.message).toBe(error.message);
    expect(lines[0]).not.toContain("    at ");
  });

  test("shows where it was made when it is a mistake", () => {
    const { log, lines } = open("json");
    log.error({ err: new TypeError("x is undefined") }, "reconcile failed");
    expect(JSON.parse(lines[0] ?? "").err).toMatchObject({ type: "TypeError", message: "x is undefined" });
    expect(lines[0]).toContain("    at ");
  });
});
