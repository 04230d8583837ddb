import { describe, expect, it } from "vitest";
import { accountChecks } from "../../src/diagnostics/doctor/account-checks.ts";
import { type DoctorInput, examine } from "../../src/diagnostics/doctor/check.ts";
import { operatorChecks } from "../../src/diagnostics/doctor/cluster-checks.ts";
import type { Sources } from "../../src/diagnostics/sources.ts";
import { KubeError } from "../../src/kube/client/errors.ts";
import type { KubeObject } from "../../src/kube/resource.ts";
import { clusterOf } from "../tools/landscape.ts";

const NOW = Date.parse("2026-03-01T12:00:00Z");
const NO_TOKEN = "Secret shop/t may not be read: set MOORING_TOKEN to a token of the platform";

function inputOf(objects: KubeObject[], hidden: readonly string[] = []): DoctorInput {
  const cluster = clusterOf(objects);
  const seen = {
    ...cluster,
    list: async (...args: Parameters<typeof cluster.list>) => {
      const [{ kind }] = args;
      if (hidden.includes(kind)) throw new KubeError({ status: 403, reason: "Forbidden", message: "forbidden" });
      return cluster.list(...args);
    },
  };
  const sources: Sources = {
    platform: () => Promise.reject(new Error("no platform")),
    cluster: async () => seen,
    now: () => NOW,
    signal: new AbortController().signal,
    progress: () => {},
    missing: () => {},
  };
  const platformOf = () => Promise.reject(new Error(NO_TOKEN));
  return { sources, cluster: seen, platformOf, namespace: "shop", version: undefined };
}

const account = (status: object): KubeObject => ({
  apiVersion: "mooring.dev/v1alpha1",
  kind: "Account",
  metadata: { name: "main", namespace: "shop" },
  spec: { credentialsSecretRef: { name: "t" } },
  status: {
    conditions: [
      { type: "Ready", status: "True", reason: "Available", message: "", lastTransitionTime: "2026-03-01T10:00:00Z" },
    ],
    ...status,
  },
});

describe("Accounts", () => {
  it("that the caller may not list are not checked, instead of absent", async () => {
    const none = await accountChecks(inputOf([]));
    expect(none).toMatchObject([{ status: "warn", message: "there is none in namespace shop" }]);
    const unknown = await accountChecks(inputOf([account({})], ["Account"]));
    expect(unknown).toMatchObject([
      { status: "warn", message: "not checked: you may not list Accounts", fix: expect.stringContaining("Role") },
    ]);
  });

  it("have the way out of a message as the fix", async () => {
    const advice = ["user a has 95 tokens and the platform allows 100: delete those that nobody uses"];
    const checks = await accountChecks(inputOf([account({ advice })]));
    expect(checks.filter(({ status }) => status === "warn")).toMatchObject([
      { message: "user a has 95 tokens and the platform allows 100", fix: "delete those that nobody uses" },
      { message: "not checked: Secret shop/t may not be read", fix: "set MOORING_TOKEN to a token of the platform" },
    ]);
  });

  it("whose token the operator renews need no other one", async () => {
    const soon = { tokenExpiresAt: "2026-03-01T18:00:00Z" };
    const about = async (status: object) =>
      (await accountChecks(inputOf([account(status)]))).find(({ message }) => message.startsWith("its token"));
    expect(await about(soon)).toMatchObject({ status: "warn", fix: "update its Secret" });
    expect(await about({ ...soon, tokenId: "t" })).toMatchObject({ status: "ok" });
  });
});

it("a check that fails unexpectedly has a fix of its own", async () => {
  const [check] = await examine(inputOf([]), "cluster", "CRDs", () => Promise.reject(new Error("socket hang up")));
  expect(check).toMatchObject({ status: "fail", message: "socket hang up", fix: expect.stringContaining("kubectl") });
});

describe("a Deployment that is scaled to 0", () => {
  const deployment: KubeObject = {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "mooring", namespace: "mooring-system" },
    spec: { replicas: 0 },
  };
  const lease = (renewTime: string): KubeObject => ({
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { name: "mooring", namespace: "mooring-system" },
    spec: { holderIdentity: "laptop", leaseDurationSeconds: 15, renewTime },
  });
  const about = async (objects: KubeObject[]) =>
    (await operatorChecks(inputOf(objects))).find(({ check }) => check === "Deployment");

  it("is fine while an operator runs beside the cluster, as in the demo", async () => {
    expect(await about([deployment, lease("2026-03-01T11:59:55Z")])).toMatchObject({
      status: "ok",
      message: "mooring-system/mooring is scaled to 0; laptop runs as the operator instead",
    });
    expect(await about([deployment, lease("2026-03-01T11:00:00Z")])).toMatchObject({ status: "warn" });
  });
});
