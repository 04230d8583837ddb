import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { topFormats } from "../../../src/cli/flowlogs/top-formats.ts";
import { createTally, type Top } from "../../../src/diagnostics/flow-logs/top.ts";
import { flow } from "./lines.ts";

const totals = { objects: 1, records: 3, matched: 3, badLines: 0, badObjects: 0, incomplete: 0 };

function topOf(traffic: [srcaddr: string, bytes: number | bigint][], by: Top["by"] = "bytes", capacity?: number): Top {
  const tally = createTally("srcaddr", by, capacity);
  for (const [srcaddr, bytes] of traffic) tally.add(flow({ srcaddr, bytes, packets: 1 }));
  return tally.top(3);
}

describe("the top", () => {
  const traffic: [string, number][] = [
    ["10.0.0.1", 100],
    ["10.0.0.2", 600],
    ["10.0.0.1", 200],
    ["10.0.0.3", 100],
    ["10.0.0.4", 0],
  ];

  it("is by bytes, with everything that belongs to a value", () => {
    const { rows, total, dropped } = topOf(traffic);
    expect(rows).toEqual([
      { value: "10.0.0.2", bytes: 600, packets: 1, flows: 1, share: 0.6 },
      { value: "10.0.0.1", bytes: 300, packets: 2, flows: 2, share: 0.3 },
      { value: "10.0.0.3", bytes: 100, packets: 1, flows: 1, share: 0.1 },
    ]);
    expect({ total, dropped }).toEqual({ total: { bytes: 1000, packets: 5, flows: 5 }, dropped: 0 });
  });

  it("may be by flows", () => expect(topOf(traffic, "flows").rows[0]).toMatchObject({ value: "10.0.0.1", share: 0.4 }));

  it("adds up beyond 2^53 exactly", () => {
    const huge = 2n ** 64n - 1n;
    expect(
      topOf([
        ["::1", huge],
        ["::1", huge],
        ["::1", 1],
      ]).rows[0]?.bytes,
    ).toBe(2n * huge + 1n);
  });

  it("keeps whoever is large in bounded memory, and says by how much a row may be short", () => {
    const value = fc.tuple(
      fc.nat(40).map((host) => `10.0.0.${host}`),
      fc.nat(1000),
    );
    fc.assert(
      fc.property(fc.array(value, { maxLength: 400 }), (flows) => {
        const { rows, missing, dropped, total } = topOf(flows, "bytes", 8);
        const exact = new Map<string, number>();
        for (const [address, bytes] of flows) exact.set(address, (exact.get(address) ?? 0) + bytes);
        for (const row of rows) {
          if (dropped > 0) expect(Number(row.bytes)).toBeGreaterThan(Number(missing));
          const real = exact.get(String(row.value)) ?? 0;
          expect(Number(row.bytes)).toBeLessThanOrEqual(real);
          expect(real - Number(row.bytes)).toBeLessThanOrEqual(Number(missing));
        }
        const listed = new Set(rows.map((row) => row.value));
        const last = Number(rows.at(-1)?.bytes ?? 0);
        for (const [address, bytes] of exact) {
          if (!listed.has(address))
            expect(bytes).toBeLessThanOrEqual(Math.max(last, Number(missing)) + Number(missing));
        }
        expect(total.bytes).toBe(flows.reduce((sum, [, bytes]) => sum + bytes, 0));
        if (exact.size < 16) expect(dropped).toBe(0);
      }),
    );
  });
});

describe("a report", () => {
  const tops = [
    topOf([
      ["10.0.0.1", 3 * 1024 ** 2],
      ["2001:db8::1", 1024 ** 2],
      ["10.0.0.9", 1],
    ]),
  ];

  it("is a table with bars to the width of the terminal", () => {
    const lines = topFormats.table({ tops, totals }, 60).split("\n");
    expect(lines).toEqual([
      "Top srcaddr by bytes (4.0 MiB in 3 flows)",
      "SRCADDR        BYTES  PACKETS  FLOWS  SHARE",
      `10.0.0.1     3.0 MiB        1      1  75.0%  ${"█".repeat(15)}`,
      `2001:db8::1  1.0 MiB        1      1  25.0%  ${"█".repeat(5)}`,
      "10.0.0.9         1 B        1      1   0.0%  ▏",
      "",
    ]);
  });

  it("has no bars where there is no room", () => {
    expect(topFormats.table({ tops, totals }, 20)).not.toMatch(/[█▏]/);
  });

  it("names protocols", () => {
    const tally = createTally("protocol", "flows");
    for (const protocol of [6, 6, 17, 253]) tally.add(flow({ protocol }));
    const text = topFormats.table({ tops: [tally.top(5)], totals }, 80);
    expect(text).toMatch(/^TCP .*50\.0%.*\n^UDP .*\n^253 /m);
  });

  it("says what was dropped", () => {
    const many = Array.from({ length: 20 }, (_, host): [string, number] => [`10.0.0.${host}`, 2048]);
    const text = topFormats.table({ tops: [topOf([["10.9.9.9", 1e9], ...many], "bytes", 4)], totals }, 80);
    expect(text).toContain("small values dropped to save memory: a row may lack up to");
    expect(text.match(/^10\./gm)).toHaveLength(1);
  });

  it("has no ranking when every row may be short by more than it has, and says why", () => {
    const many = Array.from({ length: 20 }, (_, host): [string, number] => [`10.0.0.${host}`, 2048]);
    const top = topOf(many, "bytes", 4);
    expect(top.rows).toEqual([]);
    const text = topFormats.table({ tops: [top], totals }, 80);
    expect(text).toMatch(/^Top srcaddr.*\nNo ranking: there are too many different values of srcaddr/);
    expect(JSON.parse(topFormats.json({ tops: [top], totals }, 80)).top[0]).toMatchObject({ rows: [], ranked: false });
  });

  it("is one JSON document", () => {
    const { top, read } = JSON.parse(topFormats.json({ tops: [...tops, ...tops], totals }, 80));
    expect(top).toHaveLength(2);
    expect(top[0]).toMatchObject({ field: "srcaddr", by: "bytes", dropped: 0, missing: 0, total: { flows: 3 } });
    expect(top[0].rows[0]).toMatchObject({ value: "10.0.0.1", bytes: 3145728, packets: 1, flows: 1 });
    expect(read).toEqual(totals);
  });

  it("is CSV", () => {
    const [header, first] = topFormats.csv({ tops, totals }, 80).split("\r\n");
    expect(header).toBe("field,value,bytes,packets,flows,share");
    expect(first).toMatch(/^srcaddr,10\.0\.0\.1,3145728,1,1,0\.7499/);
  });
});
