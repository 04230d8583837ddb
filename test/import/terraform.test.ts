import { describe, expect, it } from "vitest";
import { fromTerraform } from "../../src/import/terraform.ts";
import { wordsOf } from "./words-of.ts";

const ID = (nth: number) => `${String(nth).repeat(8)}-1111-4111-8111-111111111111`;
const DC = ID(1);
const SERVER = ID(2);
const BOOT = ID(3);
const DATA = ID(4);
const NIC = ID(5);
const LOG = ID(6);
const NAT = ID(7);
const OF_NAT = ID(8);
const one = (type: string, name: string, attributes: object, more: object = {}) => ({
  mode: "managed",
  type: `ionoscloud_${type}`,
  name,
  instances: [{ attributes, ...more }],
});
const stateOf = (...resources: object[]) => JSON.stringify({ version: 4, resources });
const server = (attributes: object = {}) =>
  one("server", "app", {
    id: SERVER,
    datacenter_id: DC,
    boot_volume: BOOT,
    inline_volume_ids: [BOOT],
    volume: [{ name: "system", image_password: "hidden", user_data: "aGlkZGVu" }],
    nic: [{ id: NIC, name: "front", lan: 1, flowlog: [] }],
    boot_cdrom: "",
    ...attributes,
  });

describe("a state of Terraform", () => {
  it("gives names, with what to remove there", () => {
    const instance = { index_key: "a", attributes: { id: DC, image_password: "hidden" } };
    const app = { mode: "managed", type: "ionoscloud_server", name: "app", instances: [instance] };
    const other = { mode: "data", type: "ionoscloud_image", name: "x", instances: [{ attributes: { id: "i" } }] };
    const { names, release, titles } = fromTerraform(stateOf(app, other));
    expect([...titles]).toEqual([[DC, 'ionoscloud_server.app["a"]']]);
    expect([...names]).toEqual([[DC, "app-a"]]);
    expect(release.get(DC)).toEqual([`terraform state rm 'ionoscloud_server.app["a"]'`]);
    expect(() => fromTerraform("{}")).toThrow("not a state of version 4");
  });

  it("cannot add a command to those that are printed", () => {
    const wild = `'; touch x; '`;
    const resources = [
      { type: "ionoscloud_server", name: "app", instances: [{ index_key: wild, attributes: { id: DC } }] },
    ];
    const [command] = fromTerraform(stateOf(...resources)).release.get(DC) ?? [];
    expect(wordsOf(command)).toEqual(["terraform", "state", "rm", `ionoscloud_server.app[${JSON.stringify(wild)}]`]);
  });
});

describe("a volume or flow log inside of another resource of the state", () => {
  const inServer = `terraform state rm 'ionoscloud_server.app'`;

  it("is imported as well, under the name of that resource", () => {
    const nic = { id: NIC, name: "front", flowlog: [{ id: LOG, name: "watch" }] };
    const state = stateOf(
      server({ inline_volume_ids: [BOOT, DATA], volume: [{ name: "system" }, { name: "" }], nic: [nic] }),
    );
    const { names, release } = fromTerraform(state);
    expect(Object.fromEntries(names)).toEqual({
      [SERVER]: "app",
      [BOOT]: "app-system",
      [DATA]: "app-volume-2",
      [LOG]: "app-watch",
    });
    for (const id of [SERVER, BOOT, DATA, LOG]) expect(release.get(id)).toEqual([inServer]);
  });

  it("also in the state of an old provider, which names the boot volume alone", () => {
    const state = stateOf(server({ inline_volume_ids: null, volume: null, nic: null }));
    expect(fromTerraform(state).names.get(BOOT)).toBe("app-boot");
  });

  it("keeps the name of a resource of its own, which may come before or after", () => {
    const data = one("volume", "disk", { id: DATA, datacenter_id: DC, server_id: SERVER });
    const app = server({ boot_volume: DATA, inline_volume_ids: [] });
    for (const all of [
      [data, app],
      [app, data],
    ]) {
      const { names, release } = fromTerraform(stateOf(...all));
      expect(names.get(DATA)).toBe("disk");
      expect(release.get(DATA)).toEqual([`terraform state rm 'ionoscloud_volume.disk'`]);
    }
  });

  it("is the flow log of a NIC, a NAT gateway or a load balancer", () => {
    const flowlog = (id: string) => ({ flowlog: [{ id, name: "watch", action: "ALL" }] });
    const nic = one("nic", "front", { id: NIC, datacenter_id: DC, server_id: SERVER, ...flowlog(LOG) });
    const nat = one("natgateway", "out", { id: NAT, datacenter_id: DC, ...flowlog(OF_NAT) }, { index_key: 0 });
    const { names, release } = fromTerraform(stateOf(nic, nat));
    expect([names.get(LOG), names.get(OF_NAT)]).toEqual(["front-watch", "out-0-watch"]);
    expect(release.get(OF_NAT)).toEqual([`terraform state rm 'ionoscloud_natgateway.out[0]'`]);
  });

  it("is no name: an image in the CD drive, empty texts and null", () => {
    const { names } = fromTerraform(
      stateOf(server({ boot_cdrom: DATA, boot_volume: "", inline_volume_ids: ["", null] })),
    );
    expect([...names.keys()]).toEqual([SERVER]);
  });
});

it("a server is released with all that is a part of it in its object: NICs, firewall rules and the boot device", () => {
  const of = { datacenter_id: DC, server_id: SERVER };
  const state = stateOf(
    one("nic", "front", { id: NIC, ...of }),
    one("firewall", "ssh", { id: DATA, nic_id: NIC, ...of }),
    one("server_boot_device_selection", "boot", { id: SERVER, boot_device_id: BOOT, ...of }),
    one("volume", "disk", { id: DATA, ...of }),
    server(),
  );
  const { names, release } = fromTerraform(state);
  expect(names.get(SERVER)).toBe("app");
  expect(release.get(SERVER)?.toSorted()).toEqual(
    ["firewall.ssh", "nic.front", "server.app", "server_boot_device_selection.boot"].map(
      (address) => `terraform state rm 'ionoscloud_${address}'`,
    ),
  );
});

it("nothing of a state but addresses, names and ids is kept", () => {
  expect(JSON.stringify([...fromTerraform(stateOf(server())).names])).not.toMatch(/hidden|aGlkZGVu/);
});
