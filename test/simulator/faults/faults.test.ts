import { afterEach, describe, expect, it } from "vitest";
import { items, platformForFile, refusal, resource, serverBody } from "../platform.ts";

const platform = await platformForFile();
const datacenter = await platform.datacenter();
afterEach(() => platform.faults());

const create = "POST /cloudapi/v6/datacenters";
const post = (name: string) => platform.core("POST", "/datacenters", { properties: { name, location: "de/fra" } });
const named = async (name: string) => {
  await platform.advance(10);
  return items(await platform.core("GET", `/datacenters?depth=1&filter.name=${name}`)).length;
};

describe("transport", () => {
  it("response-lost: the caller sees a broken connection, the effect is there", async () => {
    await platform.faults({ route: create, fault: "response-lost", count: 1 });
    await expect(post("lost-response")).rejects.toThrow();
    expect(await named("lost-response")).toBe(1);
  });

  it.each(["request-lost", "reset"])("%s: the caller sees a broken connection, nothing happened", async (fault) => {
    await platform.faults({ route: create, fault, count: 1 });
    await expect(post(fault)).rejects.toThrow();
    expect(await named(fault)).toBe(0);
    expect((await post(fault)).status).toBe(202);
  });

  it("hang: no answer comes, and nothing happens unless the rule says so", async () => {
    const patience = { signal: AbortSignal.timeout(100) };
    await platform.faults({ route: "GET /cloudapi/v6/datacenters", fault: "hang", count: 1 });
    await expect(platform.core("GET", "/datacenters", undefined, patience)).rejects.toThrow("timeout");
    await platform.faults({ route: create, fault: "hang", seconds: 0.01, count: 1 });
    await expect(post("hang")).rejects.toThrow("fetch failed");
    expect(await named("hang")).toBe(0);
    await platform.faults({ route: create, fault: "hang", seconds: 0.01, executed: true, count: 1 });
    await expect(post("hang")).rejects.toThrow("fetch failed");
    expect(await named("hang")).toBe(1);
  });

  it("slow: the answer comes late", async () => {
    await platform.faults({ route: create, fault: "slow", seconds: 0.15 });
    const started = performance.now();
    expect((await post("slow")).status).toBe(202);
    expect(performance.now() - started).toBeGreaterThanOrEqual(149);
  });
});

describe("status", () => {
  it.each([
    [401, "315"],
    [403, "451"],
    [404, "309"],
    [429, "420"],
    [500, "200"],
    [502, "200"],
    [503, "200"],
  ])("%i is answered with the platform's payload, nothing happened", async (status, code) => {
    await platform.faults({ route: create, fault: "status", status, count: 1 });
    const answer = await post(`status-${status}`);
    refusal(answer, status, code);
    expect(answer.headers.get("retry-after")).toBeNull();
    expect(await named(`status-${status}`)).toBe(0);
  });

  it("429 comes with Retry-After when the rule has one", async () => {
    await platform.faults({ route: create, fault: "status", status: 429, retryAfter: 7 });
    expect((await post("x")).headers.get("retry-after")).toBe("7");
  });
});

describe("provisioning", () => {
  it("late-visibility: the resource cannot be seen, even when its request is DONE", async () => {
    await platform.faults({ route: create, fault: "late-visibility", seconds: 120, count: 1 });
    const answer = await post("late");
    await platform.advance(60);
    expect(await platform.requestOf(answer)).toMatchObject({ status: "DONE" });
    refusal(await platform.core("GET", `/datacenters/${resource(answer).id}`), 404, "309");
    expect(await named("late")).toBe(0);
    await platform.advance(60);
    expect(await named("late")).toBe(1);
  });

  it("late-visibility twice: the times add up", async () => {
    const late = { route: create, fault: "late-visibility", count: 1 };
    await platform.faults({ ...late, seconds: 60 }, { ...late, seconds: 50 });
    await post("much-later");
    await platform.advance(80);
    expect(await named("much-later")).toBe(0);
    await platform.advance(20);
    expect(await named("much-later")).toBe(1);
  });

  it("slow-provisioning: the request takes that many times as long", async () => {
    await platform.faults({ route: create, fault: "slow-provisioning", factor: 100, count: 1 });
    const answer = await post("tortoise");
    await platform.advance(100);
    expect(await platform.requestOf(answer)).toMatchObject({ status: "BUSY" });
    await platform.advance(310);
    expect(await platform.requestOf(answer)).toMatchObject({ status: "DONE" });
  });

  it("duplicate-delivery: the write happens twice, the caller hears of one", async () => {
    await platform.faults({ route: create, fault: "duplicate-delivery", count: 1 });
    expect((await post("twin")).status).toBe(202);
    expect(await named("twin")).toBe(2);
  });

  it("duplicate-delivery of what works only once is no error", async () => {
    const path = await platform.datacenter();
    await platform.faults({ route: "DELETE *", fault: "duplicate-delivery" });
    expect((await platform.core("DELETE", path)).status).toBe(202);
  });

  it("request-failed has a message of its own by default", async () => {
    await platform.faults({ route: create, fault: "request-failed" });
    const answer = await post("doomed");
    await platform.advance(10);
    expect(await platform.requestOf(answer)).toMatchObject({
      status: "FAILED",
      message: expect.stringMatching(/^\[VDC-\d+-\d+\] /),
    });
  });
});

describe("reading", () => {
  it("missing-item: pages leave out fresh items, a single read does not", async () => {
    const { id } = resource(await platform.core("POST", `${datacenter}/servers`, serverBody()));
    await platform.advance(20);
    const path = `${datacenter}/servers`;
    await platform.faults({
      route: "GET /cloudapi/v6/datacenters/{datacenterId}/servers",
      fault: "missing-item",
      seconds: 60,
    });
    expect(items(await platform.core("GET", path))).toEqual([]);
    expect((await platform.core("GET", `${path}/${id}`)).status).toBe(200);
    await platform.advance(60);
    expect(items(await platform.core("GET", path))).toMatchObject([{ id }]);
  });

  it("stale: what was made, changed and deleted since is not known yet", async () => {
    const path = await platform.datacenter();
    await platform.faults({ route: "GET /cloudapi/v6/datacenters/{datacenterId}", fault: "stale", seconds: 30 });
    await platform.advance(60);
    await platform.core("PATCH", path, { name: "renamed" });
    const made = `/datacenters/${resource(await post("made-since")).id}`;
    const shownName = async () => resource(await platform.core("GET", path)).properties.name;
    await platform.advance(20);
    expect(await shownName()).not.toBe("renamed");
    refusal(await platform.core("GET", made), 404, "309");
    expect(await named("made-since")).toBe(1);
    await platform.core("DELETE", made);
    await platform.advance(20);
    expect((await platform.core("GET", made)).status).toBe(200);
    expect(await shownName()).toBe("renamed");
    await platform.faults();
    refusal(await platform.core("GET", made), 404, "309");
  });

  it("stale: lists follow, and nothing is changed by having looked back", async () => {
    await platform.faults({ route: "GET /cloudapi/v6/datacenters", fault: "stale", seconds: 60, count: 2 });
    const path = `/datacenters/${resource(await post("fresh")).id}`;
    expect(await named("fresh")).toBe(0);
    expect((await platform.core("GET", path)).status).toBe(200);
    await platform.advance(60);
    expect(await named("fresh")).toBe(1);
    const order = async () => items(await platform.core("GET", "/datacenters")).map(({ id }) => id);
    const honest = await order();
    await platform.faults({ route: "GET /cloudapi/v6/datacenters", fault: "stale", seconds: 600, count: 1 });
    expect((await order()).length).toBeLessThan(honest.length);
    expect(await order()).toEqual(honest);
  });

  it("stale: a read that makes something is answered as ever", async () => {
    await platform.faults({ route: "GET /auth/v1/tokens/generate", fault: "stale", seconds: 60 });
    const answer = await platform.call("GET", "/auth/v1/tokens/generate");
    const authorization = `Bearer ${Object(answer.body).token}`;
    expect((await platform.core("GET", "/contracts", undefined, { authorization })).status).toBe(200);
  });

  it("shallow: deep reads leave out entities, or what is known of them", async () => {
    const { id } = resource(await platform.core("POST", `${datacenter}/servers`, serverBody()));
    await platform.advance(60);
    const server = `${datacenter}/servers/${id}`;
    const nic = resource(await platform.core("POST", `${server}/nics`, { properties: { name: "n", lan: 1 } })).id;
    await platform.advance(60);
    const rule = { route: "GET *", fault: "shallow" };
    const read = async (path: string) => (await platform.core("GET", path)).body;
    await platform.faults(rule);
    expect(await read(`${server}?depth=3`)).not.toHaveProperty("entities");
    for (const item of items(await platform.core("GET", `${datacenter}/servers?depth=2`))) {
      expect(item).toHaveProperty("properties");
      expect(item).not.toHaveProperty("entities");
    }
    await platform.faults({ ...rule, leavesOut: "properties" });
    const shown = resource(await platform.core("GET", `${server}?depth=3`)).entities?.nics?.items;
    expect(shown?.at(-1)).toEqual({ id: nic, type: "nic", href: expect.any(String) });
    await platform.faults({ ...rule, count: 1 });
    // Reads of a lower depth do not use up the fault.
    expect(await read(`${server}?depth=1`)).toHaveProperty("entities");
    expect(await read(`${server}?depth=2`)).not.toHaveProperty("entities");
    expect(await read(`${server}?depth=2`)).toHaveProperty("entities");
  });

  it("token-revoked: the token of the call is worth nothing from then on", async () => {
    const { token } = await platform.user("revoked@example.org");
    const read = () => platform.core("GET", "/contracts", undefined, { authorization: `Bearer ${token}` });
    expect((await read()).status).toBe(200);
    await platform.faults({ route: "GET /cloudapi/v6/contracts", fault: "token-revoked", count: 1 });
    refusal(await read(), 401, "315");
    refusal(await read(), 401, "315");
  });

  it("clock-skew: dates are off, and filters by date agree with what they show", async () => {
    const honest = resource(await platform.core("GET", datacenter)).metadata;
    await platform.faults({ fault: "clock-skew", seconds: -60 });
    const answer = await platform.core("GET", datacenter);
    const shown = Date.parse(String(resource(answer).metadata.createdDate));
    expect(shown).toBe(Date.parse(String(honest.createdDate)) - 60_000);
    const [newest] = items(await platform.core("GET", "/requests?depth=1"));
    const since = encodeURIComponent(String(Object(newest?.metadata).createdDate));
    expect(items(await platform.core("GET", `/requests?filter.createdAfter=${since}`))).toHaveLength(1);
  });
});

describe("the plan", () => {
  const outcomes = async (calls: number) => {
    const seen: number[] = [];
    for (let made = 0; made < calls; made += 1) seen.push((await platform.core("GET", "/contracts")).status);
    return seen;
  };
  const broken = { route: "GET /cloudapi/v6/contracts", fault: "status", status: 500 };

  it("lets some pass first and ends after a number of times", async () => {
    await platform.faults({ ...broken, skip: 2, count: 1 });
    expect(await outcomes(5)).toEqual([200, 200, 500, 200, 200]);
  });

  it("happens by chance, the same way for the same seed", async () => {
    const run = async (seed: number) => {
      await platform.steer("PUT", "faults", { seed, rules: [{ ...broken, probability: 0.5 }] });
      return outcomes(24);
    };
    const first = await run(5);
    expect(first).toContain(200);
    expect(first).toContain(500);
    expect(await run(5)).toEqual(first);
    expect(await run(6)).not.toEqual(first);
  });

  it("matches any method, any parameter name and any rest", async () => {
    for (const route of ["* /cloudapi/v6/contracts", "GET /cloudapi/*", "GET *", "GET *contracts"]) {
      await platform.faults({ ...broken, route });
      expect(await outcomes(1)).toEqual([500]);
    }
    await platform.faults({ ...broken, route: "GET /cloudapi/v6/datacenters/{anything}" });
    refusal(await platform.core("GET", datacenter), 500, "200");
    expect(await outcomes(1)).toEqual([200]);
  });

  it("applies the first rule that ends a call, and adds up the others", async () => {
    await platform.faults(
      { route: create, fault: "late-visibility", seconds: 1000 },
      { route: create, fault: "response-lost" },
      { route: create, fault: "status", status: 500 },
    );
    await expect(post("both")).rejects.toThrow();
    await platform.faults();
    expect(await named("both")).toBe(0);
    await platform.advance(1000);
    expect(await named("both")).toBe(1);
  });

  it("limits the rate per credential, with a whole number of seconds to wait", async () => {
    await platform.steer("PUT", "faults", { rateLimit: { perSecond: 0.1, burst: 3 } });
    expect(await outcomes(4)).toEqual([200, 200, 200, 429]);
    const answer = await platform.core("GET", "/contracts");
    refusal(answer, 429, "420");
    expect(answer.headers.get("retry-after")).toMatch(/^[1-9]\d*$/);
    const { token } = await platform.user("quick@example.org");
    const other = await platform.core("GET", "/contracts", undefined, { authorization: `Bearer ${token}` });
    expect(other.status).toBe(200);
  });
});
