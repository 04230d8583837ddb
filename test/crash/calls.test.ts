import { describe, expect, it } from "vitest";
import { creationIn, type Position } from "./calls.ts";

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
