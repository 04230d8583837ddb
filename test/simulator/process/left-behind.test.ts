import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startProcess } from "../process.ts";
import { storageOf } from "../storage.ts";

let place: string;
beforeAll(() => {
  place = mkdtempSync(join(tmpdir(), "mooring-left-behind-"));
});
afterAll(() => rmSync(place, { recursive: true, force: true }));

describe("a simulator without a data directory leaves no folder behind", () => {
  it.each(["SIGINT", "SIGTERM", "SIGKILL"] as const)("after %s", async (signal) => {
    const simulator = startProcess(["--json"], { TMPDIR: place });
    const platform = await simulator.platform();
    expect(await storageOf(platform)("PUT", "/flow-logs/object", "text")).toMatchObject({ status: 200 });
    expect(readdirSync(place)).not.toEqual([]);
    simulator.kill(signal);
    await simulator.exit;
    await expect.poll(() => readdirSync(place)).toEqual([]);
  });
});
