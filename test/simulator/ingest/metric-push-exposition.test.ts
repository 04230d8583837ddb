import { compress } from "snappyjs";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { codes, plain, pusherFor } from "../metric-pusher.ts";
import { serviceFor } from "../pipelines.ts";
import { refusal, unfailingPlatformForFile } from "../platform.ts";

const platform = await unfailingPlatformForFile();
const pipeline = await serviceFor(platform, "monitoring").made();
const { push, samples } = pusherFor(platform, pipeline);

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
  ])("refuses %s with 422 and the line", async (_, body, line) => {
    expect(refusal(await push(body, plain), 422, codes.validation)).toContain(`line ${line}:`);
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

  it("refuses what is not UTF-8 with 422", async () => {
    refusal(await push(Buffer.from([0x75, 0x70, 0xff, 0x0a]), plain), 422, codes.validation);
  });
});
