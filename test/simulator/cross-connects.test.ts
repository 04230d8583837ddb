import { describe, expect, it } from "vitest";
import { networkOf } from "./network.ts";
import { items, platformForFile, refusal, resource } from "./platform.ts";

const platform = await platformForFile();
const network = networkOf(platform);

const ready = async (properties: object = { name: "link" }) =>
  resource(await platform.done("POST", "/pccs", { properties })).id;
const read = async (id: string) => resource(await platform.core("GET", `/pccs/${id}`)).properties;
const idIn = (path: string) => path.split("/").at(-1);

describe("a cross connect", () => {
  it("is created, listed without pages, changed by PATCH only and deleted", async () => {
    const id = await ready({ name: "link", description: "between sites" });
    const list = await platform.core("GET", "/pccs");
    expect(items(list)).toMatchObject([{ id, type: "pcc" }]);
    expect(list.body).not.toHaveProperty("_links");
    await platform.done("PATCH", `/pccs/${id}`, { name: "renamed" });
    expect(await read(id)).toMatchObject({ name: "renamed", description: "between sites", peers: [] });
    expect((await platform.core("PUT", `/pccs/${id}`, { properties: { name: "x" } })).status).toBe(405);
    await platform.done("DELETE", `/pccs/${id}`);
    refusal(await platform.core("GET", `/pccs/${id}`), 404, "309");
  });

  it("is made by those who have the privilege for it", async () => {
    const { token } = await platform.user("plain@example.org", { privileges: [] });
    const options = { authorization: `Bearer ${token}` };
    const answer = await platform.core("POST", "/pccs", { properties: { name: "link" } }, options);
    expect(refusal(answer, 403, "451")).toContain("createPcc");
  });

  it("shows the LANs that it connects as peers and where further ones may be", async () => {
    const [here, near, far] = [
      await platform.datacenter("gb/lhr"),
      await platform.datacenter("gb/lhr"),
      await platform.datacenter("fr/par"),
    ];
    const pcc = await ready();
    const connectable = async () => JSON.stringify((await read(pcc)).connectableDatacenters);
    expect(await connectable()).toContain(idIn(far));
    const lans = [await network.lan(here, { name: "a", pcc }), await network.lan(near, { name: "b", pcc })];
    expect((await read(pcc)).peers).toEqual([
      { id: `${lans[0]}`, name: "a", datacenterId: idIn(here), datacenterName: "prod", location: "gb/lhr" },
      { id: `${lans[1]}`, name: "b", datacenterId: idIn(near), datacenterName: "prod", location: "gb/lhr" },
    ]);
    expect((await read(pcc)).connectableDatacenters).toEqual(
      [here, near].map((each) => ({ id: idIn(each), name: "prod", location: "gb/lhr" })),
    );
  });

  it("connects LANs of one location only", async () => {
    const pcc = await ready();
    await network.lan(await platform.datacenter("de/fra"), { pcc });
    const far = await platform.datacenter("de/txl");
    const answer = await platform.core("POST", `${far}/lans`, { properties: { pcc } });
    expect(refusal(answer, 422, "100")).toMatch(/\[\(root\)\.properties\.pcc\].* in de\/fra, not in de\/txl/);
  });

  it("connects private LANs only", async () => {
    const [pcc, datacenter] = [await ready(), await platform.datacenter()];
    const answer = await platform.core("POST", `${datacenter}/lans`, { properties: { pcc, public: true } });
    expect(refusal(answer, 422, "100")).toContain("private");
    const lan = await network.lan(datacenter, { pcc });
    refusal(await platform.core("PATCH", `${datacenter}/lans/${lan}`, { public: true }), 422, "100");
  });

  it("connects and lets go of LANs that exist", async () => {
    const [pcc, datacenter] = [await ready(), await platform.datacenter()];
    const lan = `${datacenter}/lans/${await network.lan(datacenter)}`;
    await platform.done("PATCH", lan, { pcc });
    expect((await read(pcc)).peers).toMatchObject([{ id: idIn(lan) }]);
    await platform.done("PATCH", lan, { name: "still connected" });
    expect((await read(pcc)).peers).toMatchObject([{ name: "still connected" }]);
    await platform.done("PATCH", lan, { pcc: null });
    expect((await read(pcc)).peers).toEqual([]);
  });

  it("must be AVAILABLE before a LAN can name it", async () => {
    const datacenter = await platform.datacenter();
    const { id } = resource(await platform.core("POST", "/pccs", { properties: { name: "new" } }));
    const early = await platform.core("POST", `${datacenter}/lans`, { properties: { pcc: id } });
    expect(refusal(early, 422, "200")).toContain(`pcc ${id} is BUSY`);
    await platform.advance(10);
    await network.lan(datacenter, { pcc: id });
  });

  it("cannot be deleted while it connects LANs; it is free when their datacenter has gone", async () => {
    const [pcc, datacenter] = [await ready(), await platform.datacenter()];
    await network.lan(datacenter, { pcc });
    const message = refusal(await platform.core("DELETE", `/pccs/${pcc}`), 422, "200");
    expect(message).toContain(idIn(datacenter));
    await platform.done("DELETE", datacenter);
    await platform.done("DELETE", `/pccs/${pcc}`);
  });
});
