import { expect, it } from "vitest";
import { changesSince } from "../../src/diagnostics/changes.ts";
import { expiring } from "../../src/diagnostics/expiring.ts";

const sources = {
  platform: () => Promise.reject(new Error("no token")),
  cluster: () => Promise.reject(new Error("no cluster")),
  now: Date.now,
  signal: new AbortController().signal,
  progress: () => {},
};

it.each([
  ["what expires", () => expiring(sources, { days: 30 })],
  ["what changed", () => changesSince(sources, { since: "1h" })],
])("%s fails if neither the cluster nor the platform can be read, instead of finding nothing", async (_, ask) => {
  await expect(ask()).rejects.toThrow(/no cluster; platform: no token|no token; cluster: no cluster/);
});
