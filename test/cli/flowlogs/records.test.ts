import { isIP } from "node:net";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { endOfAddress } from "../../../src/diagnostics/flow-logs/records/address.ts";
import { add } from "../../../src/diagnostics/flow-logs/records/count.ts";
import { createRecordReader, LONGEST_LINE } from "../../../src/diagnostics/flow-logs/records/reader.ts";
import type { FlowRecord } from "../../../src/diagnostics/flow-logs/records/record.ts";
import { flow, lineOf, readAll } from "./lines.ts";

const LATEST = 253_402_300_799;
const port = fc.integer({ min: 0, max: 65_535 });
const count = fc
  .bigInt({ min: 0n, max: 2n ** 64n - 1n })
  .map((value) => (value <= Number.MAX_SAFE_INTEGER ? Number(value) : value));
const address = fc.oneof(fc.ipV4(), fc.ipV6());
const anyFlow: fc.Arbitrary<FlowRecord> = fc
  .record({
    account: fc.stringMatching(/^[\w.:-]{1,40}$/),
    interface: fc.uuid(),
    srcaddr: address,
    dstaddr: address,
    srcport: port,
    dstport: port,
    protocol: fc.integer({ min: 0, max: 255 }),
    packets: count,
    bytes: count,
    times: fc.tuple(fc.integer({ min: 0, max: LATEST }), fc.integer({ min: 0, max: LATEST })),
    action: fc.constantFrom("ACCEPT", "REJECT"),
    status: fc.constantFrom("OK", "SKIPDATA"),
  })
  .map(({ times, ...rest }) => ({ ...rest, start: Math.min(...times), end: Math.max(...times) }));

/** The bytes, cut at arbitrary positions. */
const cut = (bytes: Buffer, places: readonly number[]): Buffer[] => {
  const ends = [...places.map((place) => place % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  return ends.map((end, at) => bytes.subarray(ends[at - 1] ?? 0, end));
};
const places = fc.array(fc.nat(), { maxLength: 8 });

describe("a record", () => {
  it("is read as it was written, however it is spaced and cut", () => {
    const separator = fc.stringMatching(/^[ \t\v\f\r]{1,3}$/);
    fc.assert(
      fc.property(fc.array(anyFlow, { maxLength: 5 }), separator, fc.boolean(), places, (flows, space, ended, at) => {
        const text = flows.map((each) => lineOf(each, space)).join("\n") + (ended && flows.length > 0 ? "\n" : "");
        expect(readAll(cut(Buffer.from(text), at))).toEqual({ records: flows, bad: [] });
      }),
    );
  });

  it("may have white space around it", () => {
    expect(readAll([Buffer.from(`  ${lineOf()} \r\n`)])).toEqual({ records: [flow()], bad: [] });
  });

  const wrong: [string, string][] = [
    ["", "0 fields instead of 14"],
    [lineOf().replace(" OK", ""), "13 fields instead of 14"],
    [`${lineOf()} more`, "15 fields instead of 14"],
    [lineOf().replace("2 ", "3 "), 'version "3" is not 2'],
    [lineOf().replace("2 ", "22 "), 'version "22" is not 2'],
    [lineOf({ account: "a,b" }), 'account-id "a,b" is not an id'],
    [lineOf({ interface: "\x1b[31m" }), 'interface-id "?[31m" is not an id'],
    [lineOf({ srcaddr: "256.1.1.1" }), 'srcaddr "256.1.1.1" is not an IPv4 or IPv6 address'],
    [lineOf({ dstaddr: "1.2.3.4x" }), 'dstaddr "1.2.3.4x" is not an IPv4 or IPv6 address'],
    [lineOf({ srcport: 65_536 }), 'srcport "65536" is not a whole number from 0 to 65535'],
    [lineOf({ dstport: -1 }), 'dstport "-1" is not'],
    [lineOf().replace(" 6 ", " 06 "), 'protocol "06" is not'],
    [lineOf({ protocol: 256 }), 'protocol "256" is not a whole number from 0 to 255'],
    [lineOf({ packets: 2n ** 64n }), 'packets "18446744073709551616" is not a whole number of 64 bits'],
    [lineOf({ bytes: 1.5 }), 'bytes "1.5" is not'],
    [lineOf({ start: LATEST + 1, end: LATEST + 2 }), 'start "253402300800" is not a time'],
    [lineOf({ start: 11, end: 10 }), 'end "10" is not a time in seconds since 1970, not before start'],
    [lineOf().replace("ACCEPT", "accept"), 'action "accept" is not ACCEPT or REJECT'],
    [lineOf().replace(" OK", " OKAY"), 'log-status "OKAY" is not OK or SKIPDATA'],
    [lineOf().replace(" OK", " NODATA"), 'log-status "NODATA" is not OK or SKIPDATA'],
    [lineOf({ account: `${"9".repeat(60)}!` }), `account-id "${"9".repeat(40)}…" is not`],
  ];
  it.each(wrong)("is not %j", (line, reason) => {
    const { records, bad } = readAll([Buffer.from(`${lineOf()}\n${line}\n${lineOf()}\n`)]);
    expect(records).toHaveLength(2);
    expect(bad).toEqual([expect.stringContaining(`2: ${reason}`)]);
  });
});

describe("any input", () => {
  const soup = fc.oneof(
    fc.uint8Array({ maxLength: 400 }).map((bytes) => Buffer.from(bytes)),
    fc
      .array(fc.constantFrom("2", " ", "\n", "1.2.3.4", "::", "ACCEPT", "OK", "0", "\0", lineOf(), `${lineOf()}\n`))
      .map((parts) => Buffer.from(parts.join(""))),
  );

  it("each line is either a record or bad, and none is lost", () => {
    fc.assert(
      fc.property(soup, places, (bytes, at) => {
        const { records, bad } = readAll(cut(bytes, at));
        const ends = bytes.filter((byte) => byte === 0x0a).length;
        const unended = bytes.length > 0 && bytes.at(-1) !== 0x0a ? 1 : 0;
        expect(records.length + bad.length).toBe(ends + unended);
      }),
    );
  });

  it("the line after it is read", () => {
    fc.assert(
      fc.property(soup, places, (bytes, at) => {
        const { records } = readAll(cut(Buffer.concat([bytes, Buffer.from(`\n${lineOf({ srcport: 7 })}\n`)]), at));
        expect(records.at(-1)).toEqual(flow({ srcport: 7 }));
      }),
    );
  });

  it.each([[[]], [[1]], [[5000]], [[4096, 4097]]])("a line that is too long is bad, cut at %j", (at) => {
    const exact = lineOf() + " ".repeat(LONGEST_LINE - lineOf().length);
    const text = `${exact}\n${exact} \n${"x".repeat(100_000)}\n${lineOf()}\n`;
    const { records, bad } = readAll(cut(Buffer.from(text), at));
    expect(records).toHaveLength(2);
    expect(bad).toEqual(["2: it is longer than 4096 bytes", "3: it is longer than 4096 bytes"]);
  });

  it("an object that broke off leaves nothing to the next", () => {
    const lines: number[] = [];
    let records = 0;
    const reader = createRecordReader({ record: () => records++, bad: (line) => lines.push(line) });
    reader.push(Buffer.from(`${lineOf()}\n${lineOf().slice(0, 50)}`));
    reader.abandon();
    reader.push(Buffer.from(`${lineOf()}\nbad\n`));
    reader.end();
    expect({ records, lines }).toEqual({ records: 2, lines: [2] });
  });
});

describe("an address", () => {
  const is = (text: string) => endOfAddress(Buffer.from(`${text} `), 0) === text.length;

  it("is what Node.js takes for one", () => {
    const nearly = fc.array(fc.constantFrom("1", "0", "25", "255", "256", "f", "ffff", ".", ":", "::"), {
      maxLength: 18,
    });
    fc.assert(
      fc.property(
        fc.oneof(
          address,
          nearly.map((parts) => parts.join("")),
        ),
        (text) => {
          expect(is(text)).toBe(isIP(text) !== 0);
        },
      ),
      { numRuns: 2000 },
    );
  });

  it.each(["::", "::1", "1::", "::ffff:1.2.3.4", "1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:8", "1:2:3:4:5:6:1.2.3.4"])(
    "may be %s",
    (text) => expect(is(text)).toBe(true),
  );

  it.each(["", ":", ":::", "1:", ":1", "1::2::3", "1:2:3:4:5:6:7:8:9", "1::2:3:4:5:6:7:8", "::1.2.3", "fe80::1%eth0"])(
    "is not %j",
    (text) => expect(is(text)).toBe(false),
  );
});

describe("a count", () => {
  it("is exact, whatever it is added to", () => {
    fc.assert(
      fc.property(count, count, (left, right) => {
        expect(BigInt(add(left, right))).toBe(BigInt(left) + BigInt(right));
      }),
    );
  });
});
