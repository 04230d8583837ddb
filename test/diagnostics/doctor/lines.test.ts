import { describe, expect, it } from "vitest";
import { schemaOf } from "../../../src/cli/manifests/schemas.ts";
import { accountChecks } from "../../../src/diagnostics/doctor/account-checks.ts";
import type { DoctorInput } from "../../../src/diagnostics/doctor/check.ts";
import { clusterChecks, operatorChecks } from "../../../src/diagnostics/doctor/cluster-checks.ts";
import type { PlatformReader } from "../../../src/diagnostics/reader.ts";
import { GROUP, kinds, VERSION } from "../../../src/kinds/index.ts";
import type { KubeObject } from "../../../src/kube/resource.ts";
import { Forbidden } from "../../../src/platform/answers/errors.ts";
import { clusterOf } from "../../tools/landscape.ts";

const NOW = Date.parse("2026-03-01T12:00:00Z");
const DAY_MS = 86_400_000;

interface Given {
  objects?: KubeObject[];
  /** Answers of the API server by path. */
  answers?: Record<string, unknown>;
  platform?: Partial<PlatformReader>;
}

function inputOf({ objects = [], answers = {}, platform = {} }: Given): DoctorInput {
  const cluster = {
    ...clusterOf(objects),
    list: async ({ kind }: { kind: string }) => objects.filter((each) => each.kind === kind),
    ask: async (path: string) => answers[path] ?? Promise.reject(new Error(`${path}: not here`)),
  };
  const reader: PlatformReader = {
    read: async () => ({ status: 200, headers: {}, body: { items: [] } }),
    endpoint: (name) => `https://${name}.example`,
    has: () => true,
    identity: undefined,
    contractNumber: 1,
    now: () => NOW,
    storageKeys: () => Promise.reject(new Error("no keys")),
    storageRegion: undefined,
    ...platform,
  };
  const sources = {
    platform: async () => reader,
    cluster: async () => cluster,
    now: () => NOW,
    signal: new AbortController().signal,
    progress: () => {},
  };
  return { sources, cluster, platformOf: async () => reader, namespace: "shop", version: "1.0.0" };
}

const object = (kind: string, name: string, more: object): KubeObject => ({
  apiVersion: "v1",
  kind,
  ...more,
  metadata: { name, ...Object(Reflect.get(more, "metadata")) },
});

describe("CRDs", () => {
  const crdPath = (plural: string) => `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${plural}.${GROUP}`;
  /** The CRDs of this version; of some kinds with other fields. */
  function served(others: Record<string, (fields: string[]) => string[]> = {}, absent?: string) {
    const known = kinds.filter(({ kind }) => kind !== absent);
    const crds = known.map((kind) => {
      const { spec } = Object(Reflect.get(schemaOf(kind), "properties"));
      const own = Object.keys(spec.properties);
      const fields = others[kind.kind]?.(own) ?? own;
      const properties = { spec: { properties: Object.fromEntries(fields.map((each) => [each, {}])) } };
      const versions = [{ name: VERSION, schema: { openAPIV3Schema: { properties } } }];
      return [crdPath(kind.plural), { spec: { versions } }];
    });
    return {
      [`/apis/${GROUP}/${VERSION}`]: { resources: known.map(({ plural }) => ({ name: plural })) },
      ...Object.fromEntries(crds),
    };
  }
  const about = async (answers: Record<string, unknown>) =>
    (await clusterChecks(inputOf({ answers }))).find(({ check }) => check === "CRDs");

  it.each([
    ["of this version", served(), "ok", "in the version of this program"],
    ["that are absent", { [`/apis/${GROUP}/${VERSION}`]: { resources: [] } }, "fail", "is installed"],
    ["of which one is missing", served({}, "Server"), "fail", "missing: Server"],
    ["of an older version", served({ Lan: (own) => own.slice(1) }), "fail", "older than this program"],
    ["of a newer version", served({ Lan: (own) => [...own, "color"] }), "warn", "newer than this program: Lan"],
  ])("%s are told with the fix", async (_, answers, status, message) => {
    const found = await about(answers);
    expect(found).toMatchObject({ status, message: expect.stringContaining(message) });
    expect(found?.fix === undefined).toBe(status === "ok");
  });
});

describe("shards", () => {
  const team = object("Namespace", "team", { metadata: { labels: { "mooring.dev/shard": "a" } } });
  const lease = object("Lease", "mooring-a", {
    metadata: { namespace: "mooring-system" },
    spec: { holderIdentity: "pod", leaseDurationSeconds: 15, renewTime: new Date(NOW - 5000).toISOString() },
  });
  const about = async (objects: KubeObject[]) =>
    (await operatorChecks(inputOf({ objects }))).find(({ check }) => check === "shards");

  it("that a namespace names have to run", async () => {
    expect(await about([])).toMatchObject({ status: "ok", message: "no namespace has a shard label" });
    expect(await about([team])).toMatchObject({ status: "fail", fix: expect.stringContaining("--shard a") });
    expect(await about([team, lease])).toMatchObject({ status: "ok", message: "shard a runs" });
  });
});

describe("an Account", () => {
  const account = (status: object = {}) =>
    object("Account", "main", {
      metadata: { namespace: "shop" },
      spec: { credentialsSecretRef: { name: "t" } },
      status,
    });
  const lines = (platform: Partial<PlatformReader> = {}, status: object = {}) =>
    accountChecks(inputOf({ objects: [account(status)], platform }));
  const line = async (words: RegExp, ...given: Parameters<typeof lines>) =>
    (await lines(...given)).find(({ message }) => words.test(message));

  it.each([
    [-1, "fail"],
    [3, "warn"],
    [30, "ok"],
  ])("whose token expires in %i days", async (days, status) => {
    const tokenExpiresAt = new Date(NOW + days * DAY_MS).toISOString();
    expect(await line(/^its token expire/, {}, { tokenExpiresAt })).toMatchObject({ status });
  });

  it("on a machine whose clock differs from the platform's", async () => {
    expect(await line(/^clocks agree/)).toMatchObject({ status: "ok" });
    const skewed = await line(/clock differs/, { now: () => NOW + 90_000 });
    expect(skewed).toMatchObject({ status: "warn", message: expect.stringContaining("90 s"), fix: expect.anything() });
  });

  it.each([
    ["5", "ok"],
    ["0", "warn"],
  ])("with %s calls left of its rate limit", async (remaining, status) => {
    const headers = { "x-ratelimit-remaining": remaining, "x-ratelimit-limit": "100" };
    const read = async () => ({ status: 200, headers, body: { items: [] } });
    expect(await line(/^rate limit: . calls are left of 100/, { read })).toMatchObject({ status });
  });

  it("whose endpoint has no TLS is told so", async () => {
    expect(await line(/accepts the token, over TLS/)).toMatchObject({ status: "ok" });
    expect(await line(/accepts the token, without TLS/, { endpoint: () => "http://api.example" })).toBeDefined();
  });

  it("whose user lacks a privilege: the kind and the privilege are named", async () => {
    const read: PlatformReader["read"] = async ({ url }) => {
      if (url.includes("/ipblocks")) throw new Forbidden({ call: "GET /ipblocks", status: 403, detail: "no" });
      return { status: 200, headers: {}, body: { items: [] } };
    };
    expect(await line(/^IPBlock: /, { read })).toMatchObject({
      status: "warn",
      fix: expect.stringContaining("privilege"),
    });
    expect((await line(/^may list /, { read }))?.message).not.toContain("IPBlock");
  });
});
