import { describe, expect, it } from "vitest";
import { items, refusal, resource, serverBody } from "../../platform.ts";
import { serverForFile } from "./network-calls.ts";

const { platform, datacenter, lan, nic, postNic } = await serverForFile();

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
