import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { Kind } from "../../../src/simulator/core/kind/kind.ts";
import { childKinds, kindOf, kinds } from "../../../src/simulator/core/table.ts";
import { oneOfEverything } from "../one-of-everything.ts";
import { serviceFor, stream } from "../pipelines.ts";
import { type Answer, type Platform, resource, unfailingPlatformForFile } from "../platform.ts";
import { groupBody, groups, scalerFor } from "../scaling.ts";
import { streamingOf } from "../streaming.ts";

/** The platform's own clients send an unset text as "". */

const platform = await unfailingPlatformForFile();

const objectShape = z.record(z.string(), z.unknown());
const fieldsShape = z.object({
  properties: z.record(z.string(), z.looseObject({ anyOf: z.array(z.looseObject({})).optional() })).default({}),
  required: z.array(z.string()).default([]),
});

/** The names of the optional text fields of a schema. */
function optionalTexts(schema: z.ZodType): string[] {
  const described = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
  const { properties, required } = fieldsShape.parse(described);
  return Object.entries(properties)
    .filter(([name, field]) => !required.includes(name) && [field, ...(field.anyOf ?? [])].some(isText))
    .map(([name]) => name);
}

const isText = ({ type }: Record<string, unknown>) => type === "string";
const emptyTexts = (schema: z.ZodType) => Object.fromEntries(optionalTexts(schema).map((name) => [name, ""]));

/** A body in which every unset optional text is empty, also in nested resources. */
function emptied(kind: Kind, body: unknown): Record<string, unknown> {
  const { properties, entities, ...rest } = objectShape.parse(body);
  const below = Object.entries(objectShape.parse(entities ?? {})).map(([collection, list]) => {
    const link = kind.links?.find((each) => each.collection === collection);
    const member = link ? kindOf(link.type) : childKinds(kind.type).find((each) => each.collection === collection);
    if (member === undefined) throw new Error(`no kind for ${collection}`);
    const { items } = z.object({ items: z.array(z.unknown()) }).parse(list);
    return [collection, { items: items.map((each) => emptied(member, each)) }];
  });
  return {
    id: "",
    ...rest,
    properties: { ...emptyTexts(kind.schema), ...objectShape.parse(properties) },
    ...(entities !== undefined && { entities: Object.fromEntries(below) }),
  };
}

/** The kind that a path creates; undefined if it is not a collection of its own. */
function kindAt(path: string): Kind | undefined {
  if (path.endsWith("/create-snapshot")) return kindOf("snapshot");
  let rest = path.slice(1);
  let above = "";
  for (;;) {
    const kind = childKinds(above).find(({ collection }) => `${rest}/`.startsWith(`${collection}/`));
    if (kind === undefined || rest === kind.collection) return kind;
    above = kind.type;
    rest = rest.slice(kind.collection.length + 1).replace(/^[^/]+\/?/, "");
  }
}

interface Made {
  kind: Kind;
  path: string;
  sent: Record<string, unknown>;
}

/** The same platform, with empty texts in the body of every creation. */
function spokenTo(made: Made[]): Platform {
  const said = (method: string, path: string, body: unknown) => {
    const kind = method === "POST" ? kindAt(path) : undefined;
    const sent = kind && (body !== undefined || !kind.bodyOptional) ? emptied(kind, body) : undefined;
    return { kind, sent };
  };
  const noting =
    (call: Platform["core"]): Platform["core"] =>
    async (method, path, body, options) => {
      const { kind, sent } = said(method, path, body);
      const answer = await call(method, path, sent ?? body, options);
      expect(answer.status, `${path} ${JSON.stringify(sent)} ${JSON.stringify(answer.body)}`).toBeLessThan(300);
      if (kind && sent) made.push({ kind, path: placeOf(kind, path, answer), sent });
      return answer;
    };
  return { ...platform, core: noting(platform.core), done: noting(platform.done) };
}

const placeOf = (kind: Kind, path: string, answer: Answer) =>
  `${kind.type === "snapshot" ? "/snapshots" : path}/${resource(answer).id}`;

describe("an empty text in an optional field is no text", () => {
  const made: Made[] = [];

  it("when anything of the core API is made", async () => {
    const speaking = spokenTo(made);
    const at = await oneOfEverything(speaking);
    const { id } = resource(
      await speaking.done("POST", at("/datacenters/{datacenter}/volumes"), {
        properties: { size: 1, licenceType: "OTHER" },
      }),
    );
    await speaking.done("POST", at("/datacenters/{datacenter}/servers/{server}/nics"), { properties: { lan: 1 } });
    expect(
      resource(await platform.core("GET", at(`/datacenters/{datacenter}/volumes/${id}`))).properties,
    ).toMatchObject({ type: "HDD", availabilityZone: "AUTO", bus: "VIRTIO" });
    const routes = kinds.filter(
      ({ verbs, schema }) => verbs.collection.includes("P") && optionalTexts(schema).length > 0,
    );
    expect([...new Set(made.map(({ kind }) => kind.type))]).toEqual(
      expect.arrayContaining(routes.map(({ type }) => type)),
    );
    expect(routes.length).toBeGreaterThan(10);
  });

  it("when any of it is changed", async () => {
    for (const { kind, path, sent } of made.filter(({ kind }) => kind.type !== "flow-log")) {
      const { properties } = resource(await platform.core("GET", path));
      for (const [method, letter, body] of [
        ["PUT", "U", { properties: sent.properties }],
        ["PATCH", "A", { ...emptyTexts(kind.schema), description: undefined }],
      ] as const) {
        if (!kind.verbs.item.includes(letter)) continue;
        const answer = await platform.core(method, path, body);
        expect(answer.status, `${method} ${path} ${JSON.stringify(answer.body)}`).toBeLessThan(300);
        await platform.advance(60);
        const now = resource(await platform.core("GET", path)).properties;
        expect({ ...now, version: 0, modified: 0 }).toEqual({ ...properties, version: 0, modified: 0 });
      }
    }
  });

  it("when a description is cleared, it is what clears it", async () => {
    const path = await platform.made("/datacenters", {
      properties: { name: "a", location: "de/fra", description: "b" },
    });
    expect(resource(await platform.core("PATCH", path, { description: "" })).properties.description).toBe("");
  });

  it("in a required field it is one", async () => {
    expect(await platform.core("POST", "/datacenters", { properties: { name: "", location: "de/fra" } })).toMatchObject(
      {
        status: 422,
      },
    );
  });

  it("in scaling groups", async () => {
    const datacenter = await platform.datacenter();
    const body = groupBody(
      datacenter,
      {},
      {
        policy: { range: "" },
        scaleIn: { cooldownPeriod: "", terminationPolicy: "" },
        scaleOut: { cooldownPeriod: "" },
        replica: { availabilityZone: "", cpuFamily: "" },
        nic: {
          firewallType: "",
          firewallRules: [{ protocol: "TCP", name: "", sourceMac: "", sourceIp: "", type: "" }],
        },
        volume: { image: "", userData: "", bus: "", backupunitId: "", bootOrder: "", imagePassword: "" },
      },
    );
    const path = await scalerFor(platform).group(body);
    expect((await platform.call("PUT", path, body)).status).toBe(200);
    expect(resource(await platform.call("GET", path)).properties).toMatchObject({
      policy: { range: "PT2M", scaleInAction: { cooldownPeriod: "PT5M", terminationPolicy: "OLDEST_SERVER_FIRST" } },
    });
    expect(path).toContain(groups);
  });

  it("in pipelines", async () => {
    const metrics = serviceFor(platform, "monitoring");
    const { path } = await metrics.made();
    expect(await metrics.call("PUT", path, { id: "", properties: { name: "renamed" } })).toMatchObject({ status: 200 });
    const logs = serviceFor(platform, "logging");
    const empty = {
      resourceTier: "",
      logs: [stream({ retentionInDays: "", destinations: [{ type: "", retentionInDays: "" }] })],
    };
    const pipeline = await logs.made(empty);
    expect(await logs.call("PATCH", pipeline.path, { id: "", properties: { name: "", ...empty } })).toMatchObject({
      status: 200,
      body: { properties: { name: "shop", logs: [{ retentionInDays: 30 }] } },
    });
    const http = [stream({ source: "http", protocol: "" })];
    expect(await logs.call("PATCH", pipeline.path, { properties: { logs: http } })).toMatchObject({ status: 200 });
    expect(await logs.call("PUT", "/central", { id: "", properties: { enabled: true } })).toMatchObject({
      status: 200,
    });
  });

  it("in event streaming", async () => {
    const { call, body, cluster, topic } = await streamingOf(platform);
    expect(await call("POST", "/clusters", { id: "", ...body() })).toMatchObject({ status: 201 });
    await topic(await cluster(), { name: "orders", replicationFactor: "", logRetention: "" });
  });
});
