import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { openSender } from "../forward-sender.ts";
import { plain, pusherFor } from "../metric-pusher.ts";
import { networkOf } from "../network.ts";
import { serviceFor } from "../pipelines.ts";
import { items, type Platform, platformForFile, refusal, resource, serverBody, startPlatform } from "../platform.ts";
import { storageOf } from "../storage.ts";

const platform = await platformForFile();
const other = await platform.contract();

const basic = (username: string, password: string) =>
  `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
const usageOf = async (contract: Platform) => {
  const [found] = items(await contract.core("GET", "/contracts?depth=1"));
  return z.looseObject({ properties: z.looseObject({ resourceLimits: z.record(z.string(), z.number()) }) }).parse(found)
    .properties;
};

describe("a further contract", () => {
  it("has an owner, users, limits and a quota of its own", async () => {
    const fresh = await platform.contract();
    const { contractNumber, username } = fresh.ready;
    expect([platform, other].map(({ ready }) => ready.contractNumber)).not.toContain(contractNumber);
    const before = await usageOf(platform);
    await fresh.done("POST", `${await fresh.datacenter()}/servers`, serverBody());
    expect(await usageOf(fresh)).toMatchObject({
      contractNumber,
      owner: username,
      resourceLimits: { coresProvisioned: 4, ramProvisioned: 4096 },
    });
    expect(await usageOf(platform)).toEqual(before);
    await fresh.steer("PUT", "limits", { coresPerContract: 4 });
    const full = await fresh.core("POST", `${await fresh.datacenter()}/servers`, serverBody());
    expect(refusal(full, 422, "200")).toContain("coresPerContract is 4");
    await platform.done("POST", `${await platform.datacenter()}/servers`, serverBody());
  });

  it("is told by its token, and by every call in the list of calls", async () => {
    const { token, contractNumber } = other.ready;
    const payload: unknown = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
    expect(payload).toMatchObject({ identity: { contractNumber, role: "owner" } });
    await platform.steer("POST", "calls/reset");
    await other.core("GET", "/datacenters");
    const calls = await platform.steer("GET", "calls");
    expect(calls).toMatchObject({ byCaller: [{ contractNumber, username: other.ready.username, total: 1 }] });
    expect(JSON.stringify(calls)).not.toContain(token);
  });

  it("gives ids and public addresses that no other contract has", async () => {
    const [mine, theirs] = [await networkOf(platform).block(), await networkOf(other).block()];
    expect(mine.id).not.toBe(theirs.id);
    expect(mine.ip).not.toBe(theirs.ip);
  });

  it("does not disturb what the seed decides for the first one", async () => {
    const ids = async (contracts: number) => {
      const fresh = await startPlatform({ seed: 4, contracts });
      const [further] = fresh.ready.contracts;
      const datacenter = await fresh.datacenter();
      await fresh.close();
      return { datacenter, number: fresh.ready.contractNumber, further };
    };
    const [alone, neighbour] = [await ids(1), await ids(2)];
    expect(neighbour).toMatchObject({ datacenter: alone.datacenter, number: alone.number });
    expect([alone.further, neighbour.further?.contractNumber]).toEqual([undefined, expect.any(Number)]);
  });

  it("comes back after a restart with all that it holds", async () => {
    const data = mkdtempSync(join(tmpdir(), "contracts-"));
    try {
      const first = await startPlatform({ data });
      const before = await first.contract({ username: "kept@other.example" });
      const datacenter = await before.datacenter();
      await first.close();
      const second = await startPlatform({ data, contracts: 3 });
      const [kept, fresh] = second.ready.contracts;
      const { contractNumber, password, token, s3 } = before.ready;
      expect(kept).toEqual({ contractNumber, username: "kept@other.example", password, token, s3 });
      expect(fresh?.contractNumber).not.toBe(contractNumber);
      const authorization = `Bearer ${token}`;
      expect(await second.core("GET", datacenter, undefined, { authorization })).toMatchObject({ status: 200 });
      refusal(await second.core("GET", datacenter), 404, "309");
      await second.close();
    } finally {
      rmSync(data, { recursive: true, force: true });
    }
  });
});

describe("X-Contract-Number", () => {
  const as = (contractNumber: number, authorization: string) => ({
    authorization,
    headers: { "X-Contract-Number": String(contractNumber) },
  });

  it("cannot lead a token to another contract", async () => {
    const [mine, theirs] = [platform.ready, other.ready];
    const answer = (token: string, number: number) =>
      platform.core("GET", "/contracts", undefined, as(number, `Bearer ${token}`));
    expect(await answer(mine.token, mine.contractNumber)).toMatchObject({ status: 200 });
    refusal(await answer(mine.token, theirs.contractNumber), 403, "451");
    refusal(await answer(theirs.token, mine.contractNumber), 403, "451");
    refusal(await answer(theirs.token, 1), 403, "451");
  });

  it("chooses among the contracts that know a user by the same password", async () => {
    await platform.user("both@example.org");
    await other.user("both@example.org");
    const authorization = basic("both@example.org", "secret-1");
    for (const { contractNumber } of [platform.ready, other.ready]) {
      const answer = await platform.core("GET", "/contracts?depth=1", undefined, as(contractNumber, authorization));
      expect(items(answer)).toMatchObject([{ properties: { contractNumber } }]);
    }
  });

  it("does not need a second factor of a contract that is not meant", async () => {
    await platform.user("careful@example.org", { twoFactor: true });
    await other.user("careful@example.org");
    const authorization = basic("careful@example.org", "secret-1");
    const read = (options: object) => platform.core("GET", "/contracts", undefined, options);
    expect(await read({ authorization })).toMatchObject({ status: 200 });
    expect(await read(as(other.ready.contractNumber, authorization))).toMatchObject({ status: 200 });
    expect(refusal(await read(as(platform.ready.contractNumber, authorization)), 401, "315")).toContain("two-factor");
    refusal(await read(as(1, authorization)), 403, "451");
  });
});

describe("the object storage", () => {
  it("does not let the owner of one contract into the buckets of another", async () => {
    const [mine, theirs] = [storageOf(platform), storageOf(other)];
    expect(await theirs("PUT", "/only-theirs")).toMatchObject({ status: 200 });
    expect(await theirs("PUT", "/only-theirs/secret", "text")).toMatchObject({ status: 200 });
    for (const [method, path] of [
      ["GET", "/only-theirs"],
      ["HEAD", "/only-theirs/secret"],
      ["GET", "/only-theirs/secret"],
      ["PUT", "/only-theirs/other"],
      ["DELETE", "/only-theirs/secret"],
      ["DELETE", "/only-theirs"],
    ] as const) {
      expect(await mine(method, path), `${method} ${path}`).toMatchObject({ status: 403 });
    }
    expect((await mine("GET", "/")).text).not.toContain("only-theirs");
    expect((await theirs("GET", "/")).text).toContain("only-theirs");
    expect((await theirs("GET", "/")).text).not.toContain("flow-logs");
  });

  it("gets the flow logs of a contract in a bucket of that contract", async () => {
    expect(await storageOf(other)("PUT", "/their-flow-logs")).toMatchObject({ status: 200 });
    const server = await other.made(`${await other.datacenter()}/servers`, serverBody());
    const nic = items(await other.core("GET", `${server}/nics`))[0]?.id;
    const bucket = "their-flow-logs";
    const properties = { name: "f", action: "ALL", direction: "BIDIRECTIONAL", bucket };
    await other.done("POST", `${server}/nics/${nic}/flowlogs`, { properties });
    expect(await other.steer("POST", "flow-logs")).toMatchObject({
      objects: expect.arrayContaining([expect.objectContaining({ bucket })]),
    });
    expect((await storageOf(other)("GET", `/${bucket}`)).text).toContain(".log.gz");
  });
});

describe("pipelines of a further contract", () => {
  it("take metrics and lines by their keys, which are unknown to those of others", async () => {
    const metrics = await serviceFor(other, "monitoring").made();
    const pusher = pusherFor(other, metrics);
    expect((await pusher.push("up 1\n", plain)).status).toBe(204);
    expect(await pusher.samples("up")).toHaveLength(1);
    const unknown = await platform.call("GET", `/_simulator/samples?pipeline=${metrics.id}`);
    expect(unknown).toMatchObject({ status: 422 });

    const logs = serviceFor(other, "logging");
    const { path, key } = await logs.made();
    const { properties } = resource(await logs.call("GET", path));
    const sender = await openSender(other, String(properties.tcpAddress));
    expect(await sender.greet(key)).toMatchObject({ welcome: true, proven: true });
    sender.socket.destroy();
  });

  it("have a dashboard of their own", async () => {
    const { call } = serviceFor(other, "monitoring");
    const { grafanaEndpoint } = resource(
      await call("GET", `/central/${items(await call("GET", "/central"))[0]?.id}`),
    ).metadata;
    const page = await fetch(String(grafanaEndpoint));
    expect(await page.text()).toContain(`contract ${other.ready.contractNumber}`);
  });

  it("may have the id of a pipeline elsewhere, without touching it", async () => {
    const mine = serviceFor(platform, "monitoring");
    const { id, path } = await mine.made({ name: "mine" });
    const put = await serviceFor(other, "monitoring").call("PUT", path, { properties: { name: "theirs" } });
    expect(put).toMatchObject({ status: 201, body: { id } });
    expect(resource(await mine.call("GET", path)).properties.name).toBe("mine");
  });
});

it("steering names a contract, and refuses one that is not there", async () => {
  expect(await platform.steer("GET", "contracts")).toMatchObject({
    items: expect.arrayContaining(
      [platform, other].map(({ ready: { contractNumber, username } }) => ({
        contractNumber,
        users: expect.arrayContaining([{ id: expect.any(String), username, role: "owner" }]),
      })),
    ),
  });
  refusal(await platform.call("GET", "/_simulator/state?contract=1"), 422, "100");
  refusal(await other.call("GET", "/_simulator/state"), 403, "451");
});
