import { describe, expect, it } from "vitest";
import { fromTerraform } from "../../src/import/terraform.ts";
import { kinds } from "../../src/kinds/index.ts";
import { imported } from "./platform.ts";

const [DC, OTHER] = ["11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"];
const THIRD = "33333333-3333-4333-8333-333333333333";
const HOSTILE = "a\u001b[2J\u001b]0;title\u0007\nb";

const datacenter = (id: string, name: string) => ({ id, properties: { name, location: "de/txl" } });
const lan = (name: string) => ({ id: "1", properties: { name, public: false } });
const server = { id: OTHER, properties: { name: "web", type: "ENTERPRISE", cores: 1, ram: 1024 } };
const volume = { id: THIRD, properties: { name: "data", size: 10, type: "HDD", licenceType: "OTHER" } };

describe("an import", () => {
  it("of a resource with a name that no object can have leaves the name out, with the reason", async () => {
    const { kept, dropped } = await imported({
      "/datacenters": [datacenter(DC, HOSTILE)],
      [`/datacenters/${DC}/volumes`]: [volume],
    });
    expect(dropped).toEqual([]);
    const [first, second] = kept;
    expect(first?.object).toMatchObject({ kind: "Datacenter", metadata: { name: "a-2j-0-title-b" } });
    expect(first?.object.spec).not.toHaveProperty("name");
    expect(first?.notes).toEqual([{ field: "name", why: expect.stringContaining("cannot be expressed in spec") }]);
    expect(second?.object.spec).toMatchObject({ datacenterRef: { name: "a-2j-0-title-b" } });
  });

  it("of a datacenter that does not exist says so, with those that do", async () => {
    const only = (...names: string[]) =>
      imported(
        { "/datacenters": [datacenter(DC, "shop"), datacenter(OTHER, "lab")] },
        { filter: { kinds: undefined, datacenters: new Set(names) } },
      );
    await expect(only("shop", "nope")).rejects.toThrow(
      'there is no datacenter "nope", by name or id, that the token\'s user may see; others are lab',
    );
    expect((await only("shop", OTHER)).kept).toHaveLength(2);
  });

  it("has no reference to an object that is left out, but the id of its resource", async () => {
    const nics = { items: [{ id: "n", properties: { name: "eth0", lan: 12345678901 } }] };
    const { kept, dropped } = await imported({
      "/datacenters": [datacenter(DC, "shop")],
      [`/datacenters/${DC}/servers`]: [{ ...server, entities: { nics } }],
      [`/datacenters/${DC}/volumes`]: [{ ...volume, properties: { ...volume.properties, bootServer: server.id } }],
    });
    expect(dropped).toEqual([{ what: `Server web (${server.id})`, why: expect.stringContaining("spec.nics[0]") }]);
    expect(kept.map(({ object }) => object.kind)).toEqual(["Datacenter", "Volume"]);
    expect(kept[1]?.object.spec).toMatchObject({
      datacenterRef: { name: "shop" },
      attachTo: { serverId: server.id },
    });
  });

  it("names the resources that another cluster has created, or whose datacenter it has", async () => {
    const label = (id: string, value: string) => ({
      id: `urn:label:datacenter:${id}:mooring-cluster`,
      properties: { key: "mooring-cluster", value, resourceType: "datacenter", resourceId: id },
    });
    const contract = {
      "/datacenters": [datacenter(DC, "shop"), datacenter(OTHER, "theirs")],
      [`/datacenters/${OTHER}/lans`]: [lan("inside")],
      "/labels": [label(DC, "blue"), label(OTHER, "green")],
    };
    const account = kinds.flatMap((kind) => (kind.kind === "Account" ? kind : []));
    const objects = account.map((kind) => ({
      kind,
      key: "Account/shop/main",
      object: { apiVersion: "v1", kind: "Account", metadata: { name: "main" }, status: { clusterName: "blue" } },
    }));
    const { kept, others } = await imported(contract, { objects });
    expect(kept).toHaveLength(3);
    expect(others).toEqual([
      { what: "Datacenter theirs", cluster: "green" },
      { what: "Lan inside", cluster: "green" },
    ]);
    expect((await imported({ ...contract, "/labels": [] }, { objects })).others).toEqual([]);
  });

  it("from a state of Terraform tells LANs apart by their datacenter", async () => {
    const inState = (type: string, name: string, attributes: object) => ({ type, name, instances: [{ attributes }] });
    const resources = [
      inState("ionoscloud_datacenter", "one", { id: DC }),
      inState("ionoscloud_lan", "front", { id: "1", datacenter_id: DC }),
    ];
    const { names, release } = fromTerraform(JSON.stringify({ version: 4, resources }));
    const collections = {
      "/datacenters": [datacenter(DC, "shop"), datacenter(OTHER, "other")],
      [`/datacenters/${DC}/lans`]: [lan("a")],
      [`/datacenters/${OTHER}/lans`]: [lan("b")],
    };
    const { kept } = await imported(collections, { names, only: true });
    expect(kept.map(({ object: { kind, metadata } }) => `${kind}/${metadata.name}`)).toEqual([
      "Datacenter/one",
      "Lan/front",
    ]);
    expect(release.get(`${DC}/1`)).toEqual(["terraform state rm 'ionoscloud_lan.front'"]);
  });
});
