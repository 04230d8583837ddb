import { expect, test } from "vitest";
import { schemaOf } from "../../src/cli/manifests/schemas.ts";
import type { ClusterReader } from "../../src/diagnostics/cluster.ts";
import { KubeError } from "../../src/kube/client/errors.ts";
import type { KubeObject } from "../../src/kube/resource.ts";
import { manifestsIn } from "../../src/plan/inputs/manifests.ts";
import { makePlan, type PlanAsked } from "../../src/plan/make.ts";
import { API, fakePlatform } from "../engine/support/fake-platform.ts";
import { objectOf, readyCondition } from "../engine/support/fixtures.ts";

const ID = "72e73b81-8551-4e74-b398-fc63b39994af";
const manifest = (kind: string, name: string, spec: object) =>
  JSON.stringify({ apiVersion: "mooring.dev/v1alpha1", kind, metadata: { name }, spec });
const forbidden = () => new KubeError({ status: 403, reason: "Forbidden", message: "no" });

interface Rights {
  /** Whether a kind may be listed there; undefined: in all namespaces. */
  lists?: (plural: string, namespace: string | undefined) => boolean;
  reads?: (plural: string) => boolean;
}

/** A cluster with these objects, for a caller with these rights. */
function clusterOf(objects: readonly KubeObject[], { lists = () => true, reads = () => true }: Rights): ClusterReader {
  return {
    namespace: "shop",
    async find({ kind, plural }, namespace, name) {
      if (!reads(plural)) throw forbidden();
      return objects.find(
        (each) => each.kind === kind && each.metadata.name === name && each.metadata.namespace === namespace,
      );
    },
    async list({ kind, plural }, { namespace }) {
      if (!lists(plural, namespace)) throw forbidden();
      const isThere = ({ metadata }: KubeObject) => namespace === undefined || metadata.namespace === namespace;
      return objects.filter((each) => each.kind === kind && isThere(each));
    },
    ask: async () => ({}),
  };
}

async function planned(
  text: string,
  objects: readonly KubeObject[],
  rights: Rights = {},
  more: Partial<PlanAsked> = {},
) {
  const platform = fakePlatform();
  platform.make("ips", { properties: { location: "de/txl", size: 1 } }, { path: "/ipblocks", targets: [ID] });
  platform.make("dc", { properties: { location: "de/txl" } }, { targets: ["dc"] });
  const missing: string[] = [];
  const connection = platform.connectionOf("shop/main");
  const { signal } = new AbortController();
  const plan = await makePlan({
    manifests: manifestsIn([{ from: "file", text }], "shop"),
    cluster: { reader: clusterOf([objectOf("Account", "main"), ...objects], rights) },
    platform: async () => ({
      read: (call) => connection.send({ ...call, priority: "normal" }),
      endpoint: () => API,
      has: () => true,
      identity: undefined,
      contractNumber: 1,
      now: Date.now,
      storageKeys: () => Promise.reject(new Error("none")),
      storageRegion: undefined,
    }),
    schemaOf,
    prices: false,
    sources: { signal, progress: () => {}, missing: (what) => void missing.push(what) },
    ...more,
  });
  return { ...plan, missing };
}

const adopting = manifest("IPBlock", "mine", { location: "de/txl", size: 1, externalId: ID });
const elsewhere = objectOf("IPBlock", "theirs", {
  metadata: { name: "theirs", namespace: "other" },
  spec: { location: "de/txl", size: 1 },
  status: { id: ID, account: "shop/main", parents: {}, internal: { nonce: "n" } },
});

test("a resource of another namespace's object is not adopted, if the caller sees that object", async () => {
  const { items, missing } = await planned(adopting, [elsewhere]);
  const message = `NotAdoptable: IPBlock ${ID} belongs to IPBlock/other/theirs`;
  expect(items).toMatchObject([{ action: "blocked", message }]);
  expect(missing).toEqual([]);
});

test("a caller that does not see other namespaces learns what was not checked", async () => {
  const lists = (_: string, namespace?: string) => namespace !== undefined;
  const { items, missing } = await planned(adopting, [elsewhere], { lists });
  expect(items).toMatchObject([{ action: "adopt" }]);
  expect(missing).toContain(
    "ipblocks of other namespaces, which may own or use the same resources: you may not list them",
  );
});

const lan = manifest("Lan", "front", { datacenterRef: { name: "dc" } });
const home = objectOf("Datacenter", "dc", {
  spec: { location: "de/txl" },
  status: { id: "dc", account: "shop/main", parents: {}, conditions: [readyCondition()], internal: { nonce: "n" } },
});

test("a referenced object is read by name if it may not be listed, and unknown if it may not be read", async () => {
  const lists = (plural: string) => plural !== "datacenters";
  expect((await planned(lan, [home], { lists })).items).toMatchObject([{ action: "create" }]);
  const reads = (plural: string) => plural !== "datacenters";
  const message = expect.stringContaining("you may not read datacenters in namespace shop");
  expect((await planned(lan, [home], { lists, reads })).items).toMatchObject([{ action: "unknown", message }]);
});

test("a plan that deletes names the objects of other namespaces that use the resource by a Grant", async () => {
  const guest = objectOf("Lan", "guest", {
    metadata: { name: "guest", namespace: "other" },
    spec: { datacenterRef: { name: "dc", namespace: "shop" } },
    status: { id: "1", account: "other/main", parents: { datacenter: "dc" }, internal: { nonce: "n" } },
  });
  const open = objectOf("Grant", "open", {
    spec: { kinds: ["Datacenter"], namespaces: { names: ["other"] } },
  });
  const text = manifest("Datacenter", "dc", { location: "de/txl" });
  const { items } = await planned(text, [home, guest, open], {}, { destroy: true });
  const message = expect.stringMatching(/^NotEmpty: .*Lan\/other\/guest/);
  expect(items).toMatchObject([{ action: "blocked", message }]);
});
