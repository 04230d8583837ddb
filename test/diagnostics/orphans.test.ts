import { describe, expect, it } from "vitest";
import { orphanReport } from "../../src/diagnostics/orphans.ts";
import type { Sources } from "../../src/diagnostics/sources.ts";
import type { KubeObject } from "../../src/kube/resource.ts";
import { Forbidden, NotFound, Unauthorized } from "../../src/platform/answers/errors.ts";
import { platform } from "../import/platform.ts";
import { clusterOf } from "../tools/landscape.ts";

const DATACENTER = "11111111-1111-4111-8111-111111111111";
const SERVER = "22222222-2222-4222-8222-222222222222";
const NIC = "33333333-3333-4333-8333-333333333333";
const FLOW_LOG = "44444444-4444-4444-8444-444444444444";

const VOLUME = "66666666-6666-4666-8666-666666666666";
const BLOCK = "77777777-7777-4777-8777-777777777777";
const LAN = "2";

const item = (id: string, more: object = {}) => ({ id, properties: { name: id.slice(0, 1) }, metadata: {}, ...more });
const servers = `/datacenters/${DATACENTER}/servers`;
const flowLogs = `${servers}/${SERVER}/nics/${NIC}/flowlogs`;
const contents = {
  "/datacenters": [item(DATACENTER)],
  [servers]: [item(SERVER, { entities: { nics: { items: [item(NIC)] } } })],
  [flowLogs]: [item(FLOW_LOG)],
};

/** A contract with these collections and no others, and a cluster with these objects. */
function sourcesOver(collections: Record<string, object[] | Error>, objects: KubeObject[] = []): Sources {
  const reader = platform(collections);
  return {
    platform: async () => reader,
    cluster: async () => clusterOf(objects),
    now: () => 0,
    signal: new AbortController().signal,
    progress: () => {},
  };
}

const refused = { call: "GET", status: 403, detail: "no" };

describe("orphans", () => {
  it("are found wherever they are, also in resources of other kinds", async () => {
    const { without_object, checked } = await orphanReport(sourcesOver(contents));
    expect(without_object.map(({ kind, id }) => [kind, id])).toEqual([
      ["Datacenter", DATACENTER],
      ["Server", SERVER],
      ["FlowLog", FLOW_LOG],
    ]);
    expect(without_object.at(-1)).toMatchObject({
      datacenter: DATACENTER,
      delete: `DELETE ${flowLogs}/${FLOW_LOG} (core)`,
    });
    expect(checked).toContain("FlowLog");
  });

  it.each([
    ["may not be read", new Forbidden(refused)],
    ["is not found, as behind a wrong base path", new NotFound({ ...refused, status: 404 })],
  ])("a kind whose list %s is not checked, nor what is in it", async (_, error) => {
    const { checked, not_checked, without_resource } = await orphanReport(
      sourcesOver({ ...contents, "/datacenters": error }),
    );
    expect(checked).not.toContain("Datacenter");
    expect(checked).not.toContain("Server");
    expect(checked).toContain("IPBlock");
    expect(not_checked.map(({ kind }) => kind)).toEqual(expect.arrayContaining(["Datacenter", "Server"]));
    expect(without_resource).toEqual([]);
  });
});

it.each([
  [
    "servers",
    (flowLogs: object) => item(`server-${FLOW_LOG}`, { entities: { nics: { items: [item(NIC, flowLogs)] } } }),
  ],
  ["natgateways", (flowLogs: object) => item(NIC, flowLogs)],
])("the calls follow the collections, and not the %s with flow logs in them", async (collection, one) => {
  const callsFor = async (count: number) => {
    const flowLog = (nth: number) => item(`flow-log-${nth}`, { metadata: { createdDate: "2026-01-01T00:00:00Z" } });
    const members = Array.from({ length: count }, (_, nth) => ({
      ...one({ entities: { flowlogs: { items: [flowLog(nth)] } } }),
      id: `member-${nth}`,
    }));
    const reader = platform({
      "/datacenters": [item(DATACENTER)],
      [`/datacenters/${DATACENTER}/${collection}`]: members,
    });
    const { without_object } = await orphanReport({ ...sourcesOver({}), platform: async () => reader });
    const found = without_object.filter(({ kind }) => kind === "FlowLog");
    expect(found).toHaveLength(count);
    expect(found[0]).toMatchObject({ id: "flow-log-0", created: "2026-01-01T00:00:00Z" });
    return reader.asked.length;
  };
  expect(await callsFor(300)).toBe(await callsFor(1));
});

it("a contract of which nothing can be read has no answer, instead of no orphans", async () => {
  const sources = sourcesOver({});
  const platform = await sources.platform();
  const read = () => Promise.reject(new Unauthorized({ call: "GET /x", status: 401, detail: "the token is wrong" }));
  const closed = { ...sources, platform: async () => ({ ...platform, read }) };
  await expect(orphanReport(closed)).rejects.toThrow(/nothing of the contract could be read: .*the token is wrong/);
});

describe("a resource without an object of its own", () => {
  const object = (kind: string, name: string, spec: object, status: object = {}): KubeObject => ({
    apiVersion: "mooring.dev/v1alpha1",
    kind,
    metadata: { name, namespace: "shop" },
    spec,
    status,
  });
  const parents = { datacenter: DATACENTER };
  const size = { cores: 1, ram: 1024 };
  const nic = item(NIC, { properties: { lan: Number(LAN) } });
  const withLan = {
    ...contents,
    [servers]: [item(SERVER, { entities: { nics: { items: [nic] }, volumes: { items: [{ id: VOLUME }] } } })],
    [`/datacenters/${DATACENTER}/volumes`]: [item(VOLUME)],
    [`/datacenters/${DATACENTER}/lans`]: [item(LAN)],
  };
  const web = object("Server", "web", { ...size, datacenterRef: { name: "dc" } }, { id: SERVER, parents });
  const other = object("Datacenter", "dc", { location: "de/txl" }, { id: "55555555-5555-4555-8555-555555555555" });
  const byId = object("Server", "web", { ...size, datacenterId: DATACENTER, nics: [{ name: "a", lan: Number(LAN) }] });

  it.each([
    ["holds the resource of an object, whose reference means another one by now", [other, web], ["Datacenter", "Lan"]],
    ["is attached to the resource of an object", [other, web], ["Volume"]],
    [
      "has the volume of an object attached",
      [object("Volume", "web", { size: 10 }, { id: VOLUME, parents })],
      ["Datacenter", "Server", "Lan"],
    ],
    ["is named by its id, also before anything is created", [byId], ["Datacenter", "Lan"]],
    [
      "is to be adopted, with all that it is in",
      [object("Server", "web", { ...size, datacenterRef: { name: "dc" }, externalId: SERVER })],
      ["Datacenter", "Server", "Lan"],
    ],
    [
      "is a LAN to be adopted, which has a number within the datacenter of a reference",
      [
        { ...other, status: { id: DATACENTER } },
        object("Lan", "web", { datacenterRef: { name: "dc" }, externalId: LAN }),
      ],
      ["Lan"],
    ],
    [
      "holds one by the id that the object was created in",
      [object("FlowLog", "web", {}, { id: FLOW_LOG, parents: { ...parents, server: SERVER, nic: NIC } })],
      ["Datacenter", "Server", "Lan"],
    ],
  ])("that %s is listed with its user and how to adopt it, and not to be deleted", async (_, objects, kinds) => {
    const { without_object, in_use } = await orphanReport(sourcesOver(withLan, objects));
    expect(in_use.map(({ kind }) => kind)).toEqual(expect.arrayContaining(kinds));
    expect(without_object.map(({ kind }) => kind).filter((kind) => kinds.includes(kind))).toEqual([]);
    const users = new Set(in_use.flatMap(({ used_by }) => used_by));
    expect([...users].filter((key) => key.endsWith("/web"))).toHaveLength(1);
    for (const each of in_use) {
      expect(each).not.toHaveProperty("delete");
      expect(each.take_over).toBe(`create an object of kind ${each.kind} with spec.externalId: ${each.id}`);
    }
  });

  it("is in use if an address of it is, and a flow log of a NIC is not", async () => {
    const block = item(BLOCK, { properties: { ips: ["192.0.2.7"], ipConsumers: [{ serverId: SERVER }] } });
    const entities = {
      nics: {
        items: [item(NIC, { properties: { ips: ["192.0.2.7"] }, entities: { flowlogs: { items: [item(FLOW_LOG)] } } })],
      },
    };
    const collections = { ...contents, "/ipblocks": [block], [servers]: [item(SERVER, { entities })] };
    const { without_object, in_use } = await orphanReport(sourcesOver(collections, [other, web]));
    expect(in_use.map(({ kind }) => kind)).toEqual(["Datacenter", "IPBlock"]);
    expect(without_object.map(({ kind }) => kind)).toEqual(["FlowLog"]);
  });

  it("is no user of what uses it", async () => {
    const block = item(BLOCK, { properties: { ipConsumers: [{ serverId: SERVER, datacenterId: DATACENTER }] } });
    const held = object("IPBlock", "ips", { location: "de/txl", size: 1 }, { id: BLOCK });
    const { in_use } = await orphanReport(sourcesOver({ ...contents, "/ipblocks": [block] }, [held]));
    expect(in_use).toEqual([]);
  });

  it("stays an orphan beside those in use", async () => {
    const { without_object, in_use } = await orphanReport(sourcesOver(contents, [byId]));
    expect(in_use.map(({ id, used_by }) => [id, used_by])).toEqual([[DATACENTER, ["Server/shop/web"]]]);
    expect(without_object.map(({ id }) => id)).toEqual([SERVER, FLOW_LOG]);
  });
});
