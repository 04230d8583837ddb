import { describe, expect, it } from "vitest";
import { datacenter } from "../../../src/kinds/compute/datacenter.ts";
import { inputs, mapped, nothing, sent } from "../mapped.ts";

const mapping = mapped(datacenter);
const named = inputs({ name: "berlin", parents: {} });
const platformItem = (properties: object) => ({
  id: "dc-1",
  type: "datacenter",
  metadata: { state: "AVAILABLE" },
  properties: { name: "berlin", description: null, location: "de/txl", version: 1, features: ["SSD"], ...properties },
});

describe("creating a datacenter", () => {
  it("sends the object's name where spec gives none", () => {
    expect(sent(mapping.desire({ location: "de/txl" }).body(named))).toStrictEqual({
      properties: { name: "berlin", location: "de/txl" },
    });
  });

  it("sends everything that spec says", () => {
    const spec = { name: "prod", location: "de/fra/2", description: "Web", deletionPolicy: "Retain" };
    expect(sent(mapping.desire(spec).body(named))).toStrictEqual({
      properties: { name: "prod", location: "de/fra/2", description: "Web" },
    });
  });

  it("depends on nothing", () => {
    const { references, secrets } = mapping.desire({ location: "de/txl" });
    expect({ references, secrets }).toEqual({ references: [], secrets: [] });
  });

  it("is not tried with a location that is none", () => {
    expect(() => mapping.desire({ location: "Berlin" })).toThrow("must be a location <country>/<site>");
  });
});

describe("comparing a datacenter", () => {
  const compare = (spec: object, properties: object) =>
    mapping.desire({ location: "de/txl", ...spec }).compare(platformItem(properties), named);

  it.each([
    ["what the platform fills in", {}, {}],
    ["no description as null", {}, { description: null }],
    ["an empty description as null", { description: "" }, { description: null }],
    ["an empty description as empty", { description: "" }, { description: "" }],
    ["a description that spec does not speak of", {}, { description: "somebody's" }],
    ["a version without a value", {}, { version: null }],
  ])("finds no difference in %s", (_, spec, properties) => {
    expect(compare(spec, properties)).toEqual({ drift: [] });
  });

  it.each([
    ["the name", { name: "prod" }, {}, { name: "prod" }],
    ["the name, lost on the platform", {}, { name: null }, { name: "berlin" }],
    ["the description", { description: "new" }, { description: "old" }, { description: "new" }],
    ["the description, to be emptied", { description: "" }, { description: "old" }, { description: "" }],
    ["both", { name: "a", description: "b" }, {}, { name: "a", description: "b" }],
  ])("changes %s by PATCH, and nothing else", (_, spec, properties, body) => {
    const path = "/datacenters/dc-1";
    expect(compare(spec, properties).next).toEqual({ action: "update", method: "PATCH", path, body });
  });

  it("shows another location and does not try to change it", () => {
    expect(compare({}, { location: "de/fra" })).toEqual({
      drift: [{ field: "location", wanted: "de/txl", found: "de/fra" }],
    });
  });

  it.each([
    ["no properties", { id: "dc-1" }],
    ["no id", { properties: { location: "de/txl" } }],
    ["null", null],
    ["text", "datacenter"],
  ])("does not understand an answer with %s", (_, item) => {
    expect(() => mapping.desire({ location: "de/txl" }).compare(item, named)).toThrow();
  });
});

describe("the facts of a datacenter", () => {
  it("are its location and how often it changed", () => {
    expect(mapping.comparison.facts(platformItem({ version: 7 }), nothing)).toEqual({ location: "de/txl", version: 7 });
  });

  it("leave out what the platform does not say", () => {
    expect(mapping.comparison.facts(platformItem({ version: null }), nothing)).toEqual({ location: "de/txl" });
  });

  it("fit into status", () => {
    expect(datacenter.status.parse(mapping.comparison.facts(platformItem({}), nothing))).toEqual({
      location: "de/txl",
      version: 1,
    });
  });
});
