import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { keyIn, serviceFor } from "../pipelines.ts";
import { items, platformForFile, refusal, resource, startPlatform } from "../platform.ts";

const platform = await platformForFile();
const monitoring = serviceFor(platform, "monitoring");

const codes = { validation: "paas-monitoring-100", refused: "paas-monitoring-200", missing: "paas-monitoring-309" };
const post = (properties: object) => monitoring.call("POST", "/pipelines", { properties });
const read = (path: string) => monitoring.call("GET", path);

describe("the address of metric pipelines", () => {
  it("stands in the ready line, with a place for the region", async () => {
    const { api, monitoring: address } = platform.ready.endpoints;
    expect(address).toBe(`${api}/monitoring/{region}`);
  });

  it.each(["de-fra", "de-txl", "es-vit", "gb-bhx", "gb-lhr", "fr-par", "us-mci"])("serves %s", async (region) => {
    expect(await serviceFor(platform, "monitoring", region).call("GET", "/pipelines")).toMatchObject({ status: 200 });
  });

  it.each(["us-las", "de-fkb", "de", "%7Bregion%7D", "__proto__"])("knows no region %s", async (region) => {
    refusal(await serviceFor(platform, "monitoring", region).call("GET", "/pipelines"), 404, codes.missing);
  });
});

describe("creating a metric pipeline", () => {
  it("answers 201 with the key, PROVISIONING, and everything an agent needs", async () => {
    const answer = await post({ name: "shop" });
    expect(answer.status).toBe(201);
    const { id } = resource(answer);
    const { api } = platform.ready.endpoints;
    expect(answer.body).toEqual({
      id,
      type: "pipeline",
      href: `${monitoring.url}/pipelines/${id}`,
      metadata: {
        createdDate: expect.stringMatching(/^\d{4}-.*Z$/),
        createdBy: platform.ready.username,
        createdByUserId: expect.any(String),
        lastModifiedDate: expect.any(String),
        lastModifiedBy: platform.ready.username,
        lastModifiedByUserId: expect.any(String),
        resourceURN: `urn:ionos:monitoring:${platform.ready.contractNumber}::pipeline/${id}`,
        status: "PROVISIONING",
        grafanaEndpoint: `${api}/dashboards/de-txl`,
        httpEndpoint: `${api}/ingest/metrics/${id}`,
        key: expect.stringMatching(/^ingestkey_[\w-]{43}$/),
      },
      properties: { name: "shop", status: "PROVISIONING" },
    });
  });

  it("is PROVISIONING at once, then AVAILABLE after three to six seconds", async () => {
    const { id } = resource(await post({ name: "slow" }));
    const path = `/pipelines/${id}`;
    const status = (word: string) => ({
      status: 200,
      body: { metadata: { status: word }, properties: { status: word } },
    });
    expect(await read(path)).toMatchObject(status("PROVISIONING"));
    await platform.advance(2.9);
    expect(await read(path)).toMatchObject(status("PROVISIONING"));
    await platform.advance(3.1);
    expect(await read(path)).toMatchObject(status("AVAILABLE"));
  });

  it.each([
    [{}, "name"],
    [{ name: "" }, "name"],
    [{ name: "x".repeat(21) }, "name"],
    [{ name: 7 }, "name"],
    [{ name: null }, "name"],
  ])("refuses %o and names the field", async (properties, field) => {
    expect(refusal(await post(properties), 422, codes.validation)).toContain(`[(root).properties.${field}]`);
  });

  it("takes a name of 20 characters", async () => {
    expect(await post({ name: "x".repeat(20) })).toMatchObject({ status: 201 });
  });

  it("refuses a malformed body with 422 and another type with 415", async () => {
    const send = (raw: string, type: string) =>
      monitoring.call("POST", "/pipelines", undefined, { raw, headers: { "content-type": type } });
    refusal(await send("{", "application/json"), 422, codes.validation);
    refusal(await send("a=b", "text/plain"), 415, codes.validation);
  });

  it("draws keys that do not follow from the seed", async () => {
    const other = await startPlatform();
    const here = await startPlatform();
    const keys = await Promise.all([other, here].map((each) => serviceFor(each, "monitoring").made()));
    expect(keys[0]?.id).toBe(keys[1]?.id);
    expect(keys[0]?.key).not.toBe(keys[1]?.key);
    await Promise.all([other.close(), here.close()]);
  });
});

describe("an allowed caller", () => {
  const list = (authorization: string | null) => monitoring.call("GET", "/pipelines", undefined, { authorization });
  const make = (authorization: string | null) =>
    monitoring.call("POST", "/pipelines", { properties: { name: "shop" } }, { authorization });

  it("comes with a bearer token: nothing else is taken", async () => {
    const { username, password } = platform.ready;
    const basic = `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
    for (const each of [null, "Bearer x", basic]) {
      refusal(await list(each), 401, "paas-monitoring-315");
      refusal(await make(each), 401, "paas-monitoring-315");
    }
  });

  it("needs the privilege of monitoring; that of logging is not enough", async () => {
    const has = async (privilege: string) =>
      `Bearer ${(await platform.user(`${privilege}@example.org`, { privileges: [privilege] })).token}`;
    const [allowed, other] = [await has("accessAndManageMonitoring"), await has("accessAndManageLogging")];
    expect([(await list(allowed)).status, (await make(allowed)).status]).toEqual([200, 201]);
    for (const answer of [await list(other), await make(other)]) {
      expect(refusal(answer, 403, "paas-monitoring-451")).toContain("Access and manage Monitoring");
    }
  });
});

describe("listing metric pipelines", () => {
  it("shows those of the region, whole, page by page and in the order asked for", async () => {
    const paris = serviceFor(platform, "monitoring", "fr-par");
    for (const name of ["b", "c", "a"]) await paris.made({ name });
    const names = async (query: string) =>
      items(await paris.call("GET", `/pipelines${query}`)).map(
        (each) => resource({ ...nothing, body: each }).properties.name,
      );
    expect(await names("")).toEqual(["b", "c", "a"]);
    expect(await names("?orderBy=name")).toEqual(["a", "b", "c"]);
    expect(await names("?orderBy=-name&limit=2")).toEqual(["c", "b"]);
    expect(await names("?orderBy=-createdDate")).toEqual(["a", "c", "b"]);
    expect(await names("?offset=1&limit=1")).toEqual(["c"]);
    expect((await paris.call("GET", "/pipelines?offset=1&limit=1")).body).toMatchObject({
      id: "pipelines",
      type: "collection",
      href: `${paris.url}/pipelines`,
      offset: 1,
      limit: 1,
      _links: {
        prev: `${paris.url}/pipelines?offset=0&limit=1`,
        self: `${paris.url}/pipelines?offset=1&limit=1`,
        next: `${paris.url}/pipelines?offset=2&limit=1`,
      },
    });
    expect((await paris.call("GET", "/pipelines")).body).toMatchObject({ offset: 0, limit: 100 });
  });

  it.each(["limit=0", "limit=1001", "limit=x", "offset=-1", "orderBy=size", "orderBy=constructor"])(
    "refuses ?%s",
    async (query) => {
      const [name = ""] = query.split("=");
      expect(refusal(await read(`/pipelines?${query}`), 422, codes.validation)).toContain(`[${name}]`);
    },
  );
});

describe("changing a metric pipeline", () => {
  it("renames it; it is PROVISIONING again for a moment and refuses a second change meanwhile", async () => {
    const { id, path } = await monitoring.made();
    const put = (name: string) => monitoring.call("PUT", path, { id, properties: { name } });
    const renamed = await put("renamed");
    expect(renamed).toMatchObject({ status: 200, body: { id, metadata: { status: "PROVISIONING" } } });
    expect(renamed.body).not.toHaveProperty("metadata.key");
    expect(refusal(await put("again"), 409, codes.refused)).toContain("being provisioned");
    await platform.advance(3);
    expect(await read(path)).toMatchObject({
      body: { metadata: { status: "AVAILABLE" }, properties: { name: "renamed" } },
    });
  });

  it("changes nothing when nothing is different", async () => {
    const { path } = await monitoring.made({ name: "same" });
    const before = await read(path);
    await platform.advance(10);
    expect(await monitoring.call("PUT", path, { properties: { name: "same" } })).toMatchObject({ body: before.body });
  });

  it("makes a pipeline of an id that is new, with its key, and refuses an id that is none", async () => {
    const id = randomUUID();
    const answer = await monitoring.call("PUT", `/pipelines/${id}`, { id, properties: { name: "mine" } });
    expect(answer).toMatchObject({ status: 201, body: { id, metadata: { key: expect.any(String) } } });
    const put = (path: string, body: object) => monitoring.call("PUT", `/pipelines/${path}`, body);
    refusal(await put("nonsense", { properties: { name: "mine" } }), 422, codes.validation);
    const other = await put(randomUUID(), { id, properties: { name: "mine" } });
    expect(refusal(other, 422, codes.validation)).toContain("[(root).id]");
  });

  it("refuses an id that is taken in another region, and does not show that pipeline here", async () => {
    const { path } = await serviceFor(platform, "monitoring", "gb-lhr").made();
    refusal(await monitoring.call("PUT", path, { properties: { name: "mine" } }), 409, codes.refused);
    refusal(await read(path), 404, codes.missing);
  });
});

describe("deleting a metric pipeline", () => {
  it("answers 202, shows it DESTROYING, and then it is gone", async () => {
    const { path } = await monitoring.made();
    expect(await monitoring.call("DELETE", path)).toMatchObject({ status: 202, body: undefined });
    expect(await read(path)).toMatchObject({ status: 200, body: { metadata: { status: "DESTROYING" } } });
    const refused = [
      await monitoring.call("DELETE", path),
      await monitoring.call("POST", `${path}/key`, {}),
      await monitoring.call("PUT", path, { properties: { name: "shop" } }),
    ];
    for (const answer of refused) expect(refusal(answer, 409, codes.refused)).toContain("being deleted");
    await platform.advance(3);
    refusal(await read(path), 404, codes.missing);
    refusal(await monitoring.call("DELETE", path), 404, codes.missing);
  });

  it("works while it is PROVISIONING, and the end of that does not bring it back", async () => {
    const { id } = resource(await post({ name: "short" }));
    await platform.advance(1);
    expect(await monitoring.call("DELETE", `/pipelines/${id}`)).toMatchObject({ status: 202 });
    await platform.advance(10);
    refusal(await read(`/pipelines/${id}`), 404, codes.missing);
  });
});

describe("the key", () => {
  it("is replaced while the pipeline is still PROVISIONING, and each time by another", async () => {
    const answer = await post({ name: "early" });
    await platform.advance(1);
    const renew = () => monitoring.call("POST", `/pipelines/${resource(answer).id}/key`, {});
    const [first, second] = [await renew(), await renew()];
    expect(first).toMatchObject({ status: 201 });
    expect(new Set([keyIn(first), keyIn(second), String(resource(answer).metadata.key)]).size).toBe(3);
    expect(await read(`/pipelines/${resource(answer).id}`)).toMatchObject({
      body: { metadata: { status: "PROVISIONING" } },
    });
  });

  it("is in no answer but the one that makes it, and not in the state", async () => {
    const { path, key } = await monitoring.made();
    const second = keyIn(await monitoring.call("POST", `${path}/key`, {}));
    const answers = [
      await read(path),
      await read("/pipelines?limit=1000"),
      await monitoring.call("PUT", path, { properties: { name: "quiet" } }),
      await monitoring.call("DELETE", path),
      await platform.steer("GET", "state"),
      await platform.steer("GET", "calls"),
    ];
    for (const each of [key, second]) expect(JSON.stringify(answers)).not.toContain(each);
    expect(JSON.stringify(answers)).not.toMatch(/"key(Hash)?"/);
  });
});

describe("the fault plan", () => {
  it("makes a creation fail: the pipeline ends FAILED and says why, until it is changed or deleted", async () => {
    await platform.faults({
      route: "POST /monitoring/{region}/pipelines",
      fault: "request-failed",
      message: "no room",
    });
    const { path } = await monitoring.made({ name: "doomed" });
    await platform.faults();
    expect(await read(path)).toMatchObject({ body: { metadata: { status: "FAILED", statusMessage: "no room" } } });
    await monitoring.call("PUT", path, { properties: { name: "doomed" } });
    await platform.advance(3);
    expect(await read(path)).toMatchObject({ body: { metadata: { status: "AVAILABLE" } } });
  });

  it("hides, slows and skews as everywhere", async () => {
    const route = "POST /monitoring/{region}/pipelines";
    await platform.faults(
      { route, fault: "late-visibility", seconds: 60 },
      { route, fault: "slow-provisioning", factor: 100 },
    );
    const { path } = await monitoring.made();
    refusal(await read(path), 404, codes.missing);
    await platform.advance(55);
    expect(await read(path)).toMatchObject({ body: { metadata: { status: "PROVISIONING" } } });
    const listed = async () => items(await read("/pipelines?limit=1000")).map(({ id }) => `/pipelines/${id}`);
    expect(await listed()).toContain(path);
    await platform.faults({ fault: "missing-item", seconds: 3600 });
    expect(await listed()).not.toContain(path);
    await platform.faults({ fault: "status", status: 503 });
    refusal(await read(path), 503, codes.refused);
    await platform.faults();
  });
});

const nothing = { status: 0, headers: new Headers() };
