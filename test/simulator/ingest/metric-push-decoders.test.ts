import fc from "fast-check";
import { compress } from "snappyjs";
import { describe, expect, it } from "vitest";
import { Refusal } from "../../../src/simulator/http/refusal.ts";
import { readExposition } from "../../../src/simulator/ingest/push/exposition.ts";
import { decodeWriteRequest } from "../../../src/simulator/ingest/push/remote-write.ts";
import { accepted, readJson } from "../../../src/simulator/ingest/push/series.ts";
import { uncompressed } from "../../../src/simulator/ingest/push/snappy.ts";
import { one, writeRequest } from "../remote-write.ts";

describe("any input", () => {
  /** The decoders throw only refusals. */
  function calm(work: () => unknown): void {
    try {
      work();
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      expect([400, 413, 422]).toContain(error.status);
    }
  }
  const bytes = fc.uint8Array({ maxLength: 200 });

  it("is never more than refused", () => {
    fc.assert(
      fc.property(bytes, (soup) => {
        calm(() => uncompressed(soup, 1_000_000));
        calm(() => accepted(decodeWriteRequest(Buffer.from(soup))));
        calm(() => readExposition(Buffer.from(soup).toString("latin1"), 0));
      }),
      { numRuns: 2000 },
    );
    fc.assert(fc.property(fc.json(), (value) => calm(() => accepted(readJson(value)))));
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'a{}=",\\n 1#\n') }), (value) =>
        calm(() => readExposition(value, 0)),
      ),
      {
        numRuns: 2000,
      },
    );
  });

  it("is never more than refused when a good request is damaged", () => {
    const good = compress(writeRequest(one([["a", "1"]]), one()));
    const place = fc.record({ at: fc.nat(good.length - 1), byte: fc.nat(255) });
    fc.assert(
      fc.property(fc.array(place, { minLength: 1, maxLength: 3 }), (changes) => {
        const damaged = Buffer.from(good);
        for (const { at, byte } of changes) damaged[at] = byte;
        calm(() => accepted(decodeWriteRequest(uncompressed(damaged, 1_000_000))));
      }),
      { numRuns: 2000 },
    );
  });

  it("is refused as fast when it is long, and told of in short", () => {
    const most = 4_000_000;
    for (const line of [`up ${"1".repeat(most)}x`, `up{a="${"\\\\".repeat(most / 2)}`, `up 1 ${" ".repeat(most)}x`]) {
      expect(() => readExposition(`${line}\n`, 0)).toThrow(/^.{1,400}$/);
    }
  });

  it("comes out of Snappy as it went in", () => {
    const repetitive = fc
      .array(fc.uint8Array({ minLength: 1, maxLength: 40 }), { maxLength: 5 })
      .chain((words) =>
        fc
          .array(fc.constantFrom(...words, new Uint8Array([7])), { maxLength: 400 })
          .map((parts) => Buffer.concat(parts)),
      );
    fc.assert(
      fc.property(repetitive, (given) => {
        expect(uncompressed(compress(given), given.length)).toEqual(given);
      }),
    );
  });

  it("comes out of protobuf as it went in", () => {
    const sent = fc.record({
      labels: fc.array(fc.tuple(fc.string(), fc.string())),
      samples: fc.array(fc.tuple(fc.double(), fc.maxSafeNat())),
    });
    fc.assert(
      fc.property(fc.array(sent), (all) => {
        expect(decodeWriteRequest(writeRequest(...all))).toEqual(
          all.map(({ labels, samples }) => ({
            labels: labels.map(([name, value]) => ({ name, value })),
            samples: samples.map(([value, timestamp]) => ({ value, timestamp })),
          })),
        );
      }),
    );
  });
});
