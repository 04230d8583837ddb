import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "./processes.ts";

const page = readFileSync(join(root, "docs/security.md"), "utf8");
const claims = page
  .split("\n")
  .filter((line) => line.startsWith("| ") && !line.startsWith("| Claim"))
  .map((line) => line.slice(2, -2).split(" | "));

describe("the page about security", () => {
  it("makes claims", () => {
    expect(claims.length).toBeGreaterThan(10);
  });

  it.each(claims)("%s: there is a test for it", (_, proof = "") => {
    const [, file = "", title = ""] = /^`([^`]+\.test\.ts)` "(.+)"$/.exec(proof) ?? [];
    expect(title).not.toBe("");
    expect(readFileSync(join(root, file), "utf8")).toContain(`"${title}"`);
  });
});
