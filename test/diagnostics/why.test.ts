import { describe, expect, it } from "vitest";
import { ownerOf } from "../../src/diagnostics/overview/costs.ts";
import { forest, plainBranch } from "../../src/diagnostics/overview/forest.ts";
import type { Sources } from "../../src/diagnostics/sources.ts";
import { problems } from "../../src/diagnostics/why/problems.ts";
import { actorOf, explainReason, reasonNames } from "../../src/diagnostics/why/reasons.ts";
import { whyNotReady } from "../../src/diagnostics/why/why-not-ready.ts";
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

function sourcesOf(objects: KubeObject[], hidden: readonly string[] = []): Sources & { told: string[] } {
  const cluster = clusterOf(objects);
  const told: string[] = [];
  const refuse = (kind: string) => {
    if (hidden.includes(kind)) throw new KubeError({ status: 403, reason: "Forbidden", message: `${kind}: forbidden` });
  };
  return {
    told,
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
    missing: (what) => told.push(what),
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
      ["Account/shop/main", "you", 3],
      ["IPBlock/shop/ips", "operator", 1],
    ]);
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
    expect(found).toMatchObject({ cause: { reason: "NotVisible", message: "you may not read Account/shop/main" } });
    expect(sources.told).toEqual(["events of namespace shop: you may not list them"]);
  });

  it("is the pause, whatever a paused object waits for", async () => {
    const paused = { ...server, metadata: { ...server.metadata, annotations: { "mooring.dev/paused": "true" } } };
    const found = await whyNotReady(sourcesOf([account, dc, paused]), asked);
    expect(found).toMatchObject({ cause: { object: "Server/shop/web", reason: "Paused", who: "you" } });
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
  expect(new Set(reasonNames.map(actorOf))).toEqual(new Set(["you", "administrator", "operator", "nobody"]));
});
