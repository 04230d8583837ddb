import { describe, expect, test } from "vitest";
import { readConfig } from "../../src/operator/config.ts";

function configOf(env: Record<string, string>) {
  const config = readConfig([], env);
  if (config === "help") throw new Error("nobody asked for help");
  return config;
}

describe("a process of the operator", () => {
  test("has the name of its pod in the Lease, whichever start of it this is", () => {
    const [first, second] = [configOf({ POD_NAME: "mooring-0" }), configOf({ POD_NAME: "mooring-0" })];
    expect([first.identity, second.identity]).toEqual(["mooring-0", "mooring-0"]);
    expect(first.process).not.toBe(second.process);
  });

  test.each([{}, { POD_NAME: "" }])("is one of a kind where it is in no pod: %o", (env) => {
    expect(configOf(env).identity).not.toBe(configOf(env).identity);
  });
});

test("a creation has ten seconds to be sent, and ninety more to arrive and appear", () => {
  expect(configOf({})).toMatchObject({ createDeadlineMs: 10_000, settleMs: 90_000 });
});
