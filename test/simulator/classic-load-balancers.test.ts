import { describe, expect, it } from "vitest";
import { networkOf } from "./network.ts";
import { items, platformForFile, refusal, resource } from "./platform.ts";

const platform = await platformForFile();
const network = networkOf(platform);
const datacenter = await platform.datacenter();

describe("a classic load balancer", () => {
  const ready = async (more: object = {}) => {
    const answer = await platform.done("POST", `${datacenter}/loadbalancers`, {
      properties: { name: "classic", ...more },
    });
    return `${datacenter}/loadbalancers/${resource(answer).id}`;
  };
  const read = async (path: string) => resource(await platform.core("GET", path)).properties;

  it("gets an address from the platform, or has the one it is given", async () => {
    const path = await ready();
    expect(resource(await platform.core("GET", path))).toMatchObject({
      type: "loadbalancer",
      properties: { dhcp: true, ip: expect.stringMatching(/^198\./) },
    });
    const before = await read(path);
    await platform.done("PUT", path, { properties: before });
    expect(await read(path)).toEqual(before);
    const { ip, id } = await network.block();
    expect((await read(await ready({ ip }))).ip).toBe(ip);
    expect(refusal(await platform.core("DELETE", `/ipblocks/${id}`), 422, "200")).toContain("load balancer");
    const taken = await platform.core("POST", `${datacenter}/loadbalancers`, { properties: { ip } });
    expect(refusal(taken, 422, "100")).toContain("[(root).properties.ip]");
  });

  it("balances NICs that are attached by id, until they are detached", async () => {
    const [path, nic] = [await ready(), await network.nic(datacenter, 1)];
    await platform.done("POST", `${path}/balancednics`, { id: nic.id });
    expect(items(await platform.core("GET", `${path}/balancednics`))).toMatchObject([{ id: nic.id, type: "nic" }]);
    expect((await platform.core("GET", `${path}/balancednics/${nic.id}`)).status).toBe(200);
    await platform.done("DELETE", `${path}/balancednics/${nic.id}`);
    refusal(await platform.core("GET", `${path}/balancednics/${nic.id}`), 404, "309");
    expect((await platform.core("GET", nic.path)).status).toBe(200);
    expect(items(await platform.core("GET", `${datacenter}/lans/1/nics`))).toContainEqual(
      expect.objectContaining({ id: nic.id }),
    );
  });

  it("keeps a NIC through changes and moves, and leaves it behind when it is deleted", async () => {
    const [path, nic] = [await ready(), await network.nic(datacenter, 1)];
    await platform.done("POST", `${path}/balancednics`, { id: nic.id });
    await platform.done("PATCH", nic.path, { name: "renamed" });
    await platform.done("POST", `${datacenter}/lans/${await network.lan(datacenter)}/nics`, { id: nic.id });
    expect(items(await platform.core("GET", `${path}/balancednics`))).toMatchObject([{ id: nic.id }]);
    await platform.done("DELETE", path);
    expect((await platform.core("GET", nic.path)).status).toBe(200);
  });

  it("takes NICs along in its creation", async () => {
    const nic = await network.nic(datacenter, 1);
    const { id } = resource(
      await platform.done("POST", `${datacenter}/loadbalancers`, {
        properties: { name: "with" },
        entities: { balancednics: { items: [{ id: nic.id }] } },
      }),
    );
    expect(items(await platform.core("GET", `${datacenter}/loadbalancers/${id}/balancednics`))).toMatchObject([
      { id: nic.id },
    ]);
  });

  it("refuses a NIC that is behind another one, of another datacenter, or unknown", async () => {
    const [first, second, nic] = [await ready(), await ready(), await network.nic(datacenter, 1)];
    await platform.done("POST", `${first}/balancednics`, { id: nic.id });
    const again = await platform.core("POST", `${second}/balancednics`, { id: nic.id });
    expect(refusal(again, 422, "200")).toContain(first.split("/").at(-1));
    const elsewhere = await platform.datacenter();
    const far = await network.nic(elsewhere, 1);
    refusal(await platform.core("POST", `${second}/balancednics`, { id: far.id }), 404, "309");
    refusal(await platform.core("POST", `${second}/balancednics`, { id: "x" }), 404, "309");
    refusal(await platform.core("POST", `${second}/balancednics`, {}), 422, "100");
  });
});
