import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { type Landscape, landscape } from "../landscape.ts";
import { datacenter, ipBlock, metricPipeline, server, volume } from "../objects.ts";

let world: Landscape;
const objects = ["datacenter/dc", "server/web", "volume/disk", "ipblock/block", "metricpipeline/web"];
const condition = (type: string, field: string) => `{.status.conditions[?(@.type=="${type}")].${field}}`;
const conditionOf = (name: string) =>
  world.value(name, `${condition("Ready", "reason")} ${condition("Stalled", "status")}`);
const conditionsOf = () => Promise.all(objects.map(conditionOf));
const ids = () => Promise.all(objects.map((name) => world.value(name, "{.status.id}")));
const callsOf = async (isMeant: (route: string) => boolean) => {
  const { byRoute } = await world.platform.calls();
  return Object.entries(byRoute).filter(([route]) => isMeant(route));
};
const writes = () => callsOf((route) => !route.startsWith("GET "));
const checks = () => world.operator.metric("controller_runtime_reconcile_total", 'controller="account"');

/** Waits for several resyncs, longer than the operator needs to report a resource as missing. */
async function untilAccountRead(): Promise<void> {
  const before = await checks();
  await expect.poll(checks).toBeGreaterThan(before + 8);
}

/** All resources are unchanged, and nothing was written. */
async function expectUntouched(before: string[]): Promise<void> {
  expect(await writes()).toEqual([]);
  await world.platform.faults();
  await expect.poll(conditionsOf).toEqual(objects.map(() => "Available "));
  expect(await ids()).toEqual(before);
  expect(await writes()).toEqual([]);
}

beforeAll(async () => {
  world = await landscape({
    simulator: ["--speed", "60"],
    operator: [
      ...["--create-deadline", "3s", "--settle", "1s", "--retry", "1s"],
      ...["--resync", "1s", "--recheck", "2s", "--missing-after", "2s"],
    ],
  });
  const size = { size: 10, type: "HDD", licenceType: "OTHER" };
  await world.apply(datacenter("dc"), server("web"), volume("disk", size), ipBlock("block"), metricPipeline("web"));
});

beforeEach(async () => {
  await world.platform.faults();
  await world.untilReady(...objects);
  await world.platform.resetCalls();
});

describe("nothing is created a second time", () => {
  it.each([
    [
      "a gateway answers 404 to all but the contract",
      { fault: "404-everything", except: ["GET /cloudapi/v6/contracts"] },
    ],
    [
      "the platform answers 404 to all but the contract",
      { fault: "404-everything", body: "platform", except: ["GET /cloudapi/v6/contracts"] },
    ],
    ["all lists are empty", { fault: "empty-lists", except: ["GET /cloudapi/v6/contracts"] }],
  ])("while %s", async (_, fault) => {
    const before = await ids();
    await world.platform.faults(fault);
    await untilAccountRead();
    await expectUntouched(before);
  });

  it("while all lists and reads are empty: the objects are Missing, and say what can be done", async () => {
    const before = await ids();
    const except = ["GET /cloudapi/v6/contracts", "GET /cloudapi/v6/requests"];
    await world.platform.faults({ fault: "empty-lists", single: true, except });
    await expect.poll(conditionsOf).toEqual(objects.map(() => "Missing True"));
    for (const [index, name] of objects.entries()) {
      const message = await world.value(name, condition("Stalled", "message"));
      expect(message).toContain(`mooring.dev/recreate to "${before[index]}"`);
    }
    await untilAccountRead();
    await expectUntouched(before);
  });

  it("while the token belongs to another user of the contract; with the right one all goes on at once", async () => {
    const before = await ids();
    const person = { firstname: "An", lastname: "Other", email: "another@example.org", password: "Secret-Password-1" };
    await world.platform.call("POST", "/cloudapi/v6/um/users", { properties: { ...person, administrator: false } });
    const basic = Buffer.from(`${person.email}:${person.password}`).toString("base64");
    const answer = await fetch(`${world.platform.url}/auth/v1/tokens/generate`, {
      headers: { authorization: `Basic ${basic}` },
    });
    const { token } = z.object({ token: z.string() }).parse(await answer.json());
    await world.platform.resetCalls();
    const secret = (value: string) => ({
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "token" },
      stringData: { token: value },
    });
    await world.apply(secret(token));
    await expect.poll(conditionsOf).toEqual(objects.map(() => "UserChanged True"));
    expect(await conditionOf("account/main")).toBe("UserChanged True");
    expect(await world.value("account/main", condition("Stalled", "message"))).toContain("mooring.dev/accept-user");
    await untilAccountRead();
    expect(await writes()).toEqual([]);
    await world.apply(secret(world.platform.token));
    await expectUntouched(before);
  });
});

describe("a resource that somebody has deleted on the platform", () => {
  const listed = z.looseObject({ items: z.array(z.looseObject({ message: z.string().optional() })) });
  const reported = async (name: string) =>
    listed.parse(await world.get("events", `involvedObject.name=${name}`)).items.map(({ message = "" }) => message);

  it("is created again, and the Event says who deleted it", async () => {
    const [pipeline, dc, web] = [await world.value("metricpipeline/web", "{.status.id}"), ...(await ids())];
    await world.platform.call("DELETE", `/cloudapi/v6/datacenters/${dc}/servers/${web}`);
    await world.platform.call("DELETE", `/monitoring/de-txl/pipelines/${pipeline}`);
    for (const [name, id] of [
      ["server/web", web],
      ["metricpipeline/web", pipeline],
    ] as const) {
      await expect.poll(() => world.value(name, "{.status.id}")).not.toMatch(new RegExp(`^(${id})?$`));
      await expect
        .poll(async () => (await reported("web")).join("\n"))
        .toMatch(`${id} was deleted outside Mooring by `);
    }
    await world.untilReady(...objects);
    expect(await world.platform.resources("servers")).toHaveLength(1);
  });

  it("and held data stays lost until a person says that a new one is to be created", async () => {
    const [dc = "", , disk = ""] = await ids();
    await world.platform.call("DELETE", `/cloudapi/v6/datacenters/${dc}/volumes/${disk}`);
    await world.untilReason("volume/disk", "DeletedExternally");
    const message = await world.value("volume/disk", condition("Stalled", "message"));
    expect(message).toMatch(/was deleted outside Mooring by \S+ at .*what only it held is lost/);
    await untilAccountRead();
    expect(await callsOf((route) => route.startsWith("POST ") && route.endsWith("/volumes"))).toEqual([]);
    await world.annotate("volume/disk", `mooring.dev/recreate=${disk}`);
    await world.untilReady("volume/disk");
    expect(await world.value("volume/disk", "{.status.id}")).not.toBe(disk);
  });
});

it("a deletion that hides what it deletes, and then fails, leaves no orphan", async () => {
  await world.apply(ipBlock("hidden"));
  await world.untilReady("ipblock/hidden");
  const id = await world.value("ipblock/hidden", "{.status.id}");
  const route = "DELETE /cloudapi/v6/ipblocks/{ipblockId}";
  await world.platform.faults(
    { route, fault: "hidden-while-deleting" },
    { route, fault: "request-failed", message: "[VDC-1-1] in use", count: 1 },
    { route, fault: "slow-provisioning", factor: 60 },
  );
  await world.askToRemove("ipblock/hidden");
  await world.untilReason("ipblock/hidden", "ProvisioningFailed");
  expect((await world.platform.resources("ipblocks")).map((block) => block.id)).toContain(id);
  await world.platform.faults();
  await world.untilGone("ipblock/hidden");
  expect((await world.platform.resources("ipblocks")).map((block) => block.id)).not.toContain(id);
});
