import { describe, expect, it } from "vitest";
import { driftReport } from "../../src/diagnostics/drift.ts";
import type { PlatformReader } from "../../src/diagnostics/reader.ts";
import type { Sources } from "../../src/diagnostics/sources.ts";
import type { KubeObject } from "../../src/kube/resource.ts";
import { NotFound } from "../../src/platform/answers/errors.ts";
import { clusterOf } from "../tools/landscape.ts";

const [ONE, OTHER] = ["11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"];

const datacenter = (name: string, id: string, status: object): KubeObject => ({
  apiVersion: "mooring.dev/v1alpha1",
  kind: "Datacenter",
  metadata: { name, namespace: "shop" },
  spec: { name, location: "de/txl" },
  status: { id, ...status },
});

/** A contract that has one datacenter. */
function contractWith(id: string, name: string): PlatformReader {
  return {
    async read({ url }) {
      if (!url.includes(id)) throw new NotFound({ call: "GET", status: 404, detail: "no such resource" });
      return { status: 200, headers: {}, body: { id, properties: { name, location: "de/txl" }, metadata: {} } };
    },
    endpoint: (product) => `https://${product}.example`,
    has: () => true,
    identity: undefined,
    contractNumber: undefined,
    now: () => 0,
    storageKeys: () => Promise.reject(new Error("no keys")),
    storageRegion: undefined,
  };
}

const sourcesOf = (...objects: KubeObject[]): Sources => ({
  platform: () => Promise.reject(new Error("two Accounts: name one")),
  cluster: async () => clusterOf(objects),
  now: () => 0,
  signal: new AbortController().signal,
  progress: () => {},
});

const owned = (kind: string, spec: object, parents: object = {}): KubeObject => ({
  apiVersion: "mooring.dev/v1alpha1",
  kind,
  metadata: { name: "one", namespace: "shop" },
  spec,
  status: { id: ONE, account: "shop/main", parents },
});

/** A contract that answers at these paths, with these bodies. */
const answering = (bodies: Record<string, object>): PlatformReader => ({
  ...contractWith(ONE, "one"),
  async read({ url }) {
    const [path = ""] = url.split("?");
    const body = Object.entries(bodies).find(([end]) => path.endsWith(end))?.[1];
    if (!body) throw new NotFound({ call: "GET", status: 404, detail: "no such resource" });
    return { status: 200, headers: {}, body };
  },
});

describe("drift", () => {
  it.each([
    [
      "a token",
      owned("AccessToken", { lifetime: "7d" }),
      { [`/tokens/${ONE}`]: { id: ONE, createdDate: "2026-03-01T00:00:00Z", expirationDate: "2026-03-08T00:00:00Z" } },
    ],
    [
      "a user that is only in the list",
      owned("KafkaUser", { clusterId: OTHER }, { clusterId: OTHER }),
      { "/users": { items: [{ id: ONE, properties: { name: "admin" } }] } },
    ],
    [
      "a switch in a list",
      owned("CentralLogging", { enabled: true }),
      { "/central": { items: [{ id: ONE, properties: { enabled: true } }] } },
    ],
    [
      "a switch without an id",
      owned("CentralLogging", { enabled: true }),
      { "/central": { properties: { enabled: true } } },
    ],
  ])("of %s is read", async (_, object, bodies) => {
    const report = await driftReport(sourcesOf(object), { namespace: "shop" }, async () => answering(bodies));
    expect(report).toMatchObject({ checked: 1, items: [] });
    expect(report).not.toHaveProperty("not_checked");
  });

  it("of an answer in another form is not checked, in one line", async () => {
    const odd = async () => answering({ [ONE]: { id: ONE } });
    const report = await driftReport(sourcesOf(datacenter("one", ONE, {})), { namespace: "shop" }, odd);
    expect(report).toMatchObject({
      not_checked: ["Datacenter/shop/one: the platform's answer has an unexpected form: properties"],
    });
  });

  const objects = [
    datacenter("one", ONE, { account: "shop/first" }),
    datacenter("other", OTHER, { account: "shop/second", drift: [{ field: "name", wanted: "other", found: "old" }] }),
  ];

  it("is read through the Account of each object", async () => {
    const platforms: Record<string, PlatformReader> = {
      "shop/first": contractWith(ONE, "one"),
      "shop/second": contractWith(OTHER, "renamed"),
    };
    const platformOf = async (account = "") => platforms[account] ?? Promise.reject(new Error(`no ${account}`));
    const report = await driftReport(sourcesOf(...objects), { namespace: "shop" }, platformOf);
    expect(report).toMatchObject({
      checked: 2,
      items: [{ name: "other", drift: [{ field: "name", wanted: "other", found: "renamed" }] }],
    });
    expect(report).not.toHaveProperty("not_checked");
  });

  it("that could not be read is the one of the last reconcile, and named as such", async () => {
    const report = await driftReport(sourcesOf(...objects), { namespace: "shop" });
    expect(report).toMatchObject({
      checked: 0,
      items: [{ name: "other", drift: [{ found: "old" }], as_of: "the operator's last reconcile" }],
      not_checked: ["Datacenter/shop/one: two Accounts: name one", "Datacenter/shop/other: two Accounts: name one"],
      note: expect.stringContaining("2 resources were not read"),
    });
  });

  it("of named objects only, which may be in other namespaces", async () => {
    const both = async () => contractWith(ONE, "renamed");
    const named = (name: string) => ({ kind: "Datacenter", name });
    const ofOne = await driftReport(sourcesOf(...objects), { namespace: "shop", objects: [named("one")] }, both);
    expect(ofOne).toMatchObject({ checked: 1, items: [{ name: "one" }] });
    const nowhere = driftReport(sourcesOf(...objects), { objects: [named("zzz")] }, both);
    await expect(nowhere).rejects.toThrow(
      'there is no Datacenter zzz (namespace shop); "mooring get" shows what there is',
    );
  });

  it("of a named object without a resource is not checked", async () => {
    const { status: _, ...fresh } = datacenter("fresh", ONE, {});
    const asked = { objects: [{ kind: "Datacenter", name: "fresh" }] };
    const report = await driftReport(sourcesOf(fresh), asked, async () => contractWith(ONE, "one"));
    expect(report).toMatchObject({ checked: 0, not_checked: ["Datacenter/shop/fresh: it has no resource"] });
  });
});
