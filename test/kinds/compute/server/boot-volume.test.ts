import { describe, expect, it } from "vitest";
import { server } from "../../../../src/kinds/compute/server/server.ts";
import { platformForFile, resource } from "../../../simulator/platform.ts";
import { inputs, mapped, sent } from "../../mapped.ts";

const mapping = mapped(server);
const base = { datacenterRef: { name: "berlin" }, cores: 1, ram: 1024 };
const spec = { ...base, bootVolumeRef: { name: "os" } };

const platform = await platformForFile();
const datacenter = await platform.datacenter("de/txl");
const parents = { datacenter: datacenter.split("/")[2] ?? "" };
const disk = (name: string) => ({ properties: { name, size: 1, type: "HDD", licenceType: "OTHER" } });
const made = async (name: string) => resource(await platform.done("POST", `${datacenter}/volumes`, disk(name))).id;
const [os, other, data] = [await made("os"), await made("other"), await made("data")];

/** The inputs of the object: the volume that it names, and its status. */
const given = (id: string | undefined, shown: object = {}) =>
  inputs({
    parents,
    shown: { ...shown },
    refs: id === undefined ? {} : { bootVolume: { id, status: { parents } } },
  });
const path = await platform.made(`${datacenter}/servers`, sent(mapping.desire(spec).body(given(os))));
await platform.done("POST", `${path}/volumes`, { id: data });
const seen = async () => (await platform.core("GET", `${path}?depth=5`)).body;

/** Sends every requested write, and keeps the status like the operator. Returns the names of the writes. */
let shown: object = {};
async function settle(wanted: object, id: string | undefined): Promise<string[]> {
  const actions: string[] = [];
  for (;;) {
    const item = await seen();
    shown = mapping.comparison.facts(item, { ...given(id, shown), annotations: {} });
    const { next, drift } = mapping.desire(wanted).compare(item, given(id, shown));
    if (!next) {
      expect(drift).toEqual([]);
      return actions;
    }
    await platform.done(next.method, next.path, next.body);
    actions.push(next.action);
  }
}
const boot = { bootVolumeId: os, volumes: [expect.objectContaining({ id: data })] };

describe("a server that boots from a Volume", () => {
  it("is created with it, and needs no further write", async () => {
    expect(await settle(spec, os)).toEqual([]);
    expect(shown).toMatchObject(boot);
  });

  it("boots from another Volume when spec names another: that one comes before the former goes", async () => {
    expect(await settle(spec, other)).toEqual([
      "attach the boot volume",
      "set the boot volume",
      "detach the boot volume",
    ]);
    expect(shown).toMatchObject({ ...boot, bootVolumeId: other });
    expect(await settle(spec, os)).toEqual(["attach the boot volume", "set the boot volume", "detach the boot volume"]);
  });

  it("gets it back when somebody has detached it, or chosen another one", async () => {
    await platform.done("DELETE", `${path}/volumes/${os}`);
    expect(await settle(spec, os)).toEqual(["attach the boot volume"]);
    await platform.done("PATCH", path, { bootVolume: { id: data } });
    expect(await settle(spec, os)).toEqual(["set the boot volume"]);
  });

  it("gives it back when spec names none any more, and keeps what others have attached", async () => {
    expect(await settle(base, undefined)).toEqual(["detach the boot volume"]);
    expect(shown).toMatchObject({ bootVolumeId: data });
    expect(await settle(base, undefined)).toEqual([]);
    expect(await settle(spec, os)).toEqual(["attach the boot volume"]);
  });

  it("leaves all volumes behind when it is deleted", async () => {
    const desired = mapping.desire(spec);
    expect(desired.query).toBe("");
    await platform.done("DELETE", `${path}${desired.query}`);
    const left = (await platform.core("GET", `${datacenter}/volumes?depth=1`)).body;
    expect(left).toHaveProperty("items.length", 3);
  });

  it("does not do so in another datacenter", () => {
    const refs = { bootVolume: { id: os, status: { parents: { datacenter: "elsewhere" } } } };
    expect(mapping.desire(spec).problem(inputs({ parents, refs }))).toBe(
      "bootVolumeRef: Volume os is in another datacenter: a server can only boot from a volume in its own datacenter",
    );
    expect(mapping.desire(spec).problem(given(os))).toBeUndefined();
  });
});

it("an answer that does not show the volumes of a server changes nothing", () => {
  const item = { id: "srv-1", properties: { name: "web", cores: 1, ram: 1024, bootVolume: null } };
  expect(mapping.desire(spec).compare(item, given(os))).toEqual({ drift: [] });
});
