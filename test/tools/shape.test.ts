import { describe, expect, it } from "vitest";
import { usage, utilization } from "../../src/tools/shape/billing.ts";
import { eventOf, isEventWanted } from "../../src/tools/shape/events.ts";
import { withoutSecrets } from "../../src/tools/shape/secrets.ts";
import { fromXml } from "../../src/tools/shape/xml.ts";

// With a pattern of quadratic time, it would take minutes.
it("a text of many beginnings of tokens is not a token", () => {
  const text = "-eyJ".repeat(64_000);
  expect(withoutSecrets(text)).toBe(text);
});

describe("no result shows", () => {
  const pem = "-----BEGIN RSA PRIVATE KEY-----\ncanary\n-----END RSA PRIVATE KEY-----";
  const jwt = "eyJhbGciOiJSUzI1NiJ9.eyJpZGVudGl0eSI6MX0.canary-signature";
  it.each<[string, unknown]>([
    ["a private key", { properties: { privateKey: "canary" } }],
    ["a private key in a text", { text: `before ${pem} after` }],
    ["a private key that is cut off", pem.slice(0, 40)],
    ["the secret of an access key", { items: [{ properties: { accessKey: "a", secretKey: "canary" } }] }],
    ["the secret of an ACME account", { externalAccountBinding: { keyId: "a", keySecret: "canary" } }],
    [
      "a password, however it is written",
      [{ password: "canary" }, { image_password: "canary" }, { imagePassword: "canary" }],
    ],
    ["a token", { token: "canary", access_token: "canary", Authorization: "canary" }],
    ["a token in a message", `the token ${jwt} was refused`],
    ["a header in a message", "Authorization: Bearer canary-canary"],
    ["a token in an address", { url: "https://console.example/?a=1&token=canary&b=2" }],
    ["a signature in an address", "https://s3.example/x?X-Amz-Signature=canary"],
    ["a password in an address", "https://me:canary@example.org/"],
    ["a body inside of a request", { body: '{"properties":{"imagePassword":"canary","name":"web"}}' }],
    ["user data", { properties: { userData: "canary" } }],
    ["a kubeconfig", { kubeconfig: { users: [{ user: "canary" }] } }],
  ])("%s", (_, value) => {
    expect(JSON.stringify(withoutSecrets(value))).not.toContain("canary");
  });

  it("less than all the rest", () => {
    const rest = {
      id: "a",
      tokens: 3,
      keyId: "k",
      accessKey: "a",
      name: "token of the shop",
      enabled: true,
      secret: null,
    };
    expect(withoutSecrets(rest)).toEqual(rest);
    expect(withoutSecrets({ body: '{"name":"web","password":"x"}' })).toEqual({
      body: '{"name":"web","password":"[removed]"}',
    });
  });
});

describe("XML of object storage", () => {
  it("becomes fields and lists", () => {
    const xml = `<?xml version="1.0"?><ListBucketResult xmlns="http://s3"><Name>a&amp;b</Name><Empty/>
      <Contents><Key>x</Key></Contents></ListBucketResult>`;
    expect(fromXml(xml)).toEqual({ Name: "a&b", Empty: "", Contents: [{ Key: "x" }] });
    expect(fromXml("<R><Buckets></Buckets></R>")).toEqual({ Buckets: [] });
    expect(fromXml("<R><Buckets><Bucket><Name>a</Name></Bucket></Buckets></R>")).toEqual({ Buckets: [{ Name: "a" }] });
    expect(fromXml("<LocationConstraint>eu</LocationConstraint>")).toBe("eu");
  });

  it.each(["", "no", "<a><b></a></b>", "<a>", "</a>", "<a>".repeat(100), `${"<a>".repeat(40)}${"</a>".repeat(40)}`])(
    "that is none, %j, is an error",
    (text) => {
      expect(() => fromXml(text)).toThrow();
    },
  );
});

describe("billing", () => {
  const meter = (meterId: string, quantity: number, more: object = {}) => ({
    meterId,
    meterDesc: `about ${meterId}`,
    type: "SERVER",
    quantity: { quantity, unit: "1h" },
    ...more,
  });
  const report = {
    startDate: "2026-11-01",
    endDate: "2026-11-16",
    metadata: { contractId: "0001" },
    datacenters: [
      { id: "a", name: "one", meters: [meter("C", 1.23456789), meter("R", 0), meter("S", 5, { type: "STORAGE" })] },
      { id: "b", name: "two", meters: [meter("C", 2)] },
    ],
  };

  it("leaves out what was not used, unless asked for", () => {
    expect(usage(report, {})).toMatchObject({
      contract_id: "0001",
      meter_definitions: { C: "about C", S: "about S" },
      datacenters: [{ id: "a", meters: [{ meter_id: "C", quantity: "1.23456789" }, { meter_id: "S" }] }, { id: "b" }],
    });
    expect(JSON.stringify(usage(report, { include_zero: true }))).toContain('"R"');
    expect(usage(report, { datacenter_id: "b" })).toMatchObject({ datacenters: [{ id: "b" }] });
  });

  it("sums up, and finds the largest", () => {
    expect(utilization(report, { group_by: "meter" })).toMatchObject({
      meters: [
        { meter_id: "C", quantity: 3.234568 },
        { meter_id: "S", quantity: 5 },
      ],
    });
    expect(utilization(report, { top_n: 1 })).toMatchObject({
      top_meters: [{ meter_id: "S", dc_id: "a", dc_name: "one" }],
    });
    expect(utilization(report, { meter_types: ["storage"] })).toMatchObject({
      datacenters: [{ meters: [{ meter_id: "S" }] }],
    });
  });
});

it("status updates and reads of the activity log are left out, unless asked for", () => {
  const provision = { event: "Provision", user: "Ada", action: "vr.server.create" };
  const update = { ...provision, event: "RequestStatusUpdate" };
  const read = { event: "Read", user: "Ada", action: "vr.server.read" };
  const shown = (wanted: Parameters<typeof isEventWanted>[1]) =>
    [provision, update, read].filter((each) => isEventWanted(each, wanted)).map(({ event }) => event);
  expect(shown({})).toEqual(["Provision"]);
  expect(shown({ include_status_updates: true })).toEqual(["Provision", "RequestStatusUpdate"]);
  expect(shown({ include_reads: true })).toEqual(["Provision", "Read"]);
  expect(shown({ event_types: ["RequestStatusUpdate"] })).toEqual(["RequestStatusUpdate"]);
  expect(shown({ user: "bob" })).toEqual([]);
  const source = { meta: { time: "t" }, principal: { identity: { username: "Ada" } }, event: { type: "Provision" } };
  expect(eventOf(source)).toMatchObject({ time: "t", type: "Provision", user: "Ada" });
});
