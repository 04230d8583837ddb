import { describe, expect, it } from "vitest";
import { items, refusal, resource } from "../../platform.ts";
import { serverForFile } from "./network-calls.ts";

const { platform, datacenter, lan, nic } = await serverForFile();

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
