import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { items, platformForFile, refusal, resource, serverBody } from "../platform.ts";

const platform = await platformForFile();
const datacenter = await platform.datacenter();
const server = await platform.made(`${datacenter}/servers`, serverBody());
const [nic] = items(await platform.core("GET", `${server}/nics`));
await platform.made(`${server}/nics/${nic?.id}/firewallrules`, { properties: { protocol: "ANY" } });

const body = async (path: string) => (await platform.core("GET", path)).body;

/** The visible parts of a resource and, level by level, of its children. */
const shape = z.looseObject({
  metadata: z.unknown().optional(),
  properties: z.unknown().optional(),
  entities: z.record(z.string(), z.looseObject({ items: z.array(z.unknown()).optional() })).optional(),
});

function levels(value: unknown, ...path: string[]): string[] {
  const { metadata, properties, entities } = shape.parse(value);
  const own = metadata === undefined && properties === undefined ? "reference" : "properties";
  const [next, ...rest] = path;
  if (next === undefined || entities === undefined) return [own];
  const collection = entities[next];
  if (collection?.items === undefined) return [own, "collection reference"];
  return [own, ...levels(collection.items[0], ...rest)];
}

describe("depth of a single resource", () => {
  it.each([
    [0, ["properties"]],
    [1, ["properties", "collection reference"]],
    [2, ["properties", "properties"]],
    [3, ["properties", "properties", "collection reference"]],
    [4, ["properties", "properties", "properties"]],
    [5, ["properties", "properties", "properties", "collection reference"]],
    [10, ["properties", "properties", "properties", "properties"]],
  ])("%i shows %o", async (depth, expected) => {
    const shown = levels(await body(`${datacenter}?depth=${depth}`), "servers", "nics", "firewallrules");
    expect(shown).toEqual(expected);
  });

  it("defaults to 0", async () => {
    expect(await body(datacenter)).toEqual(await body(`${datacenter}?depth=0`));
  });
});

describe("depth of a collection", () => {
  it.each([
    [0, ["reference"]],
    [1, ["properties", "collection reference"]],
    [2, ["properties", "properties"]],
    [3, ["properties", "properties", "collection reference"]],
    [4, ["properties", "properties", "properties"]],
  ])("%i shows %o", async (depth, expected) => {
    const [item] = items(await platform.core("GET", `/datacenters?depth=${depth}`));
    expect(levels(item, "servers", "nics")).toEqual(expected);
  });

  it("gives references of exactly id, type and href", async () => {
    const [item] = items(await platform.core("GET", "/datacenters"));
    expect(item).toEqual({
      id: datacenter.split("/")[2],
      type: "datacenter",
      href: `${platform.ready.endpoints.api}/cloudapi/v6${datacenter}`,
    });
  });

  it("at 3 lists servers with the properties of their volumes and NICs", async () => {
    expect(items(await platform.core("GET", `${datacenter}/servers?depth=3&limit=1000`))).toMatchObject([
      {
        properties: { name: "web" },
        entities: {
          volumes: { items: [{ properties: { name: "os" }, metadata: { state: "AVAILABLE" } }] },
          nics: { items: [{ properties: { name: "n0" }, metadata: { state: "AVAILABLE" } }] },
        },
      },
    ]);
  });

  it.each(["11", "-1", "x", "1.5"])("refuses depth %s", async (depth) => {
    expect(refusal(await platform.core("GET", `/datacenters?depth=${depth}`), 422, "100")).toContain("[depth]");
    refusal(await platform.core("GET", `${datacenter}?depth=${depth}`), 422, "100");
  });
});

describe("the envelope", () => {
  it("names collections by their path tail", async () => {
    const { api } = platform.ready.endpoints;
    expect(await body("/datacenters")).toMatchObject({ id: "datacenters", type: "collection", offset: 0, limit: 1000 });
    expect(await body(`${datacenter}/servers`)).toMatchObject({
      id: `${datacenter.split("/")[2]}/servers`,
      href: `${api}/cloudapi/v6${datacenter}/servers`,
    });
  });

  it("carries an ETag on calls without depth that changes with the resource", async () => {
    const first = await platform.core("GET", server);
    expect(first.headers.get("etag")).toBe(resource(first).metadata.etag);
    expect((await platform.core("GET", `${server}?depth=1`)).headers.get("etag")).toBeNull();
    expect((await platform.core("GET", `${datacenter}/servers`)).headers.get("etag")).toMatch(/^[0-9a-f]{32}$/);
    await platform.done("PATCH", server, { name: "web" });
    expect((await platform.core("GET", server)).headers.get("etag")).not.toBe(first.headers.get("etag"));
  });

  it("has dates with milliseconds", async () => {
    const { createdDate } = resource(await platform.core("GET", server)).metadata;
    expect(createdDate).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  it("is laid out for people unless pretty is false", async () => {
    const text = async (query: string) => {
      const response = await fetch(`${platform.ready.endpoints.api}/cloudapi/v6/datacenters${query}`, {
        headers: { authorization: `Bearer ${platform.ready.token}` },
      });
      return response.text();
    };
    expect(await text("")).toContain("\n  ");
    for (const no of ["false", "False"]) expect(await text(`?pretty=${no}`)).not.toContain("\n");
  });
});

describe("pages", () => {
  let path: string;
  beforeAll(async () => {
    const fresh = await platform.datacenter();
    path = `${fresh}/lans`;
    for (const name of ["delta", "alpha", "Charlie", "bravo", "echo"]) {
      await platform.core("POST", path, { properties: { name, public: name === "alpha" } });
    }
    await platform.advance(10);
  });
  const names = async (query: string) =>
    items(await platform.core("GET", `${path}?depth=1&${query}`)).map(
      (item) => z.looseObject({ properties: z.looseObject({ name: z.string() }) }).parse(item).properties.name,
    );
  const links = async (query: string) =>
    z
      .object({ prev: z.string(), self: z.string(), next: z.string() })
      .partial()
      .parse(z.looseObject({ _links: z.unknown() }).parse(await body(`${path}?${query}`))._links);

  it("come in order of creation, by offset and limit", async () => {
    expect(await names("")).toEqual(["delta", "alpha", "Charlie", "bravo", "echo"]);
    expect(await names("offset=1&limit=2")).toEqual(["alpha", "Charlie"]);
    expect(await names("offset=4&limit=2")).toEqual(["echo"]);
    expect(await names("offset=9")).toEqual([]);
  });

  it("link to the previous and the next page where there is one", async () => {
    expect(Object.keys(await links("limit=5"))).toEqual(["self"]);
    expect(Object.keys(await links("limit=2"))).toEqual(["self", "next"]);
    expect(Object.keys(await links("limit=2&offset=2"))).toEqual(["prev", "self", "next"]);
    expect(Object.keys(await links("limit=2&offset=4"))).toEqual(["prev", "self"]);
    const { next } = await links("limit=2&depth=1");
    const { pathname, search } = new URL(next ?? "");
    expect(items(await platform.call("GET", pathname + search))).toMatchObject([
      { properties: { name: "Charlie" } },
      { properties: { name: "bravo" } },
    ]);
  });

  it.each(["limit=0", "limit=10001", "limit=x", "offset=-1"])("refuse %s", async (query) => {
    refusal(await platform.core("GET", `${path}?${query}`), 422, "100");
  });

  it("are ordered by a property and cut by maxResults", async () => {
    expect(await names("orderBy=name")).toEqual(["Charlie", "alpha", "bravo", "delta", "echo"]);
    expect(await names("orderBy=name&maxResults=2")).toEqual(["Charlie", "alpha"]);
  });

  it("are filtered by what a property contains, without regard to case", async () => {
    expect(await names("filter.name=CHAR")).toEqual(["Charlie"]);
    expect(await names("filter.properties.name=a&filter.public=true")).toEqual(["alpha"]);
    expect(await names("filter.metadata.state=avail&filter.name=e")).toEqual(["delta", "Charlie", "echo"]);
    expect(await names("filter.name=alpha&filter.name=echo")).toEqual(["alpha", "echo"]);
    expect(await names("filter.colour=red")).toEqual([]);
  });

  it("are not filtered by properties that depth 0 leaves out", async () => {
    expect(items(await platform.core("GET", `${path}?filter.name=alpha`))).toHaveLength(5);
  });

  it("default to 1000 items, also for IP blocks", async () => {
    expect(await body("/ipblocks")).toMatchObject({ limit: 1000 });
  });
});

it("lists a thousand servers with volumes and NICs at a price that grows with their number only, and takes 300 creations at once", async () => {
  const fresh = await platform.datacenter();
  for (let round = 0; round < 4; round += 1) {
    const answers = await Promise.all(
      Array.from({ length: round === 3 ? 100 : 300 }, () => platform.core("POST", `${fresh}/servers`, serverBody())),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));
  }
  await platform.advance(30);
  /** The fastest of several runs, without the noise of a busy machine. */
  const priceOf = async (count: number) => {
    const times: number[] = [];
    for (let round = 0; round < 5; round += 1) {
      const started = performance.now();
      const listed = items(await platform.core("GET", `${fresh}/servers?depth=3&limit=${count}`));
      times.push(performance.now() - started);
      expect(listed).toHaveLength(count);
    }
    return Math.min(...times);
  };
  expect((await priceOf(1000)) / (await priceOf(100))).toBeLessThan(40);
});
