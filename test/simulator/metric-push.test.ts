import fc from "fast-check";
import { compress } from "snappyjs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { Refusal } from "../../src/simulator/http/refusal.ts";
import { readExposition } from "../../src/simulator/pipelines/push/exposition.ts";
import { decodeWriteRequest } from "../../src/simulator/pipelines/push/remote-write.ts";
import { accepted, readJson } from "../../src/simulator/pipelines/push/series.ts";
import { uncompressed } from "../../src/simulator/pipelines/push/snappy.ts";
import { keyIn, serviceFor } from "./pipelines.ts";
import { type Answer, type Platform, refusal, startPlatform } from "./platform.ts";
import { double, integer, message, type SentSeries, series, text, varint, writeRequest } from "./remote-write.ts";

let platform: Platform;
let monitoring: ReturnType<typeof serviceFor>;
let pipeline: Awaited<ReturnType<typeof monitoring.made>>;
const failures: unknown[] = [];
beforeAll(async () => {
  platform = await startPlatform({ onError: (where, error) => failures.push({ where, error }) });
  monitoring = serviceFor(platform, "monitoring");
  pipeline = await monitoring.made();
});
afterAll(async () => {
  await platform.close();
  expect(failures).toEqual([]);
});

const codes = { validation: "paas-monitoring-100", unauthorized: "paas-monitoring-315", denied: "paas-monitoring-451" };
const protobuf = { "content-type": "application/x-protobuf", "content-encoding": "snappy" };
const json = { "content-type": "application/json", "content-encoding": "snappy" };
const plain = { "content-type": "text/plain; version=0.0.4; charset=utf-8" };

function push(raw: string | Uint8Array, headers: Record<string, string>, to = pipeline): Promise<Answer> {
  const path = new URL(`${to.endpoint}/api/v1/push`).pathname;
  const body = typeof raw === "string" ? raw : new Uint8Array(raw);
  return platform.call("POST", path, undefined, {
    authorization: null,
    raw: body,
    headers: { apikey: to.key, ...headers },
  });
}
const pushSeries = (...all: SentSeries[]) => push(compress(writeRequest(...all)), protobuf);
const pushJson = (value: unknown) => push(compress(Buffer.from(JSON.stringify(value))), json);

const kept = z.object({
  items: z.array(
    z.object({
      labels: z.record(z.string(), z.string()),
      samples: z.array(z.object({ value: z.number().nullable(), timestamp: z.number() })),
    }),
  ),
});
const samples = async (name: string, of = pipeline) =>
  kept.parse(await platform.steer("GET", `samples?pipeline=${of.id}&name=${name}`)).items;

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
  ])("refuses %s with 400", async (_, body) => {
    refusal(await push(body, protobuf), 400, codes.validation);
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

  it("refuses what is no JSON, or not compressed, with 400", async () => {
    refusal(await push(compress(Buffer.from("{")), json), 400, codes.validation);
    refusal(await push("{}", json), 400, codes.validation);
  });
});

describe("the text exposition format", () => {
  it("takes counters, gauges, histograms and summaries", async () => {
    const body = `# HELP hits_total How often \\n it was hit.
# TYPE hits_total counter
hits_total{code="200",path="C:\\\\dir\\n\\"x\\""} 1027 1395066363000
hits_total{code="400",} 3 1395066363000
# just a comment
# TYPE heat gauge
heat{site=""} -Inf

# TYPE latency histogram
latency_bucket{le="0.05"} 24054
latency_bucket{le="+Inf"} 144320
latency_sum 53423
latency_count 144320
# TYPE rpc summary
rpc{quantile="0.5"} 4.773e+03
rpc_sum 1.7560473e+07
rpc_count 2693
  untyped_thing   .5
`;
    expect(await push(body, plain)).toMatchObject({ status: 204 });
    const at = { value: 1027, timestamp: 1395066363000 };
    expect(await samples("hits_total")).toMatchObject([
      { labels: { __name__: "hits_total", code: "200", path: 'C:\\dir\n"x"' }, samples: [at] },
      { labels: { __name__: "hits_total", code: "400" }, samples: [{ value: 3 }] },
    ]);
    expect(await samples("latency_bucket")).toMatchObject([{ labels: { le: "0.05" } }, { labels: { le: "+Inf" } }]);
    expect(await samples("rpc")).toMatchObject([{ labels: { quantile: "0.5" }, samples: [{ value: 4773 }] }]);
    expect(await samples("heat")).toMatchObject([{ labels: { __name__: "heat" } }]);
    expect(await samples("untyped_thing")).toMatchObject([{ samples: [{ value: 0.5 }] }]);
  });

  it("gives samples without a timestamp the platform's time", async () => {
    const now = z.looseObject({ now: z.string() });
    const before = Date.parse(now.parse(await platform.steer("GET", "state")).now);
    await push("up 1\n", plain);
    const after = Date.parse(now.parse(await platform.steer("GET", "state")).now);
    const timestamp = (await samples("up"))[0]?.samples[0]?.timestamp;
    expect(timestamp).toBeGreaterThanOrEqual(before);
    expect(timestamp).toBeLessThanOrEqual(after);
  });

  it("is taken compressed with Snappy too, and empty", async () => {
    expect(await push(compress(Buffer.from("zipped 1\n")), { ...plain, "content-encoding": "snappy" })).toMatchObject({
      status: 204,
    });
    expect(await samples("zipped")).toHaveLength(1);
    expect(await push("", plain)).toMatchObject({ status: 204 });
  });

  it.each([
    ["no value", "up\n", 1],
    ["a value that is none", "ok 1\nup one\n", 2],
    ["a name that is none", "1up 1\n", 1],
    ["labels without end", 'up{a="b" 1\n', 1],
    ["a label without quotes", "up{a=b} 1\n", 1],
    ["a label without value", "up{a} 1\n", 1],
    ["labels without comma", 'up{a="1" b="2"} 1\n', 1],
    ["a label twice", 'up{a="1",a="2"} 1\n', 1],
    ["a name as label", 'up{__name__="x"} 1\n', 1],
    ["an unknown escape", 'up{a="\\t"} 1\n', 1],
    ["a timestamp that is none", "up 1 now\n", 1],
    ["something behind the timestamp", "up 1 2 3\n", 1],
    ["an unknown type", "\n# TYPE up meter\nup 1\n", 2],
    ["a second type", "# TYPE up gauge\n# TYPE up gauge\n", 2],
    ["a second help", "# HELP up a\n# HELP up b\n", 2],
    ["a type without a name", "# TYPE\n", 1],
    ["a type after the samples", "up 1\n# TYPE up gauge\n", 2],
    ["no line feed at the end", "ok 1\nup 1", 2],
    ["a carriage return", "up 1\r\n", 1],
  ])("refuses %s with 400 and the line", async (_, body, line) => {
    expect(refusal(await push(body, plain), 400, codes.validation)).toContain(`line ${line}:`);
  });

  it.each([
    ["the same sample twice", 'up{a="1",b="2"} 1\nup{b="2",a="1"} 2\n', 2],
    ["a bucket without bound", "# TYPE t histogram\nt_bucket 1\n", 2],
    ["a bucket with a bound that is no number", '# TYPE t histogram\nt_bucket{le="x"} 1\n', 2],
    ["a bare sample of a histogram", "# TYPE t histogram\nt 1\n", 2],
    ["a summary without quantile", "# TYPE t summary\nt 1\n", 2],
  ])("refuses %s with 422 and the line", async (_, body, line) => {
    expect(refusal(await push(body, plain), 422, codes.validation)).toContain(`line ${line}:`);
  });

  it("refuses what is not UTF-8 with 400", async () => {
    refusal(await push(Buffer.from([0x75, 0x70, 0xff, 0x0a]), plain), 400, codes.validation);
  });
});

describe("other formats", () => {
  it.each<[string, Record<string, string>]>([
    ["protobuf that is not compressed", { "content-type": "application/x-protobuf" }],
    ["protobuf compressed with gzip", { ...protobuf, "content-encoding": "gzip" }],
    [
      "version 2 of remote write",
      { ...protobuf, "content-type": "application/x-protobuf;proto=io.prometheus.write.v2.Request" },
    ],
    ["JSON that is not compressed", { "content-type": "application/json" }],
    ["forms", { "content-type": "application/x-www-form-urlencoded" }],
    ["a body of no type", { "content-type": "" }],
  ])("are refused with 415 and what is taken: %s", async (_, headers) => {
    expect(refusal(await push("x", headers), 415, codes.validation)).toContain("text/plain");
  });

  it("name version 1 of remote write as they like", async () => {
    const named = { ...protobuf, "content-type": "application/x-protobuf;proto=prometheus.WriteRequest" };
    expect(await push(compress(writeRequest(one())), named)).toMatchObject({ status: 204 });
  });

  it("of more than 4 MiB are refused with 413, by what they are when uncompressed", async () => {
    const large = Buffer.alloc(4 * 1024 * 1024 + 1, "#");
    large.write("\n", large.length - 1);
    refusal(await push(large, plain), 413, codes.validation);
    refusal(await push(compress(large), { ...plain, "content-encoding": "snappy" }), 413, codes.validation);
    refusal(await push(Buffer.alloc(6 * 1024 * 1024), protobuf), 413, codes.validation);
    expect(await push(large.subarray(1), plain)).toMatchObject({ status: 204 });
  });
});

describe("the key", () => {
  const up = (headers: Record<string, string>, to = pipeline) =>
    platform.call("POST", new URL(`${to.endpoint}/api/v1/push`).pathname, undefined, {
      authorization: null,
      raw: "up 1\n",
      headers: { ...plain, ...headers },
    });

  it("comes as APIKEY or as bearer token, also while the pipeline is PROVISIONING", async () => {
    expect(await up({ APIKEY: pipeline.key })).toMatchObject({ status: 204 });
    expect(await up({ authorization: `Bearer ${pipeline.key}` })).toMatchObject({ status: 204 });
    await monitoring.call("PUT", pipeline.path, { properties: { name: "busy" } });
    expect(await up({ APIKEY: pipeline.key })).toMatchObject({ status: 204 });
  });

  it("is needed: 401 without it, with a wrong one, and with a token of the platform", async () => {
    const { token } = platform.ready;
    const all = [
      {},
      { apikey: "wrong" },
      { apikey: "" },
      { authorization: `Bearer ${token}` },
      { authorization: "Basic eDp5" },
    ];
    for (const headers of all) refusal(await up(headers), 401, codes.unauthorized);
  });

  it("of another pipeline is refused with 403, that of a log pipeline with 401", async () => {
    const other = await monitoring.made();
    refusal(await up({ apikey: other.key }), 403, codes.denied);
    const logs = await serviceFor(platform, "logging").made();
    refusal(await up({ apikey: logs.key }), 401, codes.unauthorized);
  });

  it("that was replaced stops working at once, and the new one works", async () => {
    const own = await monitoring.made();
    const renewed = keyIn(await monitoring.call("POST", `${own.path}/key`, {}));
    refusal(await up({ apikey: own.key }, own), 401, codes.unauthorized);
    expect(await up({ apikey: renewed }, own)).toMatchObject({ status: 204 });
  });

  it("of a pipeline that is being deleted is of no use any more", async () => {
    const own = await monitoring.made();
    await monitoring.call("DELETE", own.path);
    refusal(await up({ apikey: own.key }, own), 401, codes.unauthorized);
  });
});

describe("whatever arrives", () => {
  /** The decoders throw nothing but refusals. */
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

/** A good series with further labels. */
function one(labels: SentSeries["labels"] = []): SentSeries {
  return { labels: [["__name__", "good"], ...labels], samples: [[1, 1]] };
}
