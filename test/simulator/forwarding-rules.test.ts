import { beforeAll, describe, expect, it } from "vitest";
import { applicationRule, networkRule } from "./balancer-rules.ts";
import { networkOf } from "./network.ts";
import { platformForFile, refusal, resource } from "./platform.ts";

const platform = await platformForFile();
const datacenter = await platform.datacenter();
const lans = await networkOf(platform).lans(datacenter);

const made = (path: string, more: object) => platform.made(path, { properties: more });
const balancer = (collection: string) =>
  made(`${datacenter}/${collection}`, { name: "lb", ...lans, ips: ["10.1.0.5"] });
const read = async (path: string) => resource(await platform.core("GET", path)).properties;

describe("a rule of a Network Load Balancer", () => {
  let rules: string;
  beforeAll(async () => {
    rules = `${await balancer("networkloadbalancers")}/forwardingrules`;
  });
  const post = (more: object) => platform.core("POST", rules, { properties: networkRule(more) });

  it("fills in the platform's defaults", async () => {
    expect(await read(await made(rules, networkRule()))).toMatchObject({
      targets: [
        { weight: 1, proxyProtocol: "none", healthCheck: { check: true, checkInterval: 2000, maintenance: false } },
      ],
      healthCheck: { clientTimeout: 50_000, connectTimeout: 5000, targetTimeout: 50_000, retries: 3 },
    });
  });

  it("fills in the rest of a health check that is given in part, and all of it when it is cleared", async () => {
    const path = await made(rules, networkRule({ healthCheck: { retries: 5 } }));
    expect((await read(path)).healthCheck).toMatchObject({ clientTimeout: 50_000, retries: 5 });
    await platform.done("PATCH", path, { name: "renamed" });
    expect((await read(path)).healthCheck).toMatchObject({ retries: 5 });
    await platform.done("PATCH", path, { healthCheck: null });
    expect((await read(path)).healthCheck).toMatchObject({ retries: 3 });
  });

  it.each(["ROUND_ROBIN", "LEAST_CONNECTION", "RANDOM", "SOURCE_IP"])("balances by %s", async (algorithm) => {
    expect((await post({ algorithm })).status).toBe(202);
  });

  it.each([
    ["no algorithm", { algorithm: undefined }, "algorithm"],
    ["an unknown algorithm", { algorithm: "FASTEST" }, "algorithm"],
    ["no targets", { targets: undefined }, "targets"],
    ["a target without address", { targets: [{ port: 1 }] }, "targets[0].ip"],
    ["a target without port", { targets: [{ ip: "10.2.0.7" }] }, "targets[0].port"],
    ["the weight 257", { targets: [{ ip: "10.2.0.7", port: 1, weight: 257 }] }, "targets[0].weight"],
    ["a negative weight", { targets: [{ ip: "10.2.0.7", port: 1, weight: -1 }] }, "targets[0].weight"],
    [
      "an unknown proxy protocol",
      { targets: [{ ip: "10.2.0.7", port: 1, proxyProtocol: "v3" }] },
      "targets[0].proxyProtocol",
    ],
  ])("refuses %s", async (_, more, field) => {
    expect(refusal(await post(more), 422, "100")).toContain(`[(root).properties.${field}]`);
  });
});

describe("a rule of an Application Load Balancer", () => {
  let rules: string;
  let group: string;
  beforeAll(async () => {
    rules = `${await balancer("applicationloadbalancers")}/forwardingrules`;
    group =
      (await made("/targetgroups", { name: "group", algorithm: "RANDOM", protocol: "HTTP" })).split("/").at(-1) ?? "";
  });
  const http = (...httpRules: object[]) => ({ httpRules: httpRules.map((each) => ({ name: "r", ...each })) });
  const post = (more: object) => platform.core("POST", rules, { properties: applicationRule(more) });
  const when = (condition: object) => http({ type: "FORWARD", targetGroup: group, conditions: [condition] });

  it("fills in the platform's defaults", async () => {
    expect(await read(await made(rules, applicationRule()))).toMatchObject({
      clientTimeout: 50_000,
      serverCertificates: [],
      httpRules: [],
    });
  });

  it("forwards to a target group, redirects with 301 and answers with 503 unless told otherwise", async () => {
    const path = await made(
      rules,
      applicationRule(
        http(
          { name: "a", type: "FORWARD", targetGroup: group },
          { name: "b", type: "REDIRECT", location: "www.example.org" },
          { name: "c", type: "STATIC", responseMessage: "closed" },
          { name: "d", type: "REDIRECT", location: "www.example.org", statusCode: 308, dropQuery: true },
          { name: "e", type: "STATIC", responseMessage: "{}", contentType: "application/json", statusCode: 200 },
        ),
      ),
    );
    expect((await read(path)).httpRules).toMatchObject([
      { targetGroup: group },
      { statusCode: 301, dropQuery: false },
      { statusCode: 503 },
      { statusCode: 308, dropQuery: true },
      { statusCode: 200 },
    ]);
  });

  it.each([
    ["an unknown type", () => http({ type: "PROXY" }), "type"],
    ["FORWARD without a target group", () => http({ type: "FORWARD" }), "targetGroup"],
    ["FORWARD to an unknown target group", () => http({ type: "FORWARD", targetGroup: "x" }), "targetGroup"],
    ["FORWARD with a status code", () => http({ type: "FORWARD", targetGroup: group, statusCode: 301 }), "statusCode"],
    ["FORWARD with a location", () => http({ type: "FORWARD", targetGroup: group, location: "x" }), "location"],
    ["REDIRECT without a location", () => http({ type: "REDIRECT" }), "location"],
    ["REDIRECT with 304", () => http({ type: "REDIRECT", location: "x", statusCode: 304 }), "statusCode"],
    [
      "REDIRECT with a target group",
      () => http({ type: "REDIRECT", location: "x", targetGroup: group }),
      "targetGroup",
    ],
    ["REDIRECT with a content type", () => http({ type: "REDIRECT", location: "x", contentType: "x" }), "contentType"],
    ["STATIC without a message", () => http({ type: "STATIC" }), "responseMessage"],
    ["STATIC with 199", () => http({ type: "STATIC", responseMessage: "x", statusCode: 199 }), "statusCode"],
    ["STATIC with 600", () => http({ type: "STATIC", responseMessage: "x", statusCode: 600 }), "statusCode"],
    ["STATIC that drops the query", () => http({ type: "STATIC", responseMessage: "x", dropQuery: true }), "dropQuery"],
    ["a rule without a name", () => http({ name: undefined, type: "STATIC", responseMessage: "x" }), "name"],
    ["an unknown condition type", () => when({ type: "BODY", condition: "EXISTS" }), "conditions[0].type"],
    ["an unknown condition", () => when({ type: "PATH", condition: "LIKE", value: "x" }), "conditions[0].condition"],
    ["no condition", () => when({ type: "PATH", value: "/" }), "conditions[0].condition"],
    ["EQUALS without a value", () => when({ type: "PATH", condition: "EQUALS" }), "conditions[0].value"],
    ["EXISTS with a value", () => when({ type: "COOKIE", condition: "EXISTS", value: "x" }), "conditions[0].value"],
    ["a key of a path", () => when({ type: "PATH", condition: "EQUALS", value: "/", key: "x" }), "conditions[0].key"],
  ])("refuses %s", async (_, more, field) => {
    expect(refusal(await post(more()), 422, "100")).toContain(`[(root).properties.httpRules[0].${field}]`);
  });

  it("refuses two HTTP rules of one name", async () => {
    const twice = { type: "STATIC", responseMessage: "x" };
    expect(refusal(await post(http(twice, twice)), 422, "100")).toContain("[(root).properties.httpRules[1].name]");
  });

  it.each([
    ["a header by its key", { type: "HEADER", condition: "CONTAINS", key: "x-team", value: "a" }],
    ["a cookie that exists", { type: "COOKIE", condition: "EXISTS", key: "session" }],
    ["a path, negated", { type: "PATH", condition: "STARTS_WITH", value: "/api", negate: true }],
    ["an address without a condition", { type: "SOURCE_IP", value: "10.0.0.0/8" }],
  ])("matches %s", async (_, condition) => {
    const answer = await post(when(condition));
    expect(answer.status).toBe(202);
    expect(resource(answer).properties.httpRules).toMatchObject([{ conditions: [{ negate: false, ...condition }] }]);
  });
});
