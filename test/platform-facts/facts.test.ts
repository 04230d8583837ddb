import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { facts, proofs, untestable } from "./table.ts";
import { titlesIn } from "./titles.ts";

const files = new Set(proofs.map(([, , file]) => file));
const titles = new Map([...files].map((file) => [file, existsSync(file) ? titlesIn(readFileSync(file, "utf8")) : []]));
const named = proofs.map(([fact, says, file, title, ...rows]) => ({ fact, says, file, title, rows }));

describe("every fact of the platform's description", () => {
  it("is in the table once", () => {
    const known = [...named.map(({ fact }) => fact), ...Object.keys(untestable).map(Number)];
    expect(known.sort((a, b) => a - b)).toEqual(Array.from({ length: facts }, (_, nth) => nth + 1));
  });

  it.each(named)("$fact, $says: has its test in $file", ({ file, title, rows }) => {
    const found = titles
      .get(file)
      ?.filter((each) => each.title.includes(title) && rows.every((row) => each.rows.has(row)));
    expect(found, `tests in ${file}: ${[title, ...rows].join(", ")}`).toHaveLength(1);
  });
});
