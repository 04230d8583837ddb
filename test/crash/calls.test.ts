import { describe, expect, it } from "vitest";
import { datacenter } from "../../src/kinds/compute/datacenter.ts";
import { lan } from "../../src/kinds/network/lan.ts";
import { creationIn, isCertain, LABEL, labelRoute, type Position } from "./calls.ts";
import { createRecorder } from "./recorder.ts";

const call = (side: Position["side"], method: string, route: string, phase = "create"): Position => ({
  phase,
  process: 1,
  side,
  method,
  route,
  nth: 1,
});

const read = call("platform", "GET", "/contracts");
const intent = call("kubernetes", "PATCH", "servers/{name}");
const creation = call("platform", "POST", "/servers");
const power = call("platform", "POST", "/servers/{id}/stop");

describe("where a life makes something", () => {
  it("is its first write to the platform", () => {
    expect(creationIn([read, intent, creation, power])).toBe(creation);
  });

  it("is its first write at all, when the platform is only asked", () => {
    expect(creationIn([read, intent, call("kubernetes", "POST", "secrets")])).toBe(intent);
  });

  it("is never in a later phase", () => {
    expect(creationIn([read, call("platform", "POST", "/servers", "replace")])).toBeUndefined();
  });
});

describe("a call about labels", () => {
  const path = "/cloudapi/v6/datacenters/72e73b81-8551-4e74-b398-fc63b39994af/labels";

  it("belongs to a phase of its own, whenever it comes", () => {
    const recorder = createRecorder([]);
    for (const phase of ["create", "update"]) {
      recorder.enter(phase);
      recorder.arrived("platform", "POST", path, 1).ended(201);
    }
    recorder.arrived("platform", "PATCH", path.replace("/labels", ""), 1).ended(202);
    expect(recorder.calls.map(({ phase, nth }) => `${phase} ${nth}`)).toEqual([`${LABEL} 1`, `${LABEL} 2`, "update 1"]);
  });

  it("is certain in the lives of kinds that get a label, and about their own resources only", () => {
    const own = labelRoute(datacenter);
    const post = call("platform", "POST", "/cloudapi/v6/datacenters/{id}/labels", LABEL);
    const list = call("platform", "GET", "/cloudapi/v6/labels", LABEL);
    expect([post, list, creation].map((each) => isCertain(each, own))).toEqual([true, true, true]);
    const other = labelRoute(lan);
    expect(other).toBeUndefined();
    expect([post, list, creation].map((each) => isCertain(each, other))).toEqual([false, false, true]);
    expect(isCertain(post, "/snapshots/{id}/labels")).toBe(false);
    expect(isCertain({ ...post, nth: 2 }, own)).toBe(false);
  });
});
