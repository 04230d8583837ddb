import { describe, expect, test } from "vitest";
import { datacenter } from "../../src/kinds/compute/datacenter.ts";
import type { Kind } from "../../src/kinds/kind.ts";
import type { KubeObject } from "../../src/kube/resource.ts";
import { fakeApiServer } from "../engine/support/fake-api-server.ts";
import { objectOf, readyCondition } from "../engine/support/fixtures.ts";
import { judge, totals, type Wanted } from "./verdict.ts";

/** A kind that publishes a Secret, on a platform that accepts only this key. */
const feed: Kind = { ...datacenter, kind: "Feed" };
const wanted = (name: string): Wanted => ({
  kind: "Feed",
  name,
  secrets: ({ metadata }) => [
    {
      name: `${metadata.name}-key`,
      works: async ({ key }) => (key === "good" ? undefined : "the platform refuses its key"),
    },
  ],
});

const feedOf = (name: string, ready: "True" | "False" = "True") =>
  objectOf("Feed", name, { status: { id: name, observedGeneration: 1, conditions: [readyCondition(ready)] } });
const secret = (name: string, key: string) =>
  objectOf("Secret", name, { apiVersion: "v1", data: { key: Buffer.from(key).toString("base64") } });

describe("the resource of a Ready object", () => {
  const shown = async (properties: Record<string, unknown>, shows: Record<string, unknown>) => {
    const stage = { namespace: "shop", admin: fakeApiServer().client, list: async () => [feedOf("a")] };
    const resources = async (collection: string) => (collection === "datacenters" ? [{ id: "a", properties }] : []);
    const wanted = [{ kind: "Feed", name: "a", shows }];
    const problems = await judge([{ stage, wanted }], { resources }, undefined, [feed]);
    return problems.map(({ message }) => message);
  };

  test("may be left out where it is to be nothing, and nowhere else", async () => {
    expect(await shown({ slot: null }, { slot: null })).toEqual([]);
    expect(await shown({}, { slot: null })).toEqual([]);
    expect(await shown({ slot: 1 }, { slot: null })).toEqual(["Feed shop/a is Ready, but slot is 1, not null"]);
    expect(await shown({}, { slot: 1 })).toEqual(["Feed shop/a is Ready, but slot is undefined, not 1"]);
  });
});

async function problemsOf(objects: KubeObject[], ...secrets: KubeObject[]) {
  const stage = { namespace: "shop", admin: fakeApiServer(...secrets).client, list: async () => objects };
  const names = objects.map(({ metadata }) => metadata.name);
  const resources = async (collection: string) => (collection === "datacenters" ? names.map((id) => ({ id })) : []);
  return judge([{ stage, wanted: names.map(wanted) }], { resources }, undefined, [feed]);
}

describe("a Secret that a Ready object promises", () => {
  test("is no problem when it is there and works", async () => {
    expect(await problemsOf([feedOf("a")], secret("a-key", "good"))).toEqual([]);
  });

  test("is lost when it is missing, and when what it holds does not work", async () => {
    const problems = await problemsOf([feedOf("a"), feedOf("b")], secret("b-key", "bad"));
    expect(problems).toEqual([
      { fault: "lost secret", message: "Feed shop/a: Secret a-key: it does not exist" },
      { fault: "lost secret", message: "Feed shop/b: Secret b-key: the platform refuses its key" },
    ]);
    expect(totals(2, problems)).toBe(
      "2 objects, 0 duplicates, 0 leaks, 2 lost secrets, 0 stuck, 0 volumes lost, 0 LANs lost",
    );
  });

  test("is not asked of an object that is stuck anyway", async () => {
    const problems = await problemsOf([feedOf("a", "False")]);
    expect(problems.map(({ fault }) => fault)).toEqual(["stuck"]);
  });
});

describe("tenants of one contract", () => {
  const placeOf = (namespace: string, ...names: string[]) => ({
    stage: {
      namespace,
      admin: fakeApiServer().client,
      list: async () =>
        names.map((name) => objectOf("Feed", name, { metadata: { name, namespace }, status: feedOf("f-1").status })),
    },
    wanted: [{ kind: "Feed", name: "a" }],
  });
  const resources = async (collection: string) => (collection === "datacenters" ? [{ id: "f-1" }] : []);

  test("do not share a resource, whatever their objects are called", async () => {
    const problems = await judge([placeOf("left", "a"), placeOf("right", "a")], { resources }, undefined, [feed]);
    expect(problems).toEqual([{ fault: "duplicate", message: "Feed right/a and left/a both claim f-1" }]);
  });

  test("are each missed what they should have", async () => {
    const problems = await judge([placeOf("left", "a"), placeOf("right")], { resources }, undefined, [feed]);
    expect(problems).toEqual([{ fault: "stuck", message: "Feed right/a does not exist" }]);
  });
});

describe("a server", () => {
  const server: Kind = { ...datacenter, kind: "Server" };
  const object = objectOf("Server", "web", { spec: { nics: [{ lan: 1 }] }, status: feedOf("s-1").status });
  const stage = { namespace: "shop", admin: fakeApiServer().client, list: async () => [object] };
  const problemsWith = (...nics: { id: string; serverId: string }[]) => {
    const resources = async (collection: string) => {
      if (collection === "nics") return nics;
      return collection === "datacenters" ? [{ id: "s-1" }] : [];
    };
    return judge([{ stage, wanted: [{ kind: "Server", name: "web" }] }], { resources }, undefined, [server]);
  };

  test("has a NIC twice when the platform shows more of them than it lists", async () => {
    const nics = ["n-1", "n-2"].map((id) => ({ id, serverId: "s-1" }));
    expect(await problemsWith(...nics.slice(1), { id: "n-3", serverId: "s-2" })).toEqual([]);
    expect(await problemsWith(...nics)).toEqual([
      { fault: "duplicate", message: "Server shop/web has 2 NICs instead of 1" },
    ]);
  });
});

describe("a resource that a person has created", () => {
  const there: Record<string, string[]> = { volumes: ["by-hand-1"], datacenters: ["by-hand-2", "stray"], lans: [] };
  const resources = async (collection: string) =>
    (there[collection] ?? []).map((name) => ({ id: name, properties: { name } }));

  test("is lost when it is gone, is no leak, and is counted in the last line", async () => {
    const place = { id: "1", datacenter: "home" };
    const volumes = ["by-hand-1", "by-hand-3"].map((name) => ({ ...place, name, what: "attached to Server shop/web" }));
    const byHand = { volumes, lans: [{ ...place, name: "by-hand-4", what: "made beside that of Lan shop/a" }] };
    const problems = await judge([], { resources }, byHand, [feed]);
    expect(problems.map(({ fault, message }) => `${fault}: ${message}`)).toEqual([
      "volume lost: by-hand-3, which a person has attached to Server shop/web, is gone",
      "LAN lost: by-hand-4, which a person has made beside that of Lan shop/a, is gone",
      "leak: Feed resource stray named stray belongs to no object",
    ]);
    expect(totals(0, problems)).toBe(
      "0 objects, 0 duplicates, 1 leaks, 0 lost secrets, 0 stuck, 1 volumes lost, 1 LANs lost",
    );
  });
});
