import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import type { Operation } from "../../../src/kinds/desired.ts";
import { centralLogging } from "../../../src/kinds/observability/central-logging.ts";
import { serviceFor } from "../../simulator/pipelines.ts";
import { items, type Platform, startPlatform } from "../../simulator/platform.ts";
import { inputs, mapped, nothing } from "../mapped.ts";

const mapping = mapped(centralLogging);
const named = inputs({ parents: {} });
const item = (enabled: boolean | null) => ({ id: "c-1", properties: { enabled } });
const turned = (action: string, enabled: boolean): Operation => ({
  action,
  method: "PUT",
  path: "/central/c-1",
  body: { properties: { enabled } },
});

it("central logging is always there, once per Account and region", () => {
  expect(mapping).toMatchObject({
    identity: { permanent: true, onePer: "Account and region" },
    destruction: { holdsData: false },
  });
});

describe("comparing central logging", () => {
  it.each([
    ["on", true, true],
    ["off", false, false],
    ["off, which the platform does not say", false, null],
  ])("finds no difference when it is %s as wanted", (_, wanted, found) => {
    expect(mapping.desire({ enabled: wanted }).compare(item(found), named)).toEqual({ drift: [] });
  });

  it("switches it on and off", () => {
    expect(mapping.desire({ enabled: true }).compare(item(false), named)).toEqual({
      drift: [{ field: "enabled", wanted: "true", found: "false" }],
      next: turned("switch it on", true),
    });
    expect(mapping.desire({ enabled: false }).compare(item(true), named).next).toEqual(turned("switch it off", false));
  });

  it("switches one that the platform shows without an id by a path without one", () => {
    const only = { ...item(false), id: "central" };
    const { next } = mapping.desire({ enabled: true }).compare(only, named);
    expect(next).toEqual({ ...turned("switch it on", true), path: "/central" });
  });

  it("that is only observed finds no difference where spec does not say one", () => {
    const observe = mapping.desire({ externalId: "c-1", managementPolicy: "Observe" });
    expect(observe.compare(item(true), { ...named, observed: true })).toEqual({ drift: [] });
  });
});

describe("the state before", () => {
  it("is noted when the object comes, and stays whatever is switched later", () => {
    expect(mapping.comparison.facts(item(false), nothing)).toEqual({ enabled: false, before: false });
    expect(mapping.comparison.facts(item(true), { ...nothing, shown: { before: false } })).toEqual({
      enabled: true,
      before: false,
    });
    const facts = mapping.comparison.facts(
      { ...item(true), metadata: { grafanaEndpoint: "https://g.example.com" } },
      nothing,
    );
    expect(centralLogging.status.strict().parse(facts)).toEqual(facts);
  });

  const preDelete = (before: unknown, now: boolean | null) =>
    mapping.desire({ enabled: true }).preDelete(item(now), { parents: {}, shown: { before } });

  it("is restored when the object goes", () => {
    expect(preDelete(false, true)).toEqual(turned("switch it off", false));
    expect(preDelete(true, false)).toEqual(turned("switch it on", true));
  });

  it.each([
    ["nothing has changed", false, false],
    ["off was before, and the platform does not say anything", false, null],
    ["it was never noted", undefined, true],
  ])("is left alone when %s", (_, before, now) => {
    expect(preDelete(before, now)).toBeUndefined();
  });
});

describe("central logging on the platform", () => {
  let platform: Platform;
  beforeAll(async () => {
    platform = await startPlatform();
  });
  afterAll(() => platform.close());

  it("takes what a comparison asks for, and is up to date then; its preDelete brings it back", async () => {
    const { call } = serviceFor(platform, "logging");
    const seen = async () =>
      z
        .object({ id: z.string() })
        .loose()
        .parse(items(await call("GET", mapping.place.collection({})))[0]);
    const desired = mapping.desire({ enabled: true });
    const shown = mapping.comparison.facts(await seen(), nothing);
    expect(shown).toMatchObject({ enabled: false, before: false });
    const send = async (operation: Operation | undefined) => {
      const { method = "", path = "", body } = operation ?? {};
      expect(await call(method, path, body)).toMatchObject({ status: 200 });
    };
    await send(desired.compare(await seen(), named).next);
    expect(desired.compare(await seen(), named)).toEqual({ drift: [] });
    await send(desired.preDelete(await seen(), { parents: {}, shown }));
    expect(mapping.comparison.facts(await seen(), nothing)).toMatchObject({ enabled: false });
    expect(desired.preDelete(await seen(), { parents: {}, shown })).toBeUndefined();
  });
});
