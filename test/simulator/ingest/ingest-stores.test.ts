import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createLines, mostBytes, mostLines } from "../../../src/simulator/telemetry/lines.ts";
import { createSamples, mostSamples, mostSeries } from "../../../src/simulator/telemetry/samples.ts";

const series = (name: string, ...times: number[]) => ({
  labels: { __name__: name },
  samples: times.map((timestamp) => ({ timestamp, value: timestamp * 2 })),
});
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index);

describe("samples", () => {
  it("are read in order of their time, whatever order they came in, each instant once", () => {
    fc.assert(
      fc.property(fc.array(fc.array(fc.integer({ min: 0, max: 50 }))), (batches) => {
        const samples = createSamples();
        for (const times of batches) samples.add("p", [series("m", ...times)]);
        const times = [...new Set(batches.flat())].sort((a, b) => a - b);
        expect(samples.read("p")).toEqual(times.length === 0 ? [] : [series("m", ...times)]);
        expect(samples.newest("p") ?? Number.NEGATIVE_INFINITY).toBe(times.at(-1) ?? Number.NEGATIVE_INFINITY);
      }),
    );
  });

  it("keep the first value of an instant", () => {
    const samples = createSamples();
    samples.add("p", [series("m", 1)]);
    samples.add("p", [{ labels: { __name__: "m" }, samples: [{ timestamp: 1, value: 7 }] }]);
    expect(samples.read("p")).toEqual([series("m", 1)]);
  });

  it("belong to one series whatever the order of its labels", () => {
    const samples = createSamples();
    samples.add("p", [{ labels: { __name__: "m", a: "1" }, samples: [{ timestamp: 1, value: 1 }] }]);
    samples.add("p", [{ labels: { a: "1", __name__: "m" }, samples: [{ timestamp: 2, value: 2 }] }]);
    expect(samples.counts("p")).toMatchObject({ series: 1, samples: 2 });
  });

  it("are found by name, by time and by pipeline, and forgotten with it", () => {
    const samples = createSamples();
    samples.add("p", [series("a", 1, 2, 3), series("b", 1)]);
    samples.add("other", [series("c", 9)]);
    expect(samples.read("p", { name: "a" })).toEqual([series("a", 1, 2, 3)]);
    expect(samples.read("p", { since: 2 })).toEqual([series("a", 2, 3)]);
    expect(samples.read("p", { since: 2, until: 2 })).toEqual([series("a", 2)]);
    samples.forget("p");
    expect(samples.read("p")).toEqual([]);
    expect(samples.counts("p")).toEqual({ series: 0, samples: 0, droppedSeries: 0, droppedSamples: 0 });
    expect(samples.read("other")).toHaveLength(1);
  });

  it("are read as few as asked for, in order, with the peaks among them", () => {
    const shape = fc.array(fc.integer({ min: -99, max: 99 }), { minLength: 1, maxLength: 200 });
    fc.assert(
      fc.property(shape, fc.integer({ min: 2, max: 50 }), (values, most) => {
        const samples = createSamples();
        const all = values.map((value, timestamp) => ({ value, timestamp }));
        samples.add("p", [{ labels: { __name__: "m" }, samples: all }]);
        const read = samples.read("p", { most }).flatMap((each) => each.samples);
        expect(read.length).toBeLessThanOrEqual(most);
        expect(all.filter((sample) => read.some(({ timestamp }) => timestamp === sample.timestamp))).toEqual(read);
        const peaks = (list: { value: number }[]) => [Math.min, Math.max].map((of) => of(...list.map((s) => s.value)));
        expect(peaks(read)).toEqual(peaks(all));
      }),
    );
  });

  it("beyond the bound push out the oldest of their series, and are counted", () => {
    const samples = createSamples();
    samples.add("p", [series("m", ...upTo(mostSamples + 5))]);
    expect(samples.counts("p")).toMatchObject({ samples: mostSamples, droppedSamples: 5 });
    samples.add("p", [series("m", -1)]);
    expect(samples.read("p")[0]?.samples[0]).toMatchObject({ timestamp: 5 });
    expect(samples.counts("p")).toMatchObject({ samples: mostSamples, droppedSamples: 6 });
  });

  it("of one series too many push out the series that has been silent for longest", () => {
    const samples = createSamples();
    samples.add(
      "p",
      upTo(mostSeries).map((index) => series(`m${index}`, 1)),
    );
    samples.add("p", [series("m0", 2)]);
    samples.add("p", [series("new", 1)]);
    expect(samples.read("p", { name: "m0" })).toHaveLength(1);
    expect(samples.read("p", { name: "m1" })).toEqual([]);
    expect(samples.counts("p")).toEqual({
      series: mostSeries,
      samples: mostSeries + 1,
      droppedSeries: 1,
      droppedSamples: 1,
    });
  });
});

describe("lines", () => {
  const forEver = { now: () => 0, keeps: () => Number.POSITIVE_INFINITY };
  const line = (n: number, tag = "app") => ({ tag, at: n, record: { n } });

  it("are read in order of arrival, by tag, by time, and the newest of many", () => {
    const lines = createLines(forEver);
    lines.add("p", [line(2), line(1, "db"), line(3)]);
    expect(lines.read("p")).toEqual([line(2), line(1, "db"), line(3)]);
    expect(lines.read("p", { tag: "app" })).toEqual([line(2), line(3)]);
    expect(lines.read("p", { since: 2 })).toEqual([line(2), line(3)]);
    expect(lines.read("p", { limit: 1 })).toEqual([line(3)]);
    expect(lines.read("other")).toEqual([]);
  });

  it("beyond the bound push out the oldest, and are counted", () => {
    const lines = createLines(forEver);
    lines.add(
      "p",
      upTo(mostLines + 3).map((n) => line(n)),
    );
    expect(lines.counts("p")).toMatchObject({ lines: mostLines, dropped: 3 });
    expect(lines.read("p")[0]).toEqual(line(3));
  });

  it("are bounded by their size too, even a single one", () => {
    const lines = createLines(forEver);
    const long = { tag: "app", at: 1, record: { text: "x".repeat(mostBytes / 2) } };
    lines.add("p", [long, long]);
    expect(lines.counts("p")).toMatchObject({ lines: 1, dropped: 1 });
    lines.add("p", [{ ...long, record: { text: "x".repeat(mostBytes) } }]);
    expect(lines.counts("p")).toMatchObject({ lines: 0, bytes: 0, dropped: 3 });
  });

  it("of several pipelines are the newest by arrival, whatever time they tell", () => {
    const lines = createLines(forEver);
    lines.add("p", [line(9), line(8)]);
    lines.add("q", [line(1), line(2, "db")]);
    lines.add("p", [line(7)]);
    const newest = (filter: { tag?: string; limit: number }) =>
      lines.newest(["p", "q"], filter).map(({ pipelineId, at }) => `${pipelineId}${at}`);
    expect(newest({ limit: 4 })).toEqual(["p7", "q2", "q1", "p8"]);
    expect(newest({ limit: 2, tag: "app" })).toEqual(["p7", "q1"]);
  });

  it("that are refused are counted, with the last reason, and forgotten with the pipeline", () => {
    const lines = createLines(forEver);
    lines.refuse("p", 2, "first");
    lines.refuse("p", 1, "last");
    expect(lines.counts("p")).toMatchObject({ lines: 0, refused: { count: 3, reason: "last" } });
    lines.forget("p");
    expect(lines.counts("p")).toMatchObject({ refused: { count: 0, reason: null } });
  });
});
