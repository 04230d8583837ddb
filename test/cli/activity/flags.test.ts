import { describe, expect, it } from "vitest";
import { parseFlags } from "../../../src/cli/activity/flags.ts";

const now = Date.parse("2026-03-03T12:00:00Z");
const HOUR = 3_600_000;

describe("the flags of mooring activity", () => {
  it("count back from the time that they are given", () => {
    const { since, until } = parseFlags(["--since", "2h", "--until", "1h"], now);
    expect([since(now), until(now)]).toEqual([now - 2 * HOUR, now - HOUR]);
    expect(since(now + HOUR)).toBe(now - HOUR);
  });

  it("choose the cluster of the Account as those of kubectl do", () => {
    const line = ["--account", "main", "-n", "shop", "--kubeconfig", "prod.yaml", "--context", "eu"];
    const asked = { account: "main", namespace: "shop", kubeconfig: "prod.yaml", context: "eu", platform: undefined };
    expect(parseFlags(line, now).access).toEqual(asked);
  });

  it("mean the last day when they say nothing else", () => {
    const { since, until, criteria, follow, format } = parseFlags([], now);
    expect([since(now), until(now), follow, format]).toEqual([now - 24 * HOUR, undefined, false, "table"]);
    expect(criteria).toEqual({ users: [], resources: [], actions: [], reads: false });
    expect(parseFlags(["--reads"], now).criteria.reads).toBe(true);
  });

  it.each([
    [["--since", "soon"], "--since soon: give it as 15m, 1h, 7d or 2026-03-01T10:00"],
    [["--since", "1h", "--until", "2h"], "--since is after --until"],
    [["--follow", "--until", "1h"], "--follow has no end: leave out --until"],
    [["-f", "-o", "json"], "with --follow, use -o ndjson"],
    [["server/h2"], "unexpected argument server/h2: write --resource server/h2"],
  ])("are refused: %j", (args, message) => {
    expect(() => parseFlags(args, now)).toThrow(message);
  });
});
