import { describe, expect, it } from "vitest";
import { z } from "zod";
import { server } from "../../../../src/kinds/compute/server/server.ts";
import { platformForFile, resource } from "../../../simulator/platform.ts";
import { inputs, mapped, nothing, sent } from "../../mapped.ts";

const mapping = mapped(server);

const spec = {
  datacenterRef: { name: "berlin" },
  hostname: "web-1",
  cores: 2,
  ram: 2048,
  bootVolume: {
    size: 10,
    type: "SSD Premium",
    imageAlias: "ubuntu:latest",
    userData: "IyEvYmluL3No",
    imagePasswordSecretRef: { name: "login" },
  },
  nics: [
    { name: "public", lanRef: { name: "front" }, ipsFrom: [{ ipBlockRef: { name: "web" }, index: 1 }] },
    { name: "private", lan: 2, dhcp: false, ips: ["10.0.0.7", "10.0.0.8"] },
  ],
};
const addresses = z.object({ ips: z.tuple([z.string(), z.string()]) });

const platform = await platformForFile();
const datacenter = await platform.datacenter("de/txl");
const lan = resource(await platform.done("POST", `${datacenter}/lans`, { properties: { public: true } }));
const block = resource(await platform.done("POST", "/ipblocks", { properties: { location: "de/txl", size: 2 } }));
const reserved = { id: block.id, status: block.properties };
const given = inputs({
  parents: { datacenter: datacenter.split("/")[2] ?? "" },
  secrets: { "bootVolume.imagePasswordSecretRef": "abcDEF123" },
  refs: {
    datacenter: { id: "", status: { location: "de/txl" } },
    "nics[public].lanRef": { id: lan.id, status: {} },
    "nics[public].ipsFrom[0]": reserved,
    "nics[second].ipsFrom[0]": reserved,
  },
});
const path = await platform.made(`${datacenter}/servers`, sent(mapping.desire(spec).body(given)));

const seen = async () => (await platform.core("GET", `${path}?depth=5`)).body;
const compare = async (change: object) => mapping.desire({ ...spec, ...change }).compare(await seen(), given);

/** Sends every requested write until none is left. Returns the names of the writes. */
async function settle(change: object): Promise<string[]> {
  const actions: string[] = [];
  for (let { next } = await compare(change); next; { next } = await compare(change)) {
    await platform.done(next.method, next.path, next.body);
    actions.push(next.action);
  }
  expect(await compare(change)).toEqual({ drift: [] });
  return actions;
}

const [publicNic, privateNic] = spec.nics;
const second = { name: "second", lan: 3, ipsFrom: publicNic?.ipsFrom };

describe("a server on the platform", () => {
  it("is up to date once it is there, with the addresses of its IP block", async () => {
    expect(mapping.desire(spec).problem(given)).toBeUndefined();
    expect(await settle({})).toEqual([]);
    const [, chosen] = addresses.parse(given.refs["nics[public].ipsFrom[0]"]?.status).ips;
    expect(mapping.comparison.facts(await seen(), nothing)).toMatchObject({
      hostname: "web-1",
      nics: expect.arrayContaining([expect.objectContaining({ name: "public", lan: 1, ips: [chosen] })]),
    });
  });

  it.each([
    ["grows", {}, ["update", "update"]],
    ["gets a NIC", { nics: [...spec.nics, { name: "third", lan: 3 }] }, ["add NIC third"]],
    ["loses it again", {}, ["remove NIC third"]],
    [
      "hands an address on to a new NIC",
      { nics: [{ name: "public", lanRef: { name: "front" } }, privateNic, second] },
      ["update", "add NIC second"],
    ],
    ["and back", {}, ["remove NIC second", "update"]],
    ["gets another host name", { hostname: "web-2" }, ["update"]],
    ["is stopped after all other changes", { ram: 4096, powerState: "Stopped" }, ["update", "stop"]],
  ])("%s", async (_, change, actions) => {
    const grown = { cores: 4, bootVolume: { ...spec.bootVolume, size: 20 } };
    expect(await settle({ ...grown, ...change })).toEqual(actions);
  });

  it("leaves volumes behind that are not its own when it is deleted", async () => {
    const data = { properties: { name: "data", size: 1, type: "HDD", licenceType: "OTHER" } };
    await platform.done("POST", `${path}/volumes`, data);
    const leave = mapping.desire(spec).preDelete(await seen(), given);
    expect(leave?.action).toBe("detach volume data");
    await platform.done("DELETE", leave?.path ?? "");
    expect(mapping.desire(spec).preDelete(await seen(), given)).toBeUndefined();
    await platform.done("DELETE", `${path}${mapping.desire(spec).query}`);
    const left = (await platform.core("GET", `${datacenter}/volumes?depth=1`)).body;
    expect(left).toMatchObject({ items: [{ properties: { name: "data" } }] });
    expect(left).toHaveProperty("items.length", 1);
  });
});
