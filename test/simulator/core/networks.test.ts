import { describe, expect, it } from "vitest";
import { z } from "zod";
import { items, platformForFile, refusal, resource, serverBody } from "../platform.ts";

const platform = await platformForFile();
const datacenter = await platform.datacenter();
const server = await platform.made(`${datacenter}/servers`, { properties: { name: "s", cores: 1, ram: 1024 } });

const lan = async (properties: object = {}) =>
  resource(await platform.done("POST", `${datacenter}/lans`, { properties })).id;
const nic = (properties: object) => platform.made(`${server}/nics`, { properties });
const postNic = (properties: object) => platform.core("POST", `${server}/nics`, { properties });
const block = async (location: string, size = 1) => {
  const answer = await platform.done("POST", "/ipblocks", { properties: { location, size } });
  return { id: resource(answer).id, ips: z.array(z.string()).parse(resource(answer).properties.ips) };
};

describe("LANs", () => {
  it("are numbered from 1 in each datacenter", async () => {
    const fresh = await platform.datacenter();
    const ids: string[] = [];
    for (let made = 0; made < 3; made += 1) {
      ids.push(resource(await platform.done("POST", `${fresh}/lans`, { properties: {} })).id);
    }
    expect(ids).toEqual(["1", "2", "3"]);
  });

  it("are private with a network of their own, or public without", async () => {
    const inner = await platform.core("GET", `${datacenter}/lans/${await lan()}`);
    expect(resource(inner).properties).toMatchObject({ public: false, ipv4CidrBlock: expect.stringMatching(/^10\./) });
    const outer = await platform.core("GET", `${datacenter}/lans/${await lan({ public: true })}`);
    expect(resource(outer).properties).toMatchObject({ public: true, ipv4CidrBlock: null });
  });

  it("take an IPv6 block by choice or AUTO, and refuse anything else", async () => {
    const auto = await platform.core("GET", `${datacenter}/lans/${await lan({ ipv6CidrBlock: "AUTO" })}`);
    expect(resource(auto).properties.ipv6CidrBlock).toMatch(/::\/64$/);
    const wrong = { properties: { ipv6CidrBlock: "fd00::/56" } };
    refusal(await platform.core("POST", `${datacenter}/lans`, wrong), 422, "100");
  });

  it("refuse an IPv6 block outside the datacenter's, or of another LAN", async () => {
    const { ipv6CidrBlock } = resource(await platform.core("GET", datacenter)).properties;
    const own = String(ipv6CidrBlock).replace(/00::\/56$/, "fe::/64");
    await lan({ ipv6CidrBlock: own });
    for (const [wrong, why] of [
      ["fd00::/64", String(ipv6CidrBlock)],
      [own, "the block of the LAN"],
    ]) {
      const answer = await platform.core("POST", `${datacenter}/lans`, { properties: { ipv6CidrBlock: wrong } });
      expect(refusal(answer, 422, "100")).toContain(why);
    }
  });

  it("refuse an unknown cross connect", async () => {
    refusal(await platform.core("POST", `${datacenter}/lans`, { properties: { pcc: "x" } }), 422, "100");
  });

  it("cannot be deleted while they have NICs", async () => {
    const id = await lan();
    const path = await nic({ lan: Number(id) });
    const message = refusal(await platform.core("DELETE", `${datacenter}/lans/${id}`), 422, "200");
    expect(message).toBe("[nics] Cannot delete lan which contains nics");
    await platform.done("DELETE", path);
    await platform.done("DELETE", `${datacenter}/lans/${id}`);
    refusal(await platform.core("GET", `${datacenter}/lans/${id}`), 404, "309");
  });

  it("show their NICs and take others in", async () => {
    const [first, second] = [await lan(), await lan()];
    const path = await nic({ lan: Number(first) });
    const id = path.split("/").at(-1);
    expect(items(await platform.core("GET", `${datacenter}/lans/${first}/nics`))).toMatchObject([{ id, type: "nic" }]);
    await platform.done("POST", `${datacenter}/lans/${second}/nics`, { id });
    expect(resource(await platform.core("GET", `${datacenter}/lans/${second}/nics/${id}`)).properties.lan).toBe(
      Number(second),
    );
    expect(items(await platform.core("GET", `${datacenter}/lans/${first}/nics`))).toEqual([]);
  });
});

describe("NICs", () => {
  it("create the LAN they name when it does not exist", async () => {
    await nic({ lan: 42 });
    expect(await platform.core("GET", `${datacenter}/lans/42`)).toMatchObject({
      status: 200,
      body: { type: "lan", metadata: { state: "AVAILABLE" } },
    });
  });

  it("are what their request is about, also when it makes a LAN on the side", async () => {
    const answer = await postNic({ lan: 44 });
    const [request] = items(await platform.core("GET", "/requests?depth=2&limit=1"));
    expect(request).toMatchObject({
      metadata: {
        requestStatus: { metadata: { targets: [{ target: { id: resource(answer).id } }, { target: { id: "44" } }] } },
      },
    });
    await platform.advance(10);
  });

  it("may share a LAN that another request is still creating", async () => {
    const answers = await Promise.all([1, 2].map(() => postNic({ lan: 43 })));
    expect(answers.map(({ status }) => status)).toEqual([202, 202]);
    await platform.advance(10);
    expect(items(await platform.core("GET", `${datacenter}/lans/43/nics`))).toHaveLength(2);
  });

  it("get address, MAC and defaults from the platform", async () => {
    const { properties } = resource(await platform.core("GET", await nic({ lan: 1 })));
    expect(properties).toMatchObject({
      dhcp: true,
      firewallActive: false,
      firewallType: "INGRESS",
      mac: expect.stringMatching(/^([0-9a-f]{2}:){5}[0-9a-f]{2}$/),
      ips: [expect.stringMatching(/^10\./)],
      deviceNumber: expect.any(Number),
    });
    const outer = await nic({ lan: Number(await lan({ public: true })), ips: [] });
    expect(resource(await platform.core("GET", outer)).properties.ips).toEqual([expect.stringMatching(/^198\./)]);
  });

  it("never share an address they did not ask for", async () => {
    const fresh = await platform.datacenter();
    const answers = await Promise.all(
      Array.from({ length: 40 }, () => platform.core("POST", `${fresh}/servers`, serverBody())),
    );
    await platform.advance(30);
    const nics = items(await platform.core("GET", `${fresh}/lans/1/nics?depth=1`));
    const ips = nics.map((each) => JSON.stringify(each.properties));
    expect(new Set(ips).size).toBe(answers.length);
  });

  it("keep their address when something else changes", async () => {
    const path = await nic({ lan: 1 });
    const { ips, mac } = resource(await platform.core("GET", path)).properties;
    await platform.done("PATCH", path, { name: "renamed" });
    await platform.done("PUT", path, { properties: { lan: 1, dhcp: false } });
    expect(resource(await platform.core("GET", path)).properties).toMatchObject({ ips, mac, dhcp: false });
  });

  it("keep the MAC that was chosen at creation", async () => {
    const path = await nic({ lan: 1, mac: "02:01:0a:0b:0c:0d" });
    expect(resource(await platform.core("GET", path)).properties.mac).toBe("02:01:0a:0b:0c:0d");
    refusal(await platform.core("PATCH", path, { mac: "02:01:0a:0b:0c:0e" }), 422, "100");
  });

  it("have IPv6 addresses in a LAN with a block, of their own choice or not", async () => {
    const number = Number(await lan());
    const path = await nic({ lan: number });
    const shown = async (of: string) => resource(await platform.core("GET", of)).properties;
    expect(await shown(path)).not.toHaveProperty("ipv6Ips");
    await platform.done("PATCH", `${datacenter}/lans/${number}`, { ipv6CidrBlock: "AUTO" });
    const prefix = String((await shown(`${datacenter}/lans/${number}`)).ipv6CidrBlock).replace("::/64", ":");
    const { ipv6CidrBlock, ipv6Ips, dhcpv6 } = await shown(path);
    expect([ipv6CidrBlock, ipv6Ips, dhcpv6]).toEqual([
      expect.stringMatching(new RegExp(`^${prefix}[0-9a-f]+::/80$`)),
      [String(ipv6CidrBlock).replace("/80", "1")],
      true,
    ]);
    const other = await nic({ lan: number });
    expect((await shown(other)).ipv6CidrBlock).not.toBe(ipv6CidrBlock);
    const chosen = { ipv6CidrBlock: `${prefix}beef::/80`, ipv6Ips: [`${prefix}beef::7`], dhcpv6: false };
    const third = await nic({ lan: number, ...chosen });
    expect(await shown(third)).toMatchObject(chosen);
    for (const [wrong, field] of [
      [{ ipv6CidrBlock: "fd00::/80" }, "ipv6CidrBlock"],
      [{ ipv6Ips: [`${prefix}beef::7`, "fd00::1"] }, "ipv6Ips[1]"],
    ] as const) {
      expect(refusal(await platform.core("PATCH", third, wrong), 422, "100")).toContain(`.${field}]`);
    }
    const second = Number(await lan());
    expect(refusal(await postNic({ lan: second, ipv6Ips: ["fd00::1"] }), 422, "100")).toContain("no IPv6 block");
    await platform.done("PATCH", third, { lan: second });
    expect((await shown(third)).ipv6Ips ?? null).toBeNull();
  });

  it.each([
    ["no LAN", {}, "lan"],
    ["LAN 0", { lan: 0 }, "lan"],
    ["a LAN as text", { lan: "1" }, "lan"],
    ["something that is no address", { lan: 1, ips: ["10.0.0.300"] }, "ips[0]"],
    ["a foreign public address", { lan: 1, ips: ["203.0.113.7"] }, "ips[0]"],
    ["an unknown firewall type", { lan: 1, firewallType: "BOTH" }, "firewallType"],
    ["a wrong MAC", { lan: 1, mac: "aa:bb" }, "mac"],
    ["an IPv6 block that is no /80", { lan: 1, ipv6CidrBlock: "fd00::/64" }, "ipv6CidrBlock"],
    ["51 IPv6 addresses", { lan: 1, ipv6Ips: Array.from({ length: 51 }, (_, n) => `fd00::${n}`) }, "ipv6Ips"],
  ])("refuse %s", async (_, properties, field) => {
    expect(refusal(await postNic(properties), 422, "100")).toContain(`[(root).properties.${field}]`);
  });
});

describe("IP blocks", () => {
  it("tell their addresses in the answer to their creation, and who uses them later", async () => {
    const { id, ips } = await block("de/fra", 2);
    expect(ips).toHaveLength(2);
    const path = await nic({ lan: 1, ips: [ips[0]] });
    expect(resource(await platform.core("GET", path)).properties.ips).toEqual([ips[0]]);
    expect(resource(await platform.core("GET", `/ipblocks/${id}`)).properties.ipConsumers).toMatchObject([
      { ip: ips[0], nicId: path.split("/").at(-1), serverId: server.split("/").at(-1), datacenterName: "prod" },
    ]);
  });

  it("serve only the location they are in, and one NIC at a time", async () => {
    const { ips } = await block("de/txl");
    expect(refusal(await postNic({ lan: 1, ips }), 422, "100")).toContain("de/txl");
    const own = await block("de/fra");
    await nic({ lan: 1, ips: own.ips });
    expect(refusal(await postNic({ lan: 1, ips: own.ips }), 422, "100")).toContain("in use");
  });

  it.each([
    ["size 0", { location: "de/fra", size: 0 }],
    ["no size", { location: "de/fra" }],
    ["no location", { size: 1 }],
    ["an unknown location", { location: "xx/yy", size: 1 }],
  ])("refuse %s", async (_, properties) => {
    refusal(await platform.core("POST", "/ipblocks", { properties }), 422, "100");
  });

  it("of a metro region serve none of its further sites: the location must be the same", async () => {
    const { ips } = await block("de/fra");
    const further = await platform.datacenter("de/fra/2");
    const answer = await platform.core("POST", `${further}/servers`, serverBody({}, {}, { ips }));
    expect(refusal(answer, 422, "100")).toContain("reserved in de/fra, the datacenter is in de/fra/2");
  });

  it("survive the recreation of a server; an address by DHCP on a public LAN does not", async () => {
    const { ips } = await block("de/fra");
    const open = Number(await lan({ public: true }));
    const nics = [{ ips, lan: open }, { lan: open }].map((properties) => ({ properties }));
    const recreated = async () => {
      const body = { properties: { name: "r", cores: 1, ram: 1024 }, entities: { nics: { items: nics } } };
      const { id } = resource(await platform.done("POST", `${datacenter}/servers`, body));
      const made = items(await platform.core("GET", `${datacenter}/servers/${id}/nics?depth=1`));
      await platform.done("DELETE", `${datacenter}/servers/${id}`);
      return made.map(({ properties }) => z.object({ ips: z.array(z.string()) }).parse(properties).ips);
    };
    const [[reserved, given], [again, other]] = [await recreated(), await recreated()];
    expect([reserved, again]).toEqual([ips, ips]);
    expect(other).not.toEqual(given);
  });

  it("keep location and size for ever", async () => {
    const { id } = await block("de/fra");
    refusal(await platform.core("PATCH", `/ipblocks/${id}`, { size: 2 }), 422, "100");
    refusal(await platform.core("PATCH", `/ipblocks/${id}`, { location: "de/txl" }), 422, "100");
    await platform.done("PATCH", `/ipblocks/${id}`, { name: "named" });
  });
});

describe("firewall rules", () => {
  const post = (path: string, properties: object) => platform.core("POST", `${path}/firewallrules`, { properties });

  it.each([
    ["no protocol", {}, "protocol"],
    ["an unknown protocol", { protocol: "SCTP" }, "protocol"],
    ["half a port range", { protocol: "TCP", portRangeStart: 1 }, "portRangeEnd"],
    ["a range that runs backwards", { protocol: "TCP", portRangeStart: 2, portRangeEnd: 1 }, "portRangeEnd"],
    ["ports without TCP or UDP", { protocol: "ICMP", portRangeStart: 1, portRangeEnd: 2 }, "portRangeStart"],
    ["port 65536", { protocol: "TCP", portRangeStart: 1, portRangeEnd: 65536 }, "portRangeEnd"],
    ["ICMP type 255", { protocol: "ICMP", icmpType: 255 }, "icmpType"],
  ])("refuse %s", async (_, properties, field) => {
    expect(refusal(await post(await nic({ lan: 1 }), properties), 422, "100")).toContain(`.${field}]`);
  });

  it("keep their protocol", async () => {
    const path = await nic({ lan: 1 });
    const { id } = resource(await platform.done("POST", `${path}/firewallrules`, { properties: { protocol: "ANY" } }));
    refusal(await platform.core("PATCH", `${path}/firewallrules/${id}`, { protocol: "TCP" }), 422, "100");
  });
});

describe("labels", () => {
  it("are written at once, read by key, changed and deleted", async () => {
    const path = `${datacenter}/labels`;
    const made = await platform.core("POST", path, { properties: { key: "owner", value: "a" } });
    expect(made).toMatchObject({ status: 201, body: { id: "owner", type: "label", properties: { value: "a" } } });
    expect(resource(made).metadata).not.toHaveProperty("state");
    const changed = await platform.core("PUT", `${path}/owner`, { properties: { key: "owner", value: "b" } });
    expect(changed).toMatchObject({ status: 200, body: { properties: { key: "owner", value: "b" } } });
    const urn = `urn:label:datacenter:${datacenter.split("/")[2]}:owner`;
    expect(items(await platform.core("GET", "/labels?depth=1"))).toMatchObject([
      { id: urn, properties: { key: "owner", value: "b", resourceType: "datacenter" } },
    ]);
    expect((await platform.core("GET", `/labels/${urn}`)).status).toBe(200);
    refusal(await platform.core("POST", path, { properties: { key: "owner", value: "c" } }), 422, "100");
    expect((await platform.core("DELETE", `${path}/owner`)).status).toBe(200);
    refusal(await platform.core("GET", `${path}/owner`), 404, "309");
  });

  it("hang on servers and volumes too and go with them", async () => {
    const { id, entities } = resource(await platform.done("POST", `${datacenter}/servers`, serverBody()));
    const path = `${datacenter}/servers/${id}`;
    const volume = `${datacenter}/volumes/${entities?.volumes?.items?.[0]?.id}`;
    for (const each of [path, volume]) {
      const made = await platform.core("POST", `${each}/labels`, { properties: { key: "k", value: "v" } });
      expect(made.status).toBe(201);
    }
    await platform.done("DELETE", `${path}?deleteVolumes=true`);
    expect(items(await platform.core("GET", "/labels"))).toEqual([]);
  });
});
