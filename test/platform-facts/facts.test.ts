import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { named } from "./named-tests.ts";
import { facts, inFile, untestable } from "./table.ts";

describe("every fact of the platform's description", () => {
  const known = [
    ...named.map(({ fact }) => fact),
    ...Object.values(inFile).flat(),
    ...Object.keys(untestable).map(Number),
  ].sort((a, b) => a - b);

  it("is in the table once", () => {
    expect(known).toEqual(Array.from({ length: facts }, (_, nth) => nth + 1));
  });

  it.each(named)("$fact, $says: has its test", ({ file, test }) => {
    expect(existsSync(file) ? readFileSync(file, "utf8") : `there is no ${file}`).toContain(test);
  });

  it.each(Object.keys(inFile))("%s is there for the facts that name it", (file) => {
    expect(existsSync(file)).toBe(true);
  });
});
