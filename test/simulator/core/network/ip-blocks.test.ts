import { describe, expect, it } from "vitest";
import { z } from "zod";
import { items, refusal, resource, serverBody } from "../../platform.ts";
import { serverForFile } from "./network-calls.ts";

const { platform, datacenter, server, lan, nic, postNic, block } = await serverForFile();

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
