import { compress } from "snappyjs";
import { describe, expect, it } from "vitest";
import { codes, plain, protobuf, pusherFor } from "../metric-pusher.ts";
import { keyIn, serviceFor } from "../pipelines.ts";
import { refusal, unfailingPlatformForFile } from "../platform.ts";
import { one, writeRequest } from "../remote-write.ts";

const platform = await unfailingPlatformForFile();
const monitoring = serviceFor(platform, "monitoring");
const pipeline = await monitoring.made();
const { push } = pusherFor(platform, pipeline);

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
