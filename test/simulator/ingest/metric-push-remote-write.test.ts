import { compress } from "snappyjs";
import { describe, expect, it } from "vitest";
import { codes, json, protobuf, pusherFor } from "../metric-pusher.ts";
import { serviceFor } from "../pipelines.ts";
import { refusal, unfailingPlatformForFile } from "../platform.ts";
import { double, integer, message, one, type SentSeries, series, text, varint, writeRequest } from "../remote-write.ts";

const platform = await unfailingPlatformForFile();
const pipeline = await serviceFor(platform, "monitoring").made();
const { push, pushSeries, pushJson, samples } = pusherFor(platform, pipeline);

describe("remote write", () => {
  it("takes series and keeps every sample", async () => {
    const labels: SentSeries["labels"] = [
      ["__name__", "jobs_total"],
      ["instance", "a:1"],
      ["job", "ünï ☃"],
    ];
    const sent: SentSeries["samples"] = [
      [1.5, 1_700_000_000_000],
      [-2, 1_700_000_060_000],
    ];
    expect(await pushSeries({ labels, samples: sent })).toMatchObject({ status: 204, body: undefined });
    expect(await samples("jobs_total")).toEqual([
      { labels: Object.fromEntries(labels), samples: sent.map(([value, timestamp]) => ({ value, timestamp })) },
    ]);
  });

  it("passes over metadata, exemplars and fields it does not know", async () => {
    const labels: SentSeries["labels"] = [["__name__", "exotic"]];
    const exemplar = message(3, Buffer.concat([double(2, 1), integer(3, 5)]));
    const body = Buffer.concat([
      series({ labels, samples: [[1, 5]] }, exemplar, integer(99, 7)),
      series({ labels, samples: [] }, exemplar),
      message(3, text(2, "exotic")),
      Buffer.concat([varint(15 * 8 + 5), Buffer.alloc(4)]),
    ]);
    expect(await push(compress(body), protobuf)).toMatchObject({ status: 204 });
    expect(await samples("exotic")).toEqual([
      { labels: { __name__: "exotic" }, samples: [{ value: 1, timestamp: 5 }] },
    ]);
  });

  it("takes an empty request", async () => {
    expect(await pushSeries()).toMatchObject({ status: 204 });
  });

  it.each<[string, Uint8Array]>([
    ["nothing", Buffer.alloc(0)],
    ["what is not Snappy", Buffer.from("hello")],
    ["Snappy that was cut off", compress(writeRequest(one())).subarray(0, -3)],
    ["Snappy with a literal of negative length", Buffer.from([4, 0xfc, 0xff, 0xff, 0xff, 0xff, 1, 2, 3, 4])],
    ["Snappy with a copy from before the start", Buffer.from([8, 0x0e, 9, 0])],
    ["Snappy that holds no protobuf", compress(Buffer.from("not protobuf at all"))],
    ["a field of number 0", compress(Buffer.from([0x02, 0x00]))],
    ["a field longer than its message", compress(Buffer.from([0x0a, 0x05, 0x01]))],
    ["a group", compress(Buffer.from([0x0b, 0x0c]))],
    ["a series that is a number", compress(integer(1, 7))],
    ["a label that is not UTF-8", compress(message(1, message(1, message(1, Buffer.from([0xff])))))],
    ["a sample whose value is a text", compress(message(1, message(2, text(1, "x"))))],
  ])("refuses %s with 422", async (_, body) => {
    refusal(await push(body, protobuf), 422, codes.validation);
  });

  it.each<[string, SentSeries, string]>([
    ["no name", { labels: [["job", "a"]], samples: [[1, 1]] }, "no label __name__"],
    ["no labels", { labels: [], samples: [[1, 1]] }, "no label __name__"],
    [
      "unsorted labels",
      one([
        ["z", "1"],
        ["a", "1"],
      ]),
      "not sorted",
    ],
    [
      "a label twice",
      one([
        ["a", "1"],
        ["a", "2"],
      ]),
      "twice",
    ],
    ["an empty label", one([["a", ""]]), "label a"],
    ["a label name with a dash", one([["a-b", "1"]]), '"a-b"'],
    ["a metric name with a dash", { labels: [["__name__", "a-b"]], samples: [[1, 1]] }, '"a-b"'],
    ["a negative timestamp", { labels: [["__name__", "a"]], samples: [[1, -1]] }, "timestamp"],
    ["a timestamp beyond all time", { labels: [["__name__", "a"]], samples: [[1, 2 ** 60]] }, "timestamp"],
  ])("refuses %s with 422 and the reason", async (_, sent, reason) => {
    const message = refusal(await pushSeries(one([["b", "1"]]), sent), 422, codes.validation);
    expect(message).toContain("timeseries[1]");
    expect(message).toContain(reason);
  });

  it("keeps nothing of a request that it refuses", async () => {
    const named = (name: string): SentSeries => ({ labels: [["__name__", name]], samples: [[1, 1]] });
    await pushSeries(named("half"), named("a-b"));
    expect(await samples("half")).toEqual([]);
  });

  it("refuses native histograms with 422", async () => {
    const body = series(one(), message(4, Buffer.alloc(0)));
    expect(refusal(await push(compress(body), protobuf), 422, codes.validation)).toContain("native histograms");
  });
});

describe("JSON compressed with Snappy", () => {
  const shaped = (labels: object[], ...sent: object[]) => ({ timeseries: [{ labels, samples: sent }] });
  const name = { name: "__name__", value: "from_json" };

  it("takes the structure of a remote-write request", async () => {
    const body = shaped(
      [name, { name: "job", value: "a" }],
      { value: 2.5, timestamp: 1000 },
      { value: "+Inf", timestamp: 2000 },
    );
    expect(await pushJson(body)).toMatchObject({ status: 204 });
    expect(await samples("from_json")).toMatchObject([
      { labels: { __name__: "from_json", job: "a" }, samples: [{ value: 2.5, timestamp: 1000 }, { timestamp: 2000 }] },
    ]);
  });

  it.each([
    ["no object", 7, ""],
    ["no series", {}, "timeseries"],
    ["a label without value", shaped([{ name: "__name__" }]), "timeseries[0].labels[0].value"],
    [
      "a timestamp that is no number",
      shaped([name], { value: 1, timestamp: null }),
      "timeseries[0].samples[0].timestamp",
    ],
    ["a timestamp that is no whole number", shaped([name], { value: 1, timestamp: 0.5 }), "timeseries[0]"],
    ["a value that is none", shaped([name], { value: "high", timestamp: 1 }), "timeseries[0].samples[0].value"],
    ["no name", shaped([{ name: "job", value: "a" }], { value: 1, timestamp: 1 }), "__name__"],
  ])("refuses %s with 422 and the place", async (_, body, place) => {
    expect(refusal(await pushJson(body), 422, codes.validation)).toContain(place);
  });

  it("refuses what is no JSON, or not compressed, with 422", async () => {
    refusal(await push(compress(Buffer.from("{")), json), 422, codes.validation);
    refusal(await push("{}", json), 422, codes.validation);
  });
});
