import { describe, expect, it } from "vitest";
import { server } from "../../../../src/kinds/compute/server/server.ts";
import { platformForFile } from "../../../simulator/platform.ts";
import { inputs, mapped, nothing, sent } from "../../mapped.ts";

const platform = await platformForFile();
const datacenter = await platform.datacenter("de/txl");

const mapping = mapped(server);
const spec = {
  datacenterRef: { name: "berlin" },
  type: "CUBE",
  templateName: "Basic Cube XS",
  bootVolume: { imageAlias: "ubuntu:latest" },
  nics: [{ name: "public", lan: 1 }],
};
const template = inputs({ found: { templateName: "72e73b81-8551-4e74-b398-fc63b39994af" } });
const path = await platform.made(`${datacenter}/servers`, sent(mapping.desire(spec).body(template)));
const here = () => inputs({ parents: { datacenter: datacenter.split("/")[2] ?? "" } });
const seen = async () => (await platform.core("GET", `${path}?depth=3`)).body;
const compare = async (change: object = {}) => mapping.desire({ ...spec, ...change }).compare(await seen(), here());

/** Sends every requested write until none is left. Returns the names of the writes. */
async function settle(change: object): Promise<string[]> {
  const actions: string[] = [];
  for (let { next } = await compare(change); next; { next } = await compare(change)) {
    await platform.done(next.method, next.path, next.body);
    actions.push(next.action);
  }
  return actions;
}

describe("a Cube", () => {
  it("has the size that its template fixes: the smallest 1 vCPU, 2 GB and 60 GB NVMe", async () => {
    expect(mapping.comparison.facts(await seen(), nothing)).toMatchObject({ cores: 1, ram: 2048 });
    expect(await seen()).toMatchObject({
      entities: { volumes: { items: [{ properties: { type: "DAS", size: 60 } }] } },
    });
  });

  it("is up to date once it is there, and its size is never asked to change", async () => {
    expect(await compare()).toEqual({ drift: [] });
    expect(await settle({ name: "renamed", bootVolume: { ...spec.bootVolume, name: "nvme" } })).toEqual([
      "update",
      "update",
    ]);
  });

  it("is suspended and resumed, and not changed in between", async () => {
    expect(await settle({ powerState: "Suspended" })).toEqual(["update", "suspend"]);
    const changed = { name: "later", nics: [{ name: "private", lan: 2 }] };
    expect(await settle({ ...changed, powerState: "Suspended" })).toEqual([]);
    const all = ["resume", "update", "remove NIC public", "add NIC private"];
    expect(await settle({ ...changed, powerState: "Running" })).toEqual(all);
    expect(await settle({})).toEqual(["update", "remove NIC private", "add NIC public"]);
  });

  it("is billed while it is suspended, which is said", () => {
    const advice = (change: object) => mapping.desire({ ...spec, ...change }).advice(inputs());
    expect(advice({ powerState: "Suspended" })).toEqual([
      "powerState: a suspended Cube is still billed, until it is deleted with its disk; a Snapshot keeps a copy",
    ]);
    expect(advice({ powerState: "Running" })).toEqual([]);
  });

  it("shows its 23 add-on volumes, and takes leave of them alone before it is deleted", async () => {
    const addOn = { properties: { name: "data", size: 1, type: "HDD", licenceType: "OTHER" } };
    for (let added = 0; added < 23; added += 1) await platform.core("POST", `${path}/volumes`, addOn);
    await platform.advance(60);
    const { volumes, bootVolumeId } = mapping.comparison.facts(await seen(), nothing);
    expect(volumes).toHaveLength(23);
    expect(await compare()).toEqual({ drift: [] });

    const desired = mapping.desire(spec);
    let detached = 0;
    for (let next = desired.preDelete(await seen(), here()); next; next = desired.preDelete(await seen(), here())) {
      expect(next).toMatchObject({ action: "detach volume data", method: "DELETE" });
      await platform.done(next.method, next.path);
      detached += 1;
    }
    expect(detached).toBe(23);
    await platform.done("DELETE", `${path}${desired.query}`);
    const left = (await platform.core("GET", `${datacenter}/volumes`)).body;
    expect(left).toHaveProperty("items.length", 23);
    expect(JSON.stringify(left)).not.toContain(String(bootVolumeId));
  });
});
