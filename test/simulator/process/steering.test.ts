import { describe, expect, it } from "vitest";
import { z } from "zod";
import { isLoopback } from "../../../src/simulator/listener/gate.ts";
import { platformForFile, refusal, resource, serverBody, startPlatform } from "../platform.ts";

const platform = await platformForFile();

it.each([
  ["127.0.0.1", true],
  ["127.8.8.8", true],
  ["::1", true],
  ["::ffff:127.0.0.1", true],
  ["10.0.0.1", false],
  ["::ffff:10.0.0.1", false],
  ["fe80::1", false],
  [undefined, false],
])("the peer %s is on this machine: %s", (address, expected) => {
  expect(isLoopback(address)).toBe(expected);
});

describe("steering", () => {
  it("needs the simulator's own token", async () => {
    const state = (authorization: string | null) =>
      platform.call("GET", "/_simulator/state", undefined, { authorization });
    refusal(await state(null), 401, "315");
    refusal(await state("Basic eDp5"), 401, "315");
    refusal(await state("Bearer wrong"), 403, "451");
    const { token } = await platform.user("other@example.org");
    refusal(await state(`Bearer ${token}`), 403, "451");
    const { body } = await platform.call("GET", "/auth/v1/tokens/generate");
    const again = z.object({ token: z.string() }).parse(body).token;
    refusal(await state(`Bearer ${again}`), 403, "451");
    expect((await state(`Bearer ${platform.ready.token}`)).status).toBe(200);
  });

  it("goes on when that token has been deleted as platform token", async () => {
    const own = await startPlatform();
    await own.call("DELETE", "/auth/v1/tokens?criteria=ALL");
    refusal(await own.core("GET", "/datacenters"), 401, "315");
    expect(await own.steer("GET", "calls")).toMatchObject({ total: 2 });
    await own.close();
  });

  it("shows everything that exists as flat lists with the ids of parents", async () => {
    const datacenter = await platform.datacenter();
    const { id, entities } = resource(await platform.core("POST", `${datacenter}/servers`, serverBody()));
    const datacenterId = datacenter.split("/")[2];
    const { userId } = await platform.user("state@example.org");
    const state = await platform.steer("GET", "state");
    expect(state).toMatchObject({
      contractNumber: platform.ready.contractNumber,
      datacenters: expect.arrayContaining([
        expect.objectContaining({ id: datacenterId, state: "AVAILABLE", visible: true }),
      ]),
      servers: [{ id, type: "server", datacenterId, state: "BUSY", visible: false, properties: { name: "web" } }],
      volumes: [{ id: entities?.volumes?.items?.[0]?.id, datacenterId, serverId: id }],
      nics: [{ id: entities?.nics?.items?.[0]?.id, datacenterId, serverId: id, lanId: "1" }],
      lans: [{ id: "1", datacenterId }],
      ipblocks: [],
      requests: expect.arrayContaining([expect.objectContaining({ method: "POST", status: "BUSY" })]),
      users: expect.arrayContaining([{ id: userId, username: "state@example.org", role: "user" }]),
      tokens: expect.arrayContaining([expect.objectContaining({ userId, properties: { ttl: 31_536_000 } })]),
    });
    const text = JSON.stringify(state);
    expect(text).not.toContain(platform.ready.token);
    expect(text).not.toContain(platform.ready.password);
  });

  it("counts calls by method, route and caller since the last reset, but not itself", async () => {
    const datacenter = await platform.datacenter();
    const { token } = await platform.user("counted@example.org");
    await platform.steer("POST", "calls/reset");
    await platform.core("GET", datacenter);
    await platform.core("GET", `${datacenter}?depth=2`);
    await platform.core("POST", `${datacenter}/servers`, {});
    await platform.call("GET", "/nowhere", undefined, { authorization: `Bearer ${token}` });
    await platform.call("GET", "/nowhere", undefined, { authorization: "Bearer wrong" });
    expect(await platform.steer("GET", "calls")).toEqual({
      total: 5,
      byRoute: {
        "GET (no such path)": 2,
        "GET /cloudapi/v6/datacenters/{datacenterId}": 2,
        "POST /cloudapi/v6/datacenters/{datacenterId}/servers": 1,
      },
      highestRatePerSecond: 5,
      byCaller: [
        {
          contractNumber: platform.ready.contractNumber,
          username: platform.ready.username,
          total: 3,
          byRoute: {
            "GET /cloudapi/v6/datacenters/{datacenterId}": 2,
            "POST /cloudapi/v6/datacenters/{datacenterId}/servers": 1,
          },
        },
        {
          contractNumber: platform.ready.contractNumber,
          username: "counted@example.org",
          total: 1,
          byRoute: { "GET (no such path)": 1 },
        },
        { contractNumber: null, username: null, total: 1, byRoute: { "GET (no such path)": 1 } },
      ],
    });
    const nothing = { total: 0, byRoute: {}, highestRatePerSecond: 0, byCaller: [] };
    expect(await platform.steer("POST", "calls/reset")).toEqual(nothing);
  });

  it("moves the clock", async () => {
    const now = async () =>
      Date.parse(z.looseObject({ now: z.string() }).parse(await platform.steer("GET", "state")).now);
    const before = await now();
    await platform.advance(3600);
    expect((await now()) - before).toBeGreaterThanOrEqual(3600_000);
    refusal(await platform.call("POST", "/_simulator/advance", { seconds: -1 }), 422, "100");
    refusal(await platform.call("POST", "/_simulator/advance", {}), 422, "100");
  });

  it("moves the Date header with the clock", async () => {
    await platform.advance(86400);
    const { headers } = await platform.core("GET", "/");
    expect(Date.parse(headers.get("date") ?? "")).toBeGreaterThan(Date.now() + 86000_000);
  });

  it("adds users, once per name", async () => {
    await platform.user("twice@example.org");
    const again = { username: "twice@example.org", password: "p" };
    refusal(await platform.call("POST", "/_simulator/users", again), 422, "100");
    refusal(await platform.call("POST", "/_simulator/users", { username: "a:b", password: "p" }), 422, "100");
  });

  it("marks what another user creates as that user's", async () => {
    const { token, userId } = await platform.user("somebody@example.org");
    const made = await platform.core(
      "POST",
      "/datacenters",
      { properties: { name: "theirs", location: "de/fra" } },
      { authorization: `Bearer ${token}` },
    );
    expect(resource(made).metadata).toMatchObject({ createdByUserId: userId, createdBy: "somebody@example.org" });
  });

  it("refuses a plan it does not understand and keeps the old one", async () => {
    await platform.faults({ fault: "slow", seconds: 0 });
    const wrong = await platform.call("PUT", "/_simulator/faults", {
      rules: [{ fault: "slow" }, { fault: "gremlins" }],
    });
    const message = refusal(wrong, 422, "100");
    expect(message).toContain("rules.0.seconds");
    expect(message).toContain("rules.1.fault");
    expect(await platform.steer("GET", "faults")).toMatchObject({ rules: [{ fault: "slow", seconds: 0 }] });
    await platform.faults();
  });
});
