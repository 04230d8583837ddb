import { describe, expect, it } from "vitest";
import { adviceFor, kindOf } from "../../src/diagnostics/objects.ts";
import { ownerOf } from "../../src/diagnostics/overview/costs.ts";
import { forest, plainBranch } from "../../src/diagnostics/overview/forest.ts";
import type { Sources } from "../../src/diagnostics/sources.ts";
import { actorOf } from "../../src/diagnostics/why/actors.ts";
import { problems } from "../../src/diagnostics/why/problems.ts";
import { explainReason, reasonNames } from "../../src/diagnostics/why/reasons.ts";
import { whyNotReady } from "../../src/diagnostics/why/why-not-ready.ts";
import { namedBy } from "../../src/engine/state/object.ts";
import { KubeError } from "../../src/kube/client/errors.ts";
import type { KubeObject } from "../../src/kube/resource.ts";
import { clusterOf } from "../tools/landscape.ts";

const NOW = Date.parse("2026-03-01T12:00:00Z");

function object(kind: string, name: string, spec: object, reason: string, message = ""): KubeObject {
  const ready = reason === "Available" ? "True" : "False";
  const condition = { type: "Ready", status: ready, reason, message, lastTransitionTime: "2026-03-01T10:00:00Z" };
  return {
    apiVersion: "mooring.dev/v1alpha1",
    kind,
    metadata: { name, namespace: "shop", uid: name },
    spec,
    status: { account: "shop/main", conditions: [condition] },
  };
}
const lease = (renewTime: string): KubeObject => ({
  apiVersion: "coordination.k8s.io/v1",
  kind: "Lease",
  metadata: { name: "mooring", namespace: "mooring-system" },
  spec: { holderIdentity: "pod", leaseDurationSeconds: 15, renewTime },
});

function sourcesOf(objects: KubeObject[], hidden: readonly string[] = []): Sources & { reported: string[] } {
  const cluster = clusterOf(objects);
  const reported: string[] = [];
  const refuse = (kind: string) => {
    if (hidden.includes(kind)) throw new KubeError({ status: 403, reason: "Forbidden", message: `${kind}: forbidden` });
  };
  return {
    reported,
    platform: async () => {
      throw new Error("no platform");
    },
    cluster: async () => ({
      ...cluster,
      find: async (resource, ...rest) => {
        refuse(resource.kind);
        return cluster.find(resource, ...rest);
      },
      list: async (resource, ...rest) => {
        refuse(resource.kind);
        return cluster.list(resource, ...rest);
      },
    }),
    now: () => NOW,
    signal: new AbortController().signal,
    progress: () => {},
    missing: (what) => reported.push(what),
  };
}

const account = object("Account", "main", { credentialsSecretRef: { name: "t" } }, "Unauthorized", "401");
const dc = object("Datacenter", "dc", { location: "de/txl" }, "AccountNotReady");
const inside = { datacenterRef: { name: "dc" } };
const server = object("Server", "web", { ...inside, cores: 1, ram: 1024 }, "ReferenceNotReady");
const asked = { kind: "server", name: "web", namespace: "shop" };

describe("the root cause", () => {
  it("of several objects is one problem: what somebody has to do comes first", async () => {
    const busy = object("IPBlock", "ips", { location: "de/txl", size: 1 }, "Creating");
    const readyAccount = object("Account", "other", { credentialsSecretRef: { name: "t" } }, "Available");
    busy.status = { ...Object(busy.status), account: "shop/other" };
    const found = await problems(sourcesOf([busy, readyAccount, account, dc, server]), {});
    expect(found).toMatchObject({ not_ready: 4, total: 5 });
    expect(found.problems.map(({ cause, who, affected }) => [cause, who, affected.length])).toEqual([
      ["Account/shop/main", "account", 3],
      ["IPBlock/shop/ips", "operator", 1],
    ]);
  });

  it.each(["AccountMoved", "ContractChanged", "EndpointInvalid"])(
    "is told once where an Account causes %s",
    async (reason) => {
      const names = ["a", "b", "c"];
      const moved = names.map((name) => object("LogPipeline", name, {}, reason, `${name} was created elsewhere`));
      const account = object("Account", "main", {}, "Available");
      const found = (await problems(sourcesOf([...moved, account]), {})).problems;
      expect(found).toMatchObject([
        { cause: "Account/shop/main", reason, message: "LogPipeline/shop/a: a was created elsewhere" },
      ]);
      expect(found[0]?.affected.map((each) => each.object)).toEqual(names.map((name) => `LogPipeline/shop/${name}`));
    },
  );

  it("is the namespace where it has no Account, and the object where it is the only one", async () => {
    const message = "namespace shop has no Account: create one";
    const alone = ["a", "b"].map((name) => ({
      ...object("Lan", name, {}, "AccountNotFound", message),
      status: undefined,
    }));
    const conditions = [{ type: "Ready", status: "False", reason: "AccountNotFound", message }];
    const all = alone.map((each) => ({ ...each, status: { conditions } }));
    expect((await problems(sourcesOf(all), {})).problems).toMatchObject([{ cause: "Namespace/shop", message }]);
    expect((await problems(sourcesOf(all.slice(1)), {})).problems).toMatchObject([{ cause: "Lan/shop/b", message }]);
  });

  it.each([
    ["wep", ", or correct the name: did you mean web?"],
    ["something-else", ", or correct the name."],
  ])("is a missing object %s, told with one that has a similar name", async (name, end) => {
    const spec = { attachTo: { serverRef: { name } } };
    const volume = object("Volume", "data", spec, "ReferenceNotFound", `attachTo: Server ${name} not found`);
    const sources = sourcesOf([
      volume,
      object("Server", "web", {}, "Available"),
      object("Server", "db", {}, "Available"),
    ]);
    const what_to_do = `Create Server/shop/${name}${end}`;
    expect(await whyNotReady(sources, { kind: "volume", name: "data", namespace: "shop" })).toMatchObject({
      what_to_do,
    });
    expect((await problems(sources, {})).problems).toMatchObject([{ what_to_do }]);
  });

  it("is an operator that does not run, for what waits for it", async () => {
    const ready = object("Account", "main", { credentialsSecretRef: { name: "t" } }, "Available");
    const pending = object("Datacenter", "web", { location: "de/txl" }, "Pending");
    const asked = { kind: "datacenter", name: "web", namespace: "shop" };
    const down = await whyNotReady(sourcesOf([ready, pending, lease("2026-03-01T11:00:00Z")]), asked);
    expect(down).toMatchObject({
      answer: "no operator runs: Lease mooring-system/mooring was last renewed at 2026-03-01T11:00:00Z",
      what_to_do: expect.stringContaining("Start the operator"),
    });
    const up = await whyNotReady(sourcesOf([ready, pending, lease("2026-03-01T11:59:50Z")]), asked);
    expect(up.answer).toContain("is not Ready (Pending)");
  });

  it("is not guessed behind what the caller may not read", async () => {
    const sources = sourcesOf([account, dc, server], ["Datacenter", "Account", "Lease", "Event"]);
    const found = await whyNotReady(sources, asked);
    expect(found).toMatchObject({ cause: { reason: "NotVisible", message: "you may not read Datacenter/shop/dc" } });
    expect(sources.reported).toEqual(["events of namespace shop: you may not list them"]);
  });

  it("is the pause, whatever a paused object waits for", async () => {
    const paused = { ...server, metadata: { ...server.metadata, annotations: { "mooring.dev/paused": "true" } } };
    const found = await whyNotReady(sourcesOf([account, dc, paused]), asked);
    expect(found).toMatchObject({
      cause: { object: "Server/shop/web", reason: "Paused", who: "you" },
      what_to_do: expect.stringContaining("mooring resume Server/shop/web"),
    });
  });

  it.each([
    ["NotEmpty", "Datacenter still holds Server web"],
    ["InUse", "still used by Server web"],
    ["Rejected", "[nics] Cannot delete lan which contains nics"],
    ["Deleting", "the platform deletes it"],
    ["SecretNotFound", "imagePasswordRef: Secret a not found"],
    ["ReferenceNotFound", "userDataFrom: ConfigMap a not found in namespace shop"],
  ])("is the object's own reason %s, whatever its references are", async (reason, message) => {
    const own = object("Server", "web", { ...inside, cores: 1, ram: 1024 }, reason, message);
    const found = await whyNotReady(sourcesOf([account, own]), asked);
    expect(found).toMatchObject({ cause: { object: "Server/shop/web", reason, message }, waits_for: [] });
  });

  it("is the reference that the message names, and no other one", async () => {
    const spec = { ...inside, cores: 1, ram: 1024, nics: [{ name: "a", lanRef: { name: "back" } }] };
    const [field] = namedBy(kindOf("Server"), object("Server", "web", spec, "")).flatMap((each) =>
      each.kind === "Lan" ? [each.field] : [],
    );
    const own = object("Server", "web", spec, "ReferenceNotFound", `${field}: Lan back not found in namespace shop`);
    const found = await whyNotReady(sourcesOf([account, dc, own]), asked);
    expect(found.cause).toMatchObject({ object: "Lan/shop/back" });
    expect(found.waits_for).toHaveLength(1);
  });

  it("of an Account has no advice about fields that only resources have", async () => {
    const used = object(
      "Account",
      "main",
      { credentialsSecretRef: { name: "t" } },
      "InUse",
      "still used by Server web",
    );
    const { what_to_do } = await whyNotReady(sourcesOf([used]), { kind: "account", name: "main", namespace: "shop" });
    expect(what_to_do).toBe("Other objects still use this one; it is deleted after them.");
    expect(adviceFor("InUse", kindOf("Server"))).toContain("deletionPolicy: Retain");
  });
});

describe("an object that is Ready", () => {
  const edited = (metadata: object): KubeObject => {
    const ready = object("Server", "web", { cores: 1, ram: 1024 }, "Available");
    return {
      ...ready,
      metadata: { ...ready.metadata, generation: 2, ...metadata },
      status: { ...Object(ready.status), observedGeneration: 1 },
    };
  };
  const paused = { annotations: { "mooring.dev/paused": "true" } };

  it("and paused says so, and how to resume it", async () => {
    const sources = sourcesOf([edited(paused)]);
    expect(await whyNotReady(sources, asked)).toMatchObject({
      ready: true,
      paused: true,
      answer: "Server/shop/web is Ready and paused: its last edit has no effect yet, and its resource is not changed",
      what_to_do: "Resume it: mooring resume Server/shop/web, or remove the annotation mooring.dev/paused.",
    });
    expect(await problems(sources, {})).toMatchObject({ not_ready: 0, paused: ["Server/shop/web"] });
  });

  it("and paused while it is deleted says what resuming it deletes, and how to keep that", async () => {
    const deleted = edited({ ...paused, deletionTimestamp: "2026-03-01T11:00:00Z" });
    expect(await whyNotReady(sourcesOf([deleted]), asked)).toMatchObject({
      answer: "Server/shop/web is paused and being deleted: its resource stays until the object is resumed",
      what_to_do:
        "To keep the resource, set deletionPolicy: Retain first. Then resume it: mooring resume Server/shop/web, or remove the annotation mooring.dev/paused. With deletionPolicy: Delete, that deletes the Server with its data.",
    });
    const kept = { ...deleted, spec: { ...Object(deleted.spec), deletionPolicy: "Retain" } };
    const { what_to_do } = await whyNotReady(sourcesOf([kept]), asked);
    expect(what_to_do).toBe(
      "Resume it: mooring resume Server/shop/web, or remove the annotation mooring.dev/paused. Its resource stays (deletionPolicy: Retain).",
    );
  });

  it("and was edited since says so, and why nothing happens", async () => {
    expect(await whyNotReady(sourcesOf([edited({})]), asked)).toMatchObject({
      answer: "Server/shop/web is Ready, but its last edit was not reconciled yet",
      acts: expect.stringContaining("the operator"),
    });
    const { answer } = await whyNotReady(sourcesOf([edited({}), lease("2026-03-01T11:00:00Z")]), asked);
    expect(answer).toContain("no operator runs");
  });

  it("is not paused by an annotation that its kind does not have", async () => {
    const ready = object("Account", "main", { credentialsSecretRef: { name: "t" } }, "Available");
    const sources = sourcesOf([{ ...ready, metadata: { ...ready.metadata, ...paused } }]);
    const found = await whyNotReady(sources, { kind: "account", name: "main", namespace: "shop" });
    expect(found.answer).toBe("Account/shop/main is Ready: nothing to do");
  });
});

it("a landscape is drawn once, with what is named and not there", async () => {
  const lost = object("Lan", "front", { datacenterRef: { name: "gone" } }, "ReferenceNotFound");
  const trees = (await forest(sourcesOf([account, dc, server, lost]), { namespace: "shop" })).map(plainBranch);
  expect(trees).toMatchObject([
    {
      object: "Account/shop/main",
      below: [{ object: "Datacenter/shop/dc", below: [{ object: "Server/shop/web", below: [] }] }],
    },
    { object: "Datacenter/shop/gone", ready: false, below: [{ object: "Lan/shop/front" }] },
  ]);
});

it("the owner of an object is its controller, else what applied it", () => {
  const owned = (metadata: object) => ownerOf({ ...server, metadata: { ...server.metadata, ...metadata } });
  const controller = { apiVersion: "v1", kind: "App", name: "shop", uid: "1", controller: true };
  expect(owned({ ownerReferences: [controller] })).toBe("App/shop");
  expect(owned({ labels: { "kustomize.toolkit.fluxcd.io/name": "apps" } })).toBe("Kustomization/apps");
  expect(owned({ annotations: { "meta.helm.sh/release-name": "shop" } })).toBe("Release/shop");
  expect(owned({})).toBe("none");
});

it("an object that cannot choose between several Accounts waits for its user, not for the operator", async () => {
  const message = "namespace shop has several Accounts (a, b): set spec.accountRef.name";
  const waiting = object("Datacenter", "dc", { location: "de/txl" }, "AccountNotFound", message);
  waiting.status = { ...Object(waiting.status), account: undefined };
  const found = await whyNotReady(sourcesOf([waiting]), { kind: "datacenter", name: "dc", namespace: "shop" });
  expect(found.answer).toContain(message);
  expect(found.what_to_do).toContain("several, and spec names none. Create one, or set spec.accountRef.name");
  expect(found.cause).toMatchObject({ object: "Datacenter/shop/dc", who: "you" });
});

it.each(["AccountNotFound", "ReferenceNotFound", "SecretNotFound"])("%s waits for whoever creates it", (reason) => {
  expect(explainReason(reason)).toMatchObject({ acts: "you", stalled: false });
});

it("every reason names who has to act", () => {
  const actors = ["you", "administrator", "account", "contract", "operator", "nobody"];
  expect(new Set(reasonNames.map(actorOf))).toEqual(new Set(actors));
});

it.each([
  ["QuotaExceeded", "contract", "changes this on the platform"],
  ["Forbidden", "contract", "changes this on the platform"],
  ["Unauthorized", "account", "puts a valid token, of the same user, into its Secret"],
])("%s is not for a user of the object to end", (reason, acts, state) => {
  expect(explainReason(reason)).toMatchObject({ acts, state: expect.stringContaining(state) });
});
