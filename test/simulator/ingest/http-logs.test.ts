import { beforeEach, describe, expect, it } from "vitest";
import { receivedBy } from "../forward-sender.ts";
import { keyIn, serviceFor, stream } from "../pipelines.ts";
import { refusal, resource, unfailingPlatformForFile } from "../platform.ts";

const platform = await unfailingPlatformForFile();
const logging = serviceFor(platform, "logging");

let pipeline: Awaited<ReturnType<typeof logging.made>>;
beforeEach(async () => {
  pipeline = await logging.made({ logs: [stream({ tag: "web", source: "generic", protocol: "http" }), stream()] });
});

const codes = { validation: "paas-logging-100", missing: "paas-logging-309" };
const json = { "content-type": "application/json" };

function ship(raw: string, { tag = "web", headers = {}, id = pipeline.id, key = pipeline.key } = {}) {
  const path = `/ingest/logs/${id}/${tag}`;
  return platform.call("POST", path, undefined, {
    authorization: null,
    raw,
    headers: { apikey: key, ...json, ...headers },
  });
}
const records = async (query = "") =>
  (await receivedBy(platform, pipeline.id, query)).items.map(({ record }) => record);

describe("lines over HTTP", () => {
  it("go to the address that the pipeline tells, as one object or as many", async () => {
    const { httpAddress } = resource(await logging.call("GET", pipeline.path)).properties;
    expect(httpAddress).toBe(`${platform.ready.endpoints.api}/ingest/logs/${pipeline.id}`);
    expect(await ship('{"message":"one","fields":{"n":[1,null]}}')).toMatchObject({ status: 204, body: undefined });
    expect(await ship('[{"message":"two"},{"message":"three"}]')).toMatchObject({ status: 204 });
    expect(await records()).toEqual([
      { message: "one", fields: { n: [1, null] } },
      { message: "two" },
      { message: "three" },
    ]);
    expect(await records("&limit=1")).toEqual([{ message: "three" }]);
    expect(await records("&tag=k8s")).toEqual([]);
  });

  it("are gone when the retention of their log is over, by the clock of the platform", async () => {
    const http = { source: "generic", protocol: "http" };
    const short = stream({ ...http, tag: "short", retentionInDays: 7 });
    const forEver = stream({ ...http, tag: "kept", retentionInDays: "unlimited" });
    pipeline = await logging.made({ logs: [short, forEver] });
    for (const tag of ["short", "kept"]) await ship(`{"of":"${tag}"}`, { tag });
    await platform.advance(6 * 86_400);
    expect(await records()).toEqual([{ of: "short" }, { of: "kept" }]);
    await platform.advance(86_400);
    const longer = { properties: { logs: [{ ...short, retentionInDays: 30 }, forEver] } };
    expect(await logging.call("PATCH", pipeline.path, longer)).toMatchObject({ status: 200 });
    expect(await records()).toEqual([{ of: "kept" }]);
    expect(await receivedBy(platform, pipeline.id)).toMatchObject({ lines: 1, dropped: 0 });
  });

  it("may bring the key as bearer token", async () => {
    const headers = { authorization: `Bearer ${pipeline.key}` };
    const answer = await fetch(`${platform.ready.endpoints.api}/ingest/logs/${pipeline.id}/web`, {
      method: "POST",
      headers: { ...json, ...headers },
      body: '{"message":"bearer"}',
    });
    expect(answer.status).toBe(204);
    expect(await records()).toEqual([{ message: "bearer" }]);
  });

  it.each(["text/plain", "application/x-ndjson", "application/msgpack"])("as %s are 415", async (type) => {
    refusal(await ship('{"message":"x"}', { headers: { "content-type": type } }), 415, codes.validation);
  });

  it("that are compressed are 415", async () => {
    refusal(await ship("{}", { headers: { "content-encoding": "gzip" } }), 415, codes.validation);
  });

  it.each(["", "{", "message", '{"a":1}{"b":2}'])("that are no JSON are 422: %o", async (body) => {
    refusal(await ship(body), 422, codes.validation);
  });

  it.each(["7", '"text"', "null", "[7]", '[{"a":1},null]', `{"a":${"[".repeat(200)}${"]".repeat(200)}}`])(
    "that are JSON but no records are 422: %o",
    async (body) => {
      refusal(await ship(body), 422, codes.validation);
      expect(await records()).toEqual([]);
    },
  );

  it("of more than four MiB are 413", async () => {
    refusal(await ship(JSON.stringify({ message: "x".repeat(4 * 1024 * 1024) })), 413, codes.validation);
  });

  it.each([
    ["nowhere", 'no log with the tag "nowhere"'],
    ["k8s", 'the log "k8s" takes tcp, not http'],
  ])("with the tag %s are 404 and counted", async (tag, reason) => {
    expect(refusal(await ship('[{"n":1},{"n":2}]', { tag }), 404, codes.missing)).toContain(reason);
    const { lines, refused } = await receivedBy(platform, pipeline.id);
    expect({ lines, ...refused }).toEqual({ lines: 0, count: 2, reason: expect.stringContaining(reason) });
  });

  it("without a key, with a wrong one or with a replaced one are 401", async () => {
    refusal(await ship("{}", { key: "wrong" }), 401, "paas-logging-315");
    const bare = await platform.call("POST", `/ingest/logs/${pipeline.id}/web`, {}, { authorization: null });
    refusal(bare, 401, "paas-logging-315");
    const key = keyIn(await logging.call("POST", `${pipeline.path}/key`, {}));
    refusal(await ship("{}"), 401, "paas-logging-315");
    expect(await ship("{}", { key })).toMatchObject({ status: 204 });
  });

  it("with the key of another pipeline are 403", async () => {
    const other = await logging.made();
    refusal(await ship("{}", { key: other.key }), 403, "paas-logging-451");
  });
});

describe("reading back", () => {
  it.each([
    ["lines", "pipeline"],
    ["lines?pipeline=none", "pipeline"],
    ["samples?pipeline=none", "pipeline"],
    ["lines?pipeline=none&since=noon", "since"],
    ["samples?pipeline=none&limit=5", "limit"],
  ])("%s is refused with the field: %s", async (path, field) => {
    expect(refusal(await platform.call("GET", `/_simulator/${path}`), 422, "100")).toContain(field);
  });

  it("gives the lines since an instant", async () => {
    await ship('{"n":1}');
    await platform.advance(60);
    await ship('{"n":2}');
    const [, second] = (await receivedBy(platform, pipeline.id)).items;
    expect(await records(`&since=${second?.at}`)).toEqual([{ n: 2 }]);
  });
});
