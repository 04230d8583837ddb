import { describe, expect, it } from "vitest";
import { z } from "zod";
import { type Answer, items, platformForFile, refusal, resource } from "../../platform.ts";

const platform = await platformForFile();
const datacenter = (await platform.datacenter()).replace("/datacenters/", "");

const addGroup = async (properties: object = {}) => {
  const answer = await platform.core("POST", "/um/groups", { properties: { name: "developers", ...properties } });
  return `/um/groups/${resource(answer).id}`;
};
let people = 0;
/** A user without own privileges. */
async function newcomer() {
  const { token, userId } = await platform.user(`newcomer-${people++}@example.org`, { privileges: [] });
  return { id: userId, as: { authorization: `Bearer ${token}` } };
}
const createDatacenter = (as: { authorization: string }) =>
  platform.core("POST", "/datacenters", { properties: { name: "x", location: "de/fra" } }, as);

describe("a group", () => {
  it("has every privilege flag, off unless set", async () => {
    const answer = await platform.core("POST", "/um/groups", {
      properties: { name: "network", createFlowLog: true },
    });
    expect(answer).toMatchObject({
      status: 201,
      body: { type: "group", properties: { name: "network", createFlowLog: true, accessAndManageMonitoring: false } },
    });
    expect(Object.keys(resource(answer).properties)).toHaveLength(26);
  });

  it("needs a name", async () => {
    refusal(await platform.core("POST", "/um/groups", { properties: {} }), 422, "100");
  });
});

describe("the users of a group", () => {
  it("are in it once, however often they are added, and stay through a change of the group", async () => {
    const path = await addGroup();
    const { id } = await newcomer();
    await platform.core("POST", `${path}/users`, { id });
    await platform.core("POST", `${path}/users`, { id });
    await platform.core("PUT", path, { properties: { name: "renamed" } });
    expect(items(await platform.core("GET", `${path}/users`))).toMatchObject([{ id }]);
  });

  it("are gone from it when they are deleted", async () => {
    const path = await addGroup();
    const { id } = await newcomer();
    await platform.core("POST", `${path}/users`, { id });
    await platform.core("DELETE", `/um/users/${id}`);
    expect(items(await platform.core("GET", `${path}/users`))).toEqual([]);
  });

  it("have to exist", async () => {
    const path = await addGroup();
    refusal(await platform.core("POST", `${path}/users`, { id: "x" }), 404, "309");
    refusal(await platform.core("POST", `${path}/users`, {}), 422, "100");
  });
});

describe("privileges", () => {
  it("come and go with the group", async () => {
    const { id, as } = await newcomer();
    expect(refusal(await createDatacenter(as), 403, "451")).toContain("createDataCenter");
    const path = await addGroup({ createDataCenter: true });
    await platform.core("POST", `${path}/users`, { id });
    expect((await createDatacenter(as)).status).toBe(202);
    await platform.core("PUT", path, { properties: { name: "developers" } });
    refusal(await createDatacenter(as), 403, "451");
    await platform.core("PUT", path, { properties: { name: "developers", createDataCenter: true } });
    expect((await createDatacenter(as)).status).toBe(202);
    await platform.core("DELETE", path);
    refusal(await createDatacenter(as), 403, "451");
  });

  it.each([
    ["/ipblocks", { location: "de/fra", size: 1 }, "reserveIp"],
    ["/backupunits", { name: "b", password: "verySecret1", email: "b@example.org" }, "createBackupUnit"],
    ["/k8s", { name: "k" }, "createK8sCluster"],
  ])("are needed for POST %s", async (path, properties, privilege) => {
    const { as } = await newcomer();
    expect(refusal(await platform.core("POST", path, { properties }, as), 403, "451")).toContain(privilege);
  });

  it("are all with administrators, and with users made for tests unless said otherwise", async () => {
    const { token: admin } = await platform.user("admin@example.org", { role: "administrator", privileges: [] });
    const { token: plain } = await platform.user("plain@example.org");
    for (const token of [admin, plain]) {
      expect((await createDatacenter({ authorization: `Bearer ${token}` })).status).toBe(202);
    }
  });

  it("are in the JWT by the names it has for them", async () => {
    const { id, as } = await newcomer();
    const claims = async () => {
      const answer = await platform.call("GET", "/auth/v1/tokens/generate", undefined, as);
      return privilegesIn(answer);
    };
    expect(await claims()).toEqual([]);
    const path = await addGroup({ createDataCenter: true, reserveIp: true, accessAndManageLogging: true });
    await platform.core("POST", `${path}/users`, { id });
    expect((await claims()).toSorted()).toEqual([
      "ACCESS_AND_MANAGE_LOGGING",
      "DATA_CENTER_CREATE",
      "IP_BLOCK_RESERVE",
    ]);
  });
});

function privilegesIn(answer: Answer): string[] {
  const { token } = z.object({ token: z.string() }).parse(answer.body);
  const payload: unknown = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
  return z.object({ identity: z.object({ privileges: z.array(z.string()) }) }).parse(payload).identity.privileges;
}

describe("sharing a resource with a group", () => {
  it("shows the resource with the group and the group with the resource", async () => {
    const path = await addGroup();
    await platform.core("POST", `${path}/shares/${datacenter}`, { properties: {} });
    expect(items(await platform.core("GET", `${path}/resources?depth=1`))).toMatchObject([
      { id: datacenter, type: "datacenter", properties: { name: "prod" } },
    ]);
    const seen = resource(await platform.core("GET", `/um/resources/datacenter/${datacenter}?depth=2`));
    expect(seen.entities?.groups?.items).toMatchObject([{ id: path.split("/").at(-1) }]);
  });

  it("refuses the second share of the same resource and an unknown one", async () => {
    const path = await addGroup();
    await platform.core("POST", `${path}/shares/${datacenter}`, { properties: {} });
    refusal(await platform.core("POST", `${path}/shares/${datacenter}`, { properties: {} }), 422, "100");
    refusal(await platform.core("POST", `${path}/shares/x`, { properties: {} }), 404, "309");
  });

  it("ends with the resource", async () => {
    const path = await addGroup();
    const shared = await platform.datacenter();
    await platform.core("POST", `${path}/shares/${shared.split("/").at(-1)}`, { properties: {} });
    await platform.done("DELETE", shared);
    expect(items(await platform.core("GET", `${path}/shares`))).toEqual([]);
    expect(items(await platform.core("GET", `${path}/resources`))).toEqual([]);
  });
});

it("lists what can be shared, in all and by type, without what is offered to everybody", async () => {
  const all = items(await platform.core("GET", "/um/resources"));
  expect(all).toContainEqual(expect.objectContaining({ id: datacenter, type: "datacenter" }));
  expect(all.filter(({ type }) => type === "image")).toEqual([]);
  const ofType = items(await platform.core("GET", "/um/resources/datacenter"));
  expect(new Set(ofType.map(({ type }) => type))).toEqual(new Set(["datacenter"]));
  refusal(await platform.core("GET", "/um/resources/spaceship"), 404, "309");
  const { id } = resource(await platform.done("POST", "/k8s", { properties: { name: "public" } }));
  expect(items(await platform.core("GET", "/um/resources/k8s"))).toMatchObject([{ id, type: "k8s" }]);
});
