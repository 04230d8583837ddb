import { describe, expect, it } from "vitest";
import type { Resource } from "../../src/diagnostics/landscape/resources.ts";
import { mooringObject } from "../../src/diagnostics/objects.ts";
import { fromCrossplane } from "../../src/import/elsewhere.ts";
import { existing } from "../../src/import/existing.ts";
import { manifestsFor } from "../../src/import/manifests.ts";
import { namesFor } from "../../src/import/names.ts";
import { asJson, type Json } from "../../src/kinds/fields/compare.ts";
import { kinds } from "../../src/kinds/index.ts";
import { hasResource } from "../../src/kinds/kind.ts";
import { wordsOf } from "./words-of.ts";

const DC = "11111111-1111-4111-8111-111111111111";

function resource(kind: string, id: string, properties: Json, more: Partial<Resource> = {}): Resource {
  const found = kinds.filter(hasResource).find((each) => each.kind === kind);
  if (!found) throw new Error(`there is no kind ${kind}`);
  return { kind: found, id, parents: {}, raw: { id, properties }, ...more };
}
const datacenter = (id: string, name: string) => resource("Datacenter", id, { name, location: "de/txl" });
const specOf = (resources: Resource[], kind: string): Json => {
  const all = manifestsFor(resources, { namespace: undefined, accountRef: undefined });
  return asJson(all.find(({ object }) => object.kind === kind)?.object.spec);
};

describe("names of imported objects", () => {
  it("are valid, whatever the platform calls a resource", () => {
    const names = ["Größe & Co", "\u001b[2Ja\nb", "--x--", "x".repeat(300), "", "日本"];
    const found = namesFor(names.map((name, nth) => datacenter(DC.replace("1", String(nth)), name)));
    for (const name of found.values()) expect(name).toMatch(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/);
    expect(new Set(found.values()).size).toBe(names.length);
  });

  it("do not depend on what comes first when two are called the same", () => {
    const twins = [datacenter(DC, "shop"), datacenter(DC.replaceAll("1", "2"), "shop")];
    const there = [...namesFor(twins)].map(([{ id }, name]) => [id, name]);
    const back = [...namesFor(twins.toReversed())].map(([{ id }, name]) => [id, name]);
    expect(new Map(back as [string, string][])).toEqual(new Map(there as [string, string][]));
    expect(there.map(([, name]) => name)).toEqual(["shop-11111111", "shop-22222222"]);
  });
});

describe("objects that the cluster has", () => {
  const OTHER = DC.replaceAll("1", "2");
  const lan = (properties: Json) => resource("Lan", "1", properties, { parents: { datacenter: DC } });
  const object = (kind: string, name: string, spec: Json, { namespace = "shop", status = {} } = {}) =>
    mooringObject(resource(kind, "", {}).kind, {
      apiVersion: "mooring.dev/v1alpha1",
      kind,
      metadata: { name, namespace },
      spec,
      status,
    });

  it("keep their names: an imported one of the same kind and namespace gets a part of its id", () => {
    const objects = [
      object("Lan", "private", {}),
      object("Datacenter", "elsewhere", {}, { namespace: "other" }),
      object("Server", "front", {}),
    ];
    const { taken } = existing(objects, "shop");
    const all = [lan({ name: "private" }), datacenter(OTHER, "elsewhere"), datacenter(DC, "front")];
    expect([...namesFor(all, undefined, taken).values()]).toEqual(["private-11111111-1", "elsewhere", "front"]);
  });

  it("keep them also where the name with the id is in use, by an object or by another resource", () => {
    const taken = new Set(["Datacenter/shop", "Datacenter/shop-11111111", "Datacenter/shop-11111111-2"]);
    const all = [datacenter(DC, "shop"), datacenter(OTHER, "shop-11111111-3")];
    const names = [...namesFor(all, undefined, taken).values()];
    expect(names).toEqual(["shop-11111111-4", "shop-11111111-3"]);
    const back = [...namesFor(all.toReversed(), undefined, taken).values()];
    expect(back).toEqual(names.toReversed());
  });

  it("are not what an imported object refers to: its reference has the new name", () => {
    const server = resource(
      "Server",
      OTHER,
      {},
      {
        parents: { datacenter: DC },
        raw: {
          id: OTHER,
          properties: { name: "web", type: "ENTERPRISE", cores: 2, ram: 2048 },
          entities: { nics: { items: [{ id: "n", properties: { name: "eth0", lan: 1, dhcp: true } }] } },
        },
      },
    );
    const taken = new Set(["Lan/private", "Datacenter/shop"]);
    const options = { namespace: undefined, accountRef: undefined, taken };
    const all = manifestsFor([datacenter(DC, "shop"), lan({ name: "private" }), server], options);
    const of = (kind: string) => all.find((each) => each.object.kind === kind)?.object;
    expect(of("Lan")).toMatchObject({ metadata: { name: "private-11111111-1" }, spec: { name: "private" } });
    expect(of("Server")?.spec).toMatchObject({
      datacenterRef: { name: "shop-11111111" },
      nics: [{ lanRef: { name: "private-11111111-1" } }],
    });
  });

  it("have the resource that they name, also before the operator has adopted it", () => {
    const { held } = existing(
      [
        object("Datacenter", "shop", { externalId: DC }),
        object("Lan", "private", { externalId: "1", datacenterRef: { name: "shop" } }),
        object("Lan", "front", { externalId: "2", datacenterId: OTHER }),
        object("Server", "theirs", { externalId: OTHER }, { namespace: "other" }),
      ],
      "shop",
    );
    expect(Object.fromEntries(held)).toEqual({
      [DC]: "Datacenter/shop/shop",
      [`${DC}/1`]: "Lan/shop/private",
      [`${OTHER}/2`]: "Lan/shop/front",
    });
  });
});

describe("specs of imported objects", () => {
  const lan = resource("Lan", "1", { name: "front", public: true }, { parents: { datacenter: DC } });
  const nic = (name: string) => ({ id: name, properties: { name, lan: 1, dhcp: true } });
  const server = (nics: object[]): Resource => ({
    ...resource("Server", DC.replaceAll("1", "3"), {}),
    parents: { datacenter: DC },
    raw: {
      id: "s",
      properties: { name: "web", type: "ENTERPRISE", cores: 2, ram: 2048 },
      entities: { nics: { items: nics } },
    },
  });

  it("refer to objects that are imported, and to others by id", () => {
    const spec = specOf([datacenter(DC, "shop"), lan, server([nic("eth0")])], "Server");
    expect(spec).toMatchObject({
      datacenterRef: { name: "shop" },
      nics: [{ name: "eth0", lanRef: { name: "front" } }],
    });
    const alone = specOf([server([nic("eth0")])], "Server");
    expect(alone).toMatchObject({ datacenterId: DC, nics: [{ name: "eth0", lan: 1 }] });
    expect(alone).not.toHaveProperty("datacenterRef");
  });

  it("leave out a list of which one member cannot be said, with the reason", () => {
    const all = manifestsFor([server([nic("eth0"), nic("")])], { namespace: undefined, accountRef: undefined });
    expect(all[0]?.object.spec).not.toHaveProperty("nics");
    expect(all[0]?.notes).toEqual([expect.objectContaining({ field: "nics" })]);
  });

  it("leave out rules of which one has no name, and the reason is told in words", () => {
    const rules = [{ properties: { name: "ssh", protocol: "TCP" } }, { properties: { name: null, protocol: "ANY" } }];
    const guarded = { ...nic("eth0"), entities: { firewallrules: { items: rules } } };
    const [only] = manifestsFor([server([guarded])], { namespace: undefined, accountRef: undefined });
    expect(only?.object.spec).toMatchObject({ nics: [{ name: "eth0" }] });
    expect(JSON.stringify(only?.object.spec)).not.toContain("firewallRules");
    expect(only?.notes).toEqual([{ field: "nics[eth0].firewallRules", why: "it has a rule without a name" }]);
    const [unnamed] = manifestsFor([server([nic("eth0"), nic("")])], { namespace: undefined, accountRef: undefined });
    expect(unnamed?.notes).toEqual([{ field: "nics", why: "it has a NIC without a name" }]);
  });

  it("say nothing of CD drives, failover groups and cross-connects, and the reason is told", () => {
    const notesOf = (found: Resource) => {
      const [only] = manifestsFor([found], { namespace: undefined, accountRef: undefined });
      return only?.notes.map(({ field, why }) => `${field}: ${why}`);
    };
    const properties = { name: "web", type: "ENTERPRISE", cores: 2, ram: 2048, bootCdrom: { id: "cd" } };
    const entities = { cdroms: { items: [{ id: "cd" }, { id: "second" }] } };
    const drives = { ...server([]), raw: { id: "s", properties, entities } };
    const why = "stays in its drive, where a replacement of the Server would have none: a Server boots from a Volume";
    expect(notesOf(drives)).toEqual([`bootCdrom: cd ${why}`, `cdroms: second ${why}`]);
    const ipFailover = [{ ip: "192.0.2.7", nicUuid: "n" }];
    const shared = resource("Lan", "1", { name: "front", pcc: "x", ipFailover }, { parents: { datacenter: DC } });
    const stays = "stays as it is: there is no such field";
    expect(notesOf(shared)).toEqual([`pcc: x ${stays}`, `ipFailover: 192.0.2.7 ${stays}`]);
    expect(notesOf(resource("Lan", "1", { name: "front", pcc: null, ipFailover: [] }))).toEqual([]);
  });

  it("never hold what may be secret", () => {
    const replica = { cores: 1, ram: 1024, volumes: [{ name: "root", userData: "aGlkZGVu", imagePassword: "hidden" }] };
    const group = resource("ScalingGroup", DC, { name: "g", datacenter: { id: DC }, replicaConfiguration: replica });
    const all = JSON.stringify(
      manifestsFor([group], { namespace: undefined, accountRef: undefined }).map(({ object }) => object),
    );
    expect(all).not.toMatch(/aGlkZGVu|hidden/);
  });
});

describe("names from elsewhere", () => {
  it("cannot add a command to those that are printed", () => {
    const annotations = { "crossplane.io/external-name": DC };
    const managed = { apiVersion: "x.crossplane.io/v1", kind: "Server", metadata: { name: "$(touch x)", annotations } };
    const [fromObject] = fromCrossplane(JSON.stringify(managed)).release.get(DC) ?? [];
    expect(wordsOf(fromObject)).toContain("server.x.crossplane.io/$(touch x)");
  });

  it("come from managed resources of Crossplane, with how to keep them", () => {
    const managed = {
      apiVersion: "compute.ionoscloud.crossplane.io/v1alpha1",
      kind: "Server",
      metadata: { name: "app", annotations: { "crossplane.io/external-name": DC } },
    };
    const { names, release } = fromCrossplane(JSON.stringify({ kind: "List", items: [managed] }));
    expect([...names]).toEqual([[DC, "app"]]);
    const [words] = release.get(DC) ?? [];
    expect(words).toContain('"deletionPolicy":"Orphan"');
    expect(wordsOf(words)).not.toContain("-n");
  });

  it("come from namespaced resources of Crossplane 2, which have other policies", () => {
    const managed = {
      apiVersion: "compute.ionoscloud.m.crossplane.io/v1alpha1",
      kind: "Server",
      metadata: { name: "app", namespace: "shop", annotations: { "crossplane.io/external-name": DC } },
    };
    const words = (namespace: string) => {
      const changed = { ...managed, metadata: { ...managed.metadata, namespace } };
      return wordsOf(fromCrossplane(JSON.stringify(changed)).release.get(DC)?.[0]);
    };
    const target = "server.compute.ionoscloud.m.crossplane.io/app";
    const patch = '{"spec":{"managementPolicies":["Observe"]}}';
    const command = (namespace: string) => [
      "kubectl",
      "patch",
      target,
      "-n",
      namespace,
      "--type",
      "merge",
      "-p",
      patch,
    ];
    expect(words("shop")).toEqual(command("shop"));
    expect(words("$(touch x)")).toEqual(command("$(touch x)"));
  });
});
