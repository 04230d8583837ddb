import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { DeleteBucketCommand, GetObjectCommand, ListObjectsV2Command, type S3Client } from "@aws-sdk/client-s3";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { clientFor } from "../../clients/s3/client.ts";
import { type FlowRecord, recordsIn } from "../flow-records.ts";
import { type Platform, refusal, resource, serverBody, startPlatform } from "../platform.ts";

const minutes = 60;
const steeredShape = z.object({ objects: z.array(z.object({ bucket: z.string(), key: z.string() })) });

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "flow-logs-"));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close();
});

/** A platform with one server and one NIC, and a reader of the bucket. */
async function start(options: Parameters<typeof startPlatform>[0] = {}) {
  const platform = await startPlatform(options);
  open.push(platform);
  const client = clientFor(platform.ready.endpoints.objectStorage, platform.ready.s3);
  open.push({ close: async () => client.destroy() });
  return { platform, client };
}

async function nicWith(platform: Platform, properties: object = {}, rules: object[] = []): Promise<string> {
  const datacenter = await platform.datacenter();
  const made = resource(await platform.done("POST", `${datacenter}/servers`, serverBody({}, {}, properties)));
  await platform.done("POST", `${datacenter}/servers`, serverBody({ name: "peer" }));
  const nic = `${datacenter}/servers/${made.id}/nics/${made.entities?.nics?.items?.[0]?.id}`;
  for (const rule of rules) await platform.done("POST", `${nic}/firewallrules`, { properties: rule });
  return nic;
}

const stateShape = z.object({ now: z.iso.datetime() });

/** Creates a flow log one minute into an interval. It is available a minute later. */

async function logOn(platform: Platform, holder: string, properties: object = {}): Promise<string> {
  const now = Date.parse(stateShape.parse(await platform.steer("GET", "state")).now) / 1000;
  await platform.advance(11 * minutes - (now % (10 * minutes)));
  const body = { name: "traffic", action: "ALL", direction: "BIDIRECTIONAL", bucket: "flow-logs", ...properties };
  return resource(await platform.done("POST", `${holder}/flowlogs`, { properties: body })).id;
}

async function keys(client: S3Client): Promise<string[]> {
  const { Contents } = await client.send(new ListObjectsV2Command({ Bucket: "flow-logs" }));
  return (Contents ?? []).map(({ Key }) => Key ?? "");
}

async function textIn(client: S3Client, Key: string): Promise<string> {
  const { Body } = await client.send(new GetObjectCommand({ Bucket: "flow-logs", Key }));
  return gunzipSync((await Body?.transformToByteArray()) ?? new Uint8Array()).toString();
}

/** Waits for whole intervals and reads their records. */
async function recordsOver(platform: Platform, client: S3Client, intervals: number): Promise<FlowRecord[]> {
  const before = (await keys(client)).length;
  await platform.advance(intervals * 10 * minutes);
  await expect.poll(async () => (await keys(client)).length).toBe(before + intervals);
  const texts = await Promise.all((await keys(client)).slice(before).map((key) => textIn(client, key)));
  return texts.flatMap(recordsIn);
}

const addressesOf = async (platform: Platform, nic: string) =>
  z.array(z.string()).parse(resource(await platform.core("GET", nic)).properties.ips);

describe("the objects of a flow log", { timeout: 60_000 }, () => {
  it("come every ten minutes, named by flow log and begin of the interval", async () => {
    const { platform, client } = await start();
    const id = await logOn(platform, await nicWith(platform));
    await platform.advance(10 * minutes);
    await expect.poll(() => keys(client)).toHaveLength(1);
    const [key = ""] = await keys(client);
    expect(key).toMatch(new RegExp(`^traffic-${id}-\\d{8}T\\d{2}\\d0{3}Z\\.log\\.gz$`));
    await platform.advance(10 * minutes);
    await expect.poll(() => keys(client)).toHaveLength(2);
  });

  it("have the prefix behind the name of the bucket", async () => {
    const { platform, client } = await start();
    await logOn(platform, await nicWith(platform), { bucket: "flow-logs/prod/web-" });
    await platform.advance(10 * minutes);
    await expect.poll(() => keys(client)).toEqual([expect.stringMatching(/^prod\/web-traffic-/)]);
  });

  it("are all there after a jump of the clock, but of the last day only", async () => {
    const { platform, client } = await start();
    await logOn(platform, await nicWith(platform));
    await platform.advance(60 * minutes);
    await expect.poll(() => keys(client)).toHaveLength(6);
    await platform.advance(30 * 86_400);
    await expect.poll(() => keys(client)).toHaveLength(6 + 144);
  });

  it("stay when the flow log is deleted, and no more come", async () => {
    const { platform, client } = await start();
    const nic = await nicWith(platform);
    const id = await logOn(platform, nic);
    await platform.advance(10 * minutes);
    await expect.poll(() => keys(client)).toHaveLength(1);
    await platform.done("DELETE", `${nic}/flowlogs/${id}`);
    await platform.advance(60 * minutes);
    await platform.steer("POST", "flow-logs");
    expect(await keys(client)).toHaveLength(1);
  });

  it("are written before their time when steering asks, as far as they have come", async () => {
    const { platform, client } = await start();
    await logOn(platform, await nicWith(platform));
    await platform.advance(10 * minutes);
    await expect.poll(() => keys(client)).toHaveLength(1);
    await platform.advance(4 * minutes);
    const { objects } = steeredShape.parse(await platform.steer("POST", "flow-logs"));
    const key = objects[0]?.key ?? "";
    const beginning = recordsIn(await textIn(client, key));
    expect(beginning.length).toBeGreaterThan(0);
    await platform.advance(10 * minutes);
    await expect.poll(async () => recordsIn(await textIn(client, key)).length).toBeGreaterThan(beginning.length);
    const whole = recordsIn(await textIn(client, key));
    expect(await keys(client)).toHaveLength(2);
    expect(whole.map(({ line }) => line)).toEqual(expect.arrayContaining(beginning.map(({ line }) => line)));
  });

  it("tell the same story for the same seed, whatever the hour", async () => {
    const stories = [];
    for (const hours of [0, 5]) {
      const { platform, client } = await start({ seed: 7 });
      await platform.advance(hours * 60 * minutes);
      await logOn(platform, await nicWith(platform));
      await recordsOver(platform, client, 1);
      const records = await recordsOver(platform, client, 1);
      stories.push(records.map(({ start, end, line, ...rest }) => ({ ...rest, after: start % (10 * minutes) })));
    }
    expect(stories[0]?.length).toBeGreaterThan(0);
    expect(stories[1]).toEqual(stories[0]);
  });

  it("go on after a restart where they stopped", async () => {
    const data = join(directory, "restart");
    const first = await start({ data });
    await logOn(first.platform, await nicWith(first.platform));
    await first.platform.advance(10 * minutes);
    await expect.poll(() => keys(first.client)).toHaveLength(1);
    for (const each of open.splice(0).reverse()) await each.close();
    const second = await start({ data });
    expect(await keys(second.client)).toHaveLength(1);
    await second.platform.advance(20 * minutes);
    await expect.poll(() => keys(second.client)).toHaveLength(3);
  });

  it("cannot be sent to a bucket that does not exist", async () => {
    const { platform } = await start();
    const nic = await nicWith(platform);
    const properties = { name: "x", action: "ALL", direction: "INGRESS", bucket: "nowhere/at-all" };
    const message = refusal(await platform.core("POST", `${nic}/flowlogs`, { properties }), 422, "100");
    expect(message).toContain("[(root).properties.bucket] the bucket nowhere does not exist");
    expect(message).toContain("create it");
  });

  it("that cannot be written are told on the error channel, and the platform goes on", async () => {
    const errors: string[] = [];
    const { platform, client } = await start({ buckets: ["short-lived"], onError: (where) => errors.push(where) });
    const id = await logOn(platform, await nicWith(platform), { bucket: "short-lived" });
    await client.send(new DeleteBucketCommand({ Bucket: "short-lived" }));
    await platform.advance(10 * minutes);
    await expect.poll(() => errors).toEqual([expect.stringContaining(`flow log ${id}`)]);
    expect((await platform.core("GET", "/datacenters")).status).toBe(200);
  });
});

describe("the records of a NIC", { timeout: 60_000 }, () => {
  it("have fourteen fields in the order of version 2, about its own traffic in the interval", async () => {
    const { platform, client } = await start();
    const nic = await nicWith(platform);
    await logOn(platform, nic);
    const [own = ""] = await addressesOf(platform, nic);
    const records = (await recordsOver(platform, client, 3)).filter(({ status }) => status === "OK");
    expect(records.length).toBeGreaterThan(30);
    for (const record of records) {
      expect(record).toMatchObject({ account: String(platform.ready.contractNumber), face: nic.split("/").at(-1) });
      expect([record.source, record.target]).toContain(own);
      expect(record.end).toBeGreaterThanOrEqual(record.start);
      expect(record.bytes).toBeGreaterThanOrEqual(record.packets * 40);
    }
    expect(new Set(records.map(({ protocol }) => protocol))).toEqual(new Set([1, 6, 17]));
    const peers = records.flatMap(({ source, target }) => [source, target]);
    expect(peers.some((address) => /^10\.1\./.test(address) && address !== own)).toBe(true);
    expect(peers.some((address) => /^(192\.0\.2|198\.51\.100|203\.0\.113)\./.test(address))).toBe(true);
  });

  it("tell of IPv6 too when the NIC has it", async () => {
    const { platform, client } = await start();
    const nic = await nicWith(platform);
    await platform.done("PATCH", `${nic.split("/servers/")[0]}/lans/1`, { ipv6CidrBlock: "AUTO" });
    const [own] = z.array(z.string()).parse(resource(await platform.core("GET", nic)).properties.ipv6Ips);
    await logOn(platform, nic);
    const records = await recordsOver(platform, client, 3);
    const six = records.filter(({ source }) => source.includes(":"));
    expect(six.length).toBeGreaterThan(0);
    expect(six.length).toBeLessThan(records.length);
    expect(six.some(({ protocol }) => protocol === 58)).toBe(true);
    expect(six.every(({ source, target }) => own && [source, target].includes(own))).toBe(true);
  });

  it("follow the rules of its firewall: what no rule allows is rejected", async () => {
    const { platform, client } = await start();
    const allowed = { name: "web", protocol: "TCP", portRangeStart: 8443, portRangeEnd: 8443 };
    const nic = await nicWith(platform, { firewallActive: true, firewallType: "BIDIRECTIONAL" }, [allowed]);
    await logOn(platform, nic);
    const [own = ""] = await addressesOf(platform, nic);
    const records = (await recordsOver(platform, client, 3)).filter(({ status }) => status === "OK");
    const toService = ({ target, targetPort, protocol }: FlowRecord) =>
      target === own && targetPort === 8443 && protocol === 6;
    const fromService = ({ source, sourcePort }: FlowRecord) => source === own && sourcePort === 8443;
    for (const record of records) {
      expect(record.action).toBe(toService(record) || fromService(record) ? "ACCEPT" : "REJECT");
    }
    expect(new Set(records.map(({ action }) => action))).toEqual(new Set(["ACCEPT", "REJECT"]));
  });

  it("are mostly accepted without a firewall", async () => {
    const { platform, client } = await start();
    await logOn(platform, await nicWith(platform));
    const records = await recordsOver(platform, client, 3);
    expect(records.filter(({ action }) => action === "ACCEPT").length).toBeGreaterThan(records.length * 0.85);
  });

  it.each([
    ["REJECTED", "INGRESS", "REJECT", "target"],
    ["ACCEPTED", "EGRESS", "ACCEPT", "source"],
  ])("are %s and %s where the flow log asks for that", async (action, direction, noted, side) => {
    const { platform, client } = await start();
    const nic = await nicWith(platform, { firewallActive: true });
    await logOn(platform, nic, { action, direction });
    const [own = ""] = await addressesOf(platform, nic);
    const records = (await recordsOver(platform, client, 3)).filter(({ status }) => status === "OK");
    expect(records.length).toBeGreaterThan(10);
    for (const record of records) expect(record).toMatchObject({ action: noted, [side]: own });
  });

  it("say now and then that some were skipped, with zeros in place of the traffic", async () => {
    const { platform, client } = await start();
    await logOn(platform, await nicWith(platform));
    const records = await recordsOver(platform, client, 144);
    const gaps = records.filter(({ status }) => status === "SKIPDATA");
    expect(gaps.length).toBeGreaterThan(0);
    expect(gaps.length).toBeLessThan(15);
    for (const gap of gaps) expect(gap).toMatchObject({ source: "0.0.0.0", packets: 0, bytes: 0 });
  });
});

describe("the records of a gateway", { timeout: 60_000 }, () => {
  it("are about the addresses of a NAT gateway and its LAN", async () => {
    const { platform, client } = await start();
    const nic = await nicWith(platform);
    const datacenter = nic.split("/").slice(0, 3).join("/");
    const block = resource(
      await platform.done("POST", "/ipblocks", { properties: { location: "de/fra", size: 1, name: "nat" } }),
    );
    const [ip = ""] = z.array(z.string()).parse(block.properties.ips);
    const properties = { name: "nat", publicIps: [ip], lans: [{ id: 1 }] };
    const gateway = resource(await platform.done("POST", `${datacenter}/natgateways`, { properties }));
    await logOn(platform, `${datacenter}/natgateways/${gateway.id}`);
    const records = (await recordsOver(platform, client, 2)).filter(({ status }) => status === "OK");
    expect(records.every(({ face }) => face === gateway.id)).toBe(true);
    expect(records.some(({ source }) => source === ip)).toBe(true);
  });
});
