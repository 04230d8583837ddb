import { describe, expect, it } from "vitest";
import { z } from "zod";
import { cubeBody, items, platformForFile, refusal, resource, serverBody } from "../../platform.ts";

const platform = await platformForFile();
const datacenter = await platform.datacenter();

const imagesOf = async (filter: string) =>
  items(await platform.core("GET", `/images?depth=1&${filter}`)).map(({ id }) => z.string().parse(id));
const cds = await imagesOf("filter.imageType=CDROM&filter.location=de/fra");
const ready = (body: object = { properties: { name: "s", cores: 1, ram: 1024 } }) =>
  platform.made(`${datacenter}/servers`, body);
const cdsIn = async (server: string) => items(await platform.core("GET", `${server}/cdroms`)).map(({ id }) => id);
const insert = (server: string, id: string | undefined) => platform.core("POST", `${server}/cdroms`, { id });

describe("CDs of a server", () => {
  it("are attached by the id of an image and detached; the image stays", async () => {
    const server = await ready();
    const [cd] = cds;
    const answer = await insert(server, cd);
    expect(answer).toMatchObject({ status: 202, body: { id: cd, type: "image" } });
    expect(resource(await platform.core("GET", server)).metadata.state).toBe("BUSY");
    await platform.advance(10);
    expect(await platform.requestOf(answer)).toMatchObject({ status: "DONE" });
    expect(resource(await platform.core("GET", `${server}/cdroms/${cd}`)).properties.imageType).toBe("CDROM");
    const read = resource(await platform.core("GET", `${server}?depth=2`));
    expect(read.entities?.cdroms?.items).toMatchObject([{ id: cd }]);
    const detached = await platform.done("DELETE", `${server}/cdroms/${cd}`);
    expect(detached.body).toBeUndefined();
    expect(await cdsIn(server)).toEqual([]);
    refusal(await platform.core("GET", `${server}/cdroms/${cd}`), 404, "309");
    refusal(await platform.core("DELETE", `${server}/cdroms/${cd}`), 404, "309");
    expect((await platform.core("GET", `/images/${cd}`)).status).toBe(200);
  });

  it("can be in many servers at once", async () => {
    const servers = [await ready(), await ready()];
    for (const server of servers) await platform.done("POST", `${server}/cdroms`, { id: cds[0] });
    for (const server of servers) expect(await cdsIn(server)).toEqual([cds[0]]);
  });

  it("are at most two", async () => {
    expect(cds.length).toBeGreaterThan(2);
    const server = await ready();
    for (const id of cds.slice(0, 2)) await platform.done("POST", `${server}/cdroms`, { id });
    expect(refusal(await insert(server, cds[2]), 422, "200")).toContain("2 drives");
    await platform.done("DELETE", `${server}/cdroms/${cds[0]}`);
    expect((await insert(server, cds[2])).status).toBe(202);
  });

  it("are refused when they are in the server already, no CDs, of another region or unknown", async () => {
    const server = await ready();
    await platform.done("POST", `${server}/cdroms`, { id: cds[0] });
    expect(refusal(await insert(server, cds[0]), 422, "200")).toContain("already");
    const [disk] = await imagesOf("filter.imageType=HDD&filter.location=de/fra");
    expect(refusal(await insert(server, disk), 422, "200")).toContain("not CDROM");
    const [far] = await imagesOf("filter.imageType=CDROM&filter.location=us/las");
    expect(refusal(await insert(server, far), 422, "200")).toContain("us/las");
    refusal(await insert(server, "x"), 404, "309");
    refusal(await insert(server, undefined), 422, "100");
  });

  it("can come with the server", async () => {
    const body = serverBody();
    const server = await ready({ ...body, entities: { ...body.entities, cdroms: { items: [{ id: cds[0] }] } } });
    expect(await cdsIn(server)).toEqual([cds[0]]);
    expect(resource(await platform.core("GET", server)).properties.vmState).toBe("RUNNING");
  });

  it("are put in by naming one to boot from, and boot no longer once taken out", async () => {
    const server = await ready();
    await platform.done("PATCH", server, { bootCdrom: { id: cds[0] } });
    expect(resource(await platform.core("GET", server)).properties.bootCdrom).toMatchObject({
      id: cds[0],
      type: "image",
      href: expect.stringContaining("/images/"),
    });
    expect(await cdsIn(server)).toEqual([cds[0]]);
    await platform.done("DELETE", `${server}/cdroms/${cds[0]}`);
    expect(resource(await platform.core("GET", server)).properties.bootCdrom).toBeNull();
    const message = refusal(await platform.core("PATCH", server, { bootCdrom: { id: "x" } }), 422, "100");
    expect(message).toContain("[(root).properties.bootCdrom]");
  });
});

describe("graphics cards of a server", () => {
  it("are none", async () => {
    const server = await ready();
    expect(items(await platform.core("GET", `${server}/gpus`))).toEqual([]);
    refusal(await platform.core("GET", `${server}/gpus/x`), 404, "309");
    refusal(await platform.core("GET", `${datacenter}/servers/x/gpus`), 404, "309");
    expect(resource(await platform.core("GET", `${server}?depth=1`)).entities).toHaveProperty("gpus");
  });
});

describe("console, token and upgrade", () => {
  it("are there for every type of server", async () => {
    for (const server of [await ready(), await ready(cubeBody())]) {
      const console = await platform.core("GET", `${server}/remoteconsole`);
      expect(console).toMatchObject({ status: 200, body: { url: expect.stringMatching(/^http/) } });
      const token = await platform.core("GET", `${server}/token`);
      expect(token).toMatchObject({ status: 200, body: { token: expect.stringMatching(/./) } });
      const upgraded = await platform.done("POST", `${server}/upgrade`);
      expect(upgraded.body).toBeUndefined();
      expect(resource(await platform.core("GET", server)).properties.vmState).toBe("RUNNING");
    }
  });

  it.each([
    ["GET", "remoteconsole"],
    ["GET", "token"],
    ["POST", "upgrade"],
  ])("%s %s of an unknown server is 404", async (method, path) => {
    refusal(await platform.core(method, `${datacenter}/servers/x/${path}`), 404, "309");
  });
});

describe("moving a NIC to another LAN", () => {
  const lan = async () => resource(await platform.done("POST", `${datacenter}/lans`, { properties: {} })).id;
  const nicOf = async (server: string) => z.string().parse(items(await platform.core("GET", `${server}/nics`))[0]?.id);

  it("gives it an address there; moving it to where it is changes nothing", async () => {
    const server = await ready(serverBody());
    const [id, to] = [await nicOf(server), await lan()];
    await platform.done("POST", `${datacenter}/lans/${to}/nics`, { id });
    const moved = resource(await platform.core("GET", `${server}/nics/${id}`)).properties;
    expect(moved).toMatchObject({ lan: Number(to), ips: [expect.stringMatching(`^10\\.${to}\\.`)] });
    await platform.done("POST", `${datacenter}/lans/${to}/nics`, { id });
    expect(resource(await platform.core("GET", `${server}/nics/${id}`)).properties).toEqual(moved);
  });

  it("is refused while the NIC or its server is BUSY", async () => {
    const server = await ready(serverBody());
    const [id, to] = [await nicOf(server), await lan()];
    for (const busy of [server, `${server}/nics/${id}`]) {
      await platform.core("PATCH", busy, { name: "busy" });
      const answer = await platform.core("POST", `${datacenter}/lans/${to}/nics`, { id });
      expect(refusal(answer, 422, "200")).toContain("BUSY");
      await platform.advance(10);
    }
  });
});

describe("an IP block", () => {
  it("cannot be deleted while a NIC uses an address, and says on which server", async () => {
    const block = { properties: { location: "de/fra", size: 1 } };
    const { id, properties } = resource(await platform.done("POST", "/ipblocks", block));
    const server = await ready(serverBody({ name: "front" }, {}, { ips: properties.ips }));
    const message = refusal(await platform.core("DELETE", `/ipblocks/${id}`), 422, "200");
    expect(message).toContain("the server front");
    expect(message).toContain(server.split("/").at(-1));
    await platform.done("PATCH", `/ipblocks/${id}`, { name: "still in use" });
    await platform.done("DELETE", server);
    await platform.done("DELETE", `/ipblocks/${id}`);
  });

  it("and a datacenter need the privileges to create them", async () => {
    const { token } = await platform.user("nothing@example.com", { privileges: [] });
    const options = { authorization: `Bearer ${token}` };
    const block = { properties: { location: "de/fra", size: 1 } };
    expect(refusal(await platform.core("POST", "/ipblocks", block, options), 403, "451")).toContain("reserveIp");
    const place = { properties: { name: "d", location: "de/fra" } };
    const answer = await platform.core("POST", "/datacenters", place, options);
    expect(refusal(answer, 403, "451")).toContain("createDataCenter");
  });
});
