import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { items, startPlatform } from "../platform.ts";
import { storageOf } from "../storage.ts";

const data = mkdtempSync(join(tmpdir(), "simulator-demo-"));
const began = Date.now();
let platform = await startPlatform({ demoData: true, data });
const { contractNumber } = platform.ready;
afterAll(async () => {
  await platform.close();
  rmSync(data, { recursive: true, force: true });
});

/** The path, with the first id of the collection for each `{}`. */
async function filled(template: string): Promise<string> {
  const [begin = "", ...rest] = template.split("/{}");
  let path = begin;
  for (const part of rest) path = `${path}/${items(await platform.call("GET", path))[0]?.id}${part}`;
  return path;
}

const core = "/cloudapi/v6";
const dc = `${core}/datacenters/{}`;
const below = (place: string, ...names: string[]) => names.map((name) => `${place}/${name}`);

describe("the demo data has something in", () => {
  it.each([
    ...below(core, "datacenters", "ipblocks", "pccs", "snapshots", "targetgroups", "requests", "labels", "contracts"),
    ...below(dc, "servers", "volumes", "lans", "loadbalancers", "networkloadbalancers", "applicationloadbalancers"),
    ...below(dc, "natgateways", "securitygroups", "lans/1/nics", "lans/2/nics"),
    ...below(`${dc}/servers/{}`, "volumes", "cdroms", "gpus", "nics", "labels"),
    ...below(`${dc}/servers/{}/nics/{}`, "firewallrules", "flowlogs"),
    `${dc}/loadbalancers/{}/balancednics`,
    `${dc}/networkloadbalancers/{}/forwardingrules`,
    `${dc}/applicationloadbalancers/{}/forwardingrules`,
    `${dc}/natgateways/{}/rules`,
    `${dc}/securitygroups/{}/rules`,
    `${core}/k8s/{}/nodepools/{}/nodes`,
    ...below("/dns", "zones", "records", "secondaryzones", "reverserecords"),
    ...below("/dns", "zones/{}/records", "secondaryzones/{}/records"),
    ...below("/certificate-manager", "certificates", "auto-certificates", "providers"),
    ...below("/object-storage-management", "accesskeys", "regions"),
  ])("%s", async (template) => {
    expect(items(await platform.call("GET", await filled(template))).length).toBeGreaterThan(0);
  });

  it.each([
    ...["cors", "encryption", "lifecycle", "policy", "policyStatus", "replication", "tagging", "versioning"],
    ...["publicAccessBlock", "object-lock", "versions"],
  ])("?%s of its bucket", async (setting) => {
    const answer = await storageOf(platform)("GET", `/shop-assets?${setting}`);
    expect(answer).toMatchObject({ status: 200 });
    expect(answer.text.length).toBeGreaterThan(100);
  });

  it.each(["tagging", "retention", "legal-hold"])("?%s of an object", async (setting) => {
    expect(await storageOf(platform)("GET", `/shop-assets/index.html?${setting}`)).toMatchObject({ status: 200 });
  });

  it("the keys of its zone, and the log of this day", async () => {
    expect((await platform.call("GET", await filled("/dns/zones/{}/keys"))).status).toBe(200);
    const today = new Date().toISOString().slice(0, 10);
    const { body } = await platform.call("GET", `/activitylog/v1/contracts/${contractNumber}?startDate=${today}`);
    expect(JSON.stringify(body)).toContain("/dns/zones/");
  });
});

const invoices = z.object({ invoices: z.array(z.object({ id: z.string(), amount: z.number() })) });
const stamped = z.looseObject({ metadata: z.looseObject({ createdDate: z.string() }) });

it("is 100 days old: there are invoices of the last months and the draft of this one", async () => {
  const list = invoices.parse((await platform.call("GET", `/billing/${contractNumber}/invoices`)).body).invoices;
  expect(list.length).toBeGreaterThanOrEqual(4);
  for (const { amount } of list.slice(1, -1)) expect(amount).toBeGreaterThan(50);
  const { createdDate } = stamped.parse((await platform.call("GET", await filled(`${dc}/servers/{}`))).body).metadata;
  expect((began - Date.parse(createdDate)) / 86_400_000).toBeCloseTo(100, 0);
});

it("ends at the present moment", async () => {
  const { now } = z.looseObject({ now: z.string() }).parse(await platform.steer("GET", "state"));
  expect(Math.abs(Date.parse(now) - Date.now())).toBeLessThan(60_000);
});

it("is the same for a seed, and a restart finds it as it was", async () => {
  const datacenters = async () => items(await platform.call("GET", `${core}/datacenters`)).map(({ id }) => id);
  const before = await datacenters();
  const other = await startPlatform({ demoData: true });
  expect(items(await other.call("GET", `${core}/datacenters`)).map(({ id }) => id)).toEqual(before);
  await other.close();
  await platform.close();
  platform = await startPlatform({ demoData: true, data });
  expect(await datacenters()).toEqual(before);
});
