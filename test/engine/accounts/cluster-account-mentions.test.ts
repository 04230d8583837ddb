import { describe, expect, test } from "vitest";
import type { KubeObject } from "../../../src/kube/resource.ts";
import { fakePlatform } from "../support/fake-platform.ts";
import { API, objectOf, readyCondition, scriptedConnection } from "../support/fixtures.ts";
import { DC, type Life, live, readyOf } from "../support/lives.ts";
import { stage } from "../support/stage.ts";

const SHARED = "ClusterAccount/shared";
const [THEIRS, PRIVATE, PUBLIC, UNKNOWN, NIC] = ["1", "2", "3", "4", "5"].map((digit) => DC.replaceAll("7", digit));
const IP = "203.0.113.7";
const spec = { accountRef: { kind: "ClusterAccount", name: "shared" }, datacenterRef: { name: "home" } };

const of = (kind: string, more: object) =>
  objectOf(kind, "a", { spec: { ...spec, ...more }, metadata: { name: "a", namespace: "team" } });
const owned = (kind: string, name: string, namespace: string, account: string, status: object, more: object = {}) =>
  objectOf(kind, name, {
    spec: { location: "de/txl", size: 1, ...more },
    metadata: { name, namespace },
    status: { account, contract: 1, conditions: [readyCondition()], location: "de/txl", ...status },
  });

const volume = (source: object) => of("Volume", { size: 1, type: "HDD", ...source });
const server = (parts: object) => of("Server", { type: "VCPU", cores: 1, ram: 1024, ...parts });
const nic = (more: object) => server({ nics: [{ name: "n", lan: 1, ...more }] });
const policy = {
  metric: "INSTANCE_CPU_UTILIZATION_AVERAGE",
  unit: "PERCENTAGE",
  scaleInThreshold: 20,
  scaleOutThreshold: 80,
  scaleInAction: { amount: 1, deleteVolumes: true },
  scaleOutAction: { amount: 1 },
};
const group = (replica: object) =>
  of("ScalingGroup", { minReplicas: 1, maxReplicas: 1, policy, replica: { cores: 1, ram: 1024, ...replica } });
const member = (targetGroupId: string | undefined) =>
  group({ nics: [{ name: "n", lan: 1, targetGroup: { targetGroupId, port: 80 } }] });
const flowLog = (nicId: string | undefined) =>
  of("FlowLog", { serverId: THEIRS, nicId, action: "Any", direction: "Ingress", bucket: "flow-logs" });
const replica = (image: string | undefined) => group({ volumes: [{ name: "v", size: 1, type: "HDD", image }] });

/**
 * The platform has a snapshot, an IP block and a server. An object of this namespace owns them, through this Account.
 */
async function asked(
  object: KubeObject,
  { by = "", through = SHARED, home = SHARED, adoption = "None" as "None" | "Any", managementPolicy = "Manage" } = {},
) {
  const platform = fakePlatform();
  const image = (id: string | undefined, open: boolean, name: string) => {
    const properties = { name, public: open, location: "de/txl", imageType: "HDD", cloudInit: "V1" };
    platform.make(name, { properties }, { path: "/images", targets: [id ?? ""] });
  };
  image(PRIVATE, false, "ubuntu-99");
  image(PUBLIC, true, "ubuntu-24");
  const datacenter = owned("Datacenter", "home", "team", home, { id: DC });
  const parts = { ips: [IP], parents: { datacenter: DC }, nics: [{ id: NIC }] };
  const theirs = ["Snapshot", "IPBlock", "Server"].map((kind) =>
    owned(kind, "theirs", by, through, { id: THEIRS, ...parts }, { managementPolicy }),
  );
  const all = stage([object, datacenter, ...(by === "" ? [] : theirs)], { platform });
  const handle = all.accounts.get(SHARED);
  if (handle) all.accounts.put({ ...handle, adoption });
  const life: Life = { all, key: `${object.kind}/team/a`, object, beforeEach: platform.beforeEach };
  await live(life, 5, () => platform.sent("POST").length > 0);
  const [sent] = platform.sent("POST");
  return {
    reason: readyOf(life)?.reason,
    message: readyOf(life)?.message,
    sent: sent && `${sent.url} ${JSON.stringify(sent.body)}`,
  };
}

describe("through a ClusterAccount without adoption, what others have is not reached by", () => {
  test.each([
    ["the image of a Volume", volume({ image: THEIRS })],
    ["the image of a boot volume", server({ bootVolume: { size: 1, type: "HDD", image: THEIRS } })],
    ["the image of replicas", replica(THEIRS)],
    ["the ids of a NIC and its server", flowLog(NIC)],
    ["a public address of a NIC", nic({ ips: ["10.0.0.2", IP] })],
  ])("%s, in the same words whoever has it", async (_, object) => {
    const nobody = await asked(object);
    expect(nobody).toMatchObject({ reason: "NotYours", sent: undefined });
    expect(nobody.message).toMatch(/(image|ips|serverId): no object of namespace team owns /);
    expect(await asked(object, { by: "other" })).toEqual(nobody);
    expect(await asked(object, { by: "team", through: "team/own" })).toEqual(nobody);
    expect(await asked(object, { by: "team", managementPolicy: "Observe" })).toEqual(nobody);
    expect((await asked(object, { by: "team" })).sent).toMatch(new RegExp(`${THEIRS}|${IP}`));
    expect((await asked(object, { adoption: "Any" })).sent).toMatch(new RegExp(`${THEIRS}|${IP}`));
  });

  test.each([
    ["the id of an image that somebody has brought", volume({ image: PRIVATE })],
    ["the id of nothing", volume({ image: UNKNOWN })],
    ["a target group, of which no object has any", member(THEIRS)],
  ])("%s", async (_, object) => {
    expect(await asked(object)).toMatchObject({ reason: "NotYours", sent: undefined });
    expect((await asked(object, { adoption: "Any" })).sent).toBeDefined();
  });

  test("the id of a NIC that the server, which is theirs, does not have", async () => {
    const refused = await asked(flowLog(UNKNOWN), { by: "team" });
    expect(refused).toMatchObject({ reason: "NotYours", sent: undefined });
    expect(refused.message).toContain(`nicId: no object of namespace team owns ${UNKNOWN}`);
  });

  test.each([
    ["a Lan", of("Lan", {})],
    ["a Server with the number of a LAN", nic({})],
  ])("the name of an object that another Account has shown: %s", async (_, object) => {
    expect(await asked(object, { home: "team/own" })).toMatchObject({ reason: "NotYours", sent: undefined });
    expect((await asked(object)).sent).toBeDefined();
    // Another ClusterAccount of the same contract works as well.
    expect((await asked(object, { home: "ClusterAccount/other" })).sent).toBeDefined();
  });
});

test.each([
  ["an image of others is not changed", PRIVATE, "NotYours", 0],
  ["a public one is", PUBLIC, "Updating", 1],
])("a group that is given %s", async (_, image, reason, sent) => {
  const properties = { name: "a", minReplicaCount: 1, maxReplicaCount: 1, datacenter: { id: DC } };
  const group = { id: UNKNOWN, metadata: { state: "AVAILABLE" }, properties };
  const images = [PRIVATE, PUBLIC].map((id) => ({ id, properties: { public: id === PUBLIC } }));
  const changes: unknown[] = [];
  const connection = scriptedConnection(({ method, url, body }) => {
    if (method !== "GET") changes.push(body);
    return url.includes("/images") ? { items: images } : url.includes(`/${UNKNOWN}`) ? group : { items: [group] };
  });
  const status = { id: UNKNOWN, account: SHARED, endpoint: API, parents: { datacenter: DC } };
  const object = { ...replica(image), status };
  const all = stage([object, owned("Datacenter", "home", "team", SHARED, { id: DC })], { connection });
  const life: Life = { all, key: "ScalingGroup/team/a", object, beforeEach: () => {} };
  await live(life, 5, () => changes.length > 0);
  expect(readyOf(life)?.reason).toBe(reason);
  expect(changes).toHaveLength(sent);
});

describe("through a ClusterAccount without adoption, everybody has", () => {
  test("the public images, by their ids", async () => {
    expect((await asked(volume({ image: PUBLIC }))).sent).toContain(PUBLIC);
  });

  test("and no others by a lookup, which sees the newest of all with adoption: Any", async () => {
    const lookup = volume({ imageLookup: { name: "ubuntu" } });
    expect((await asked(lookup)).sent).toContain(PUBLIC);
    expect((await asked(lookup, { adoption: "Any" })).sent).toContain(PRIVATE);
  });

  test("private addresses, which are the LAN's own", async () => {
    expect((await asked(nic({ ips: ["10.0.0.2", "172.31.0.1", "192.168.1.1"] }))).sent).toBeDefined();
    expect(await asked(nic({ ips: ["172.32.0.1"] }))).toMatchObject({ reason: "NotYours" });
  });
});
