import { describe, expect, test } from "vitest";
import { readyOf } from "../../../src/engine/status/status.ts";
import { KubeError } from "../../../src/kube/client/errors.ts";
import { datacenterSpec, objectOf } from "../support/fixtures.ts";
import { stage } from "../support/stage.ts";

const KEY = "Datacenter/shop/a";
const object = objectOf("Datacenter", "a", { spec: datacenterSpec });
const TOO_LONG = "PATCH /x: 422 Invalid: metadata.annotations: Too long: may not be more than 262144 bytes";

describe("an object whose metadata the API server refuses", () => {
  test.each([
    [422, TOO_LONG, "make spec and annotations smaller"],
    [413, "PATCH /x: 413 RequestEntityTooLarge: limit is 3145728", "make spec and annotations smaller"],
    [403, "PATCH /x: 403 Forbidden: denied by a policy", "denied by a policy"],
  ])(
    "says so in status and in an Event, tries again ever more rarely, and goes on in the end: %i",
    async (status, message, way) => {
      const { api, platform, clock, pass, sync, events } = stage([object]);
      const refusal = new KubeError({ status, reason: "X", message });
      let refused = 0;
      api.beforeEach(({ contentType, path }) => {
        if (contentType !== "application/apply-patch+yaml" || path.endsWith("/status")) return;
        refused += 1;
        throw refusal;
      });
      for (let second = 0; second < 120; second++) {
        sync();
        await pass(KEY);
        await clock.advance(1000);
      }
      const ready = readyOf(api.get(object) ?? object);
      expect(ready).toMatchObject({ status: "False", reason: "ObjectNotWritable" });
      expect(ready?.message).toContain(message);
      expect(ready?.message).toMatch(new RegExp(`${way}$`));
      expect(events.some((each) => each.startsWith("Warning ObjectNotWritable"))).toBe(true);
      expect(refused).toBeLessThan(12);
      expect(platform.sent("POST")).toHaveLength(0);
      api.beforeEach(() => {});
      for (let second = 0; second < 60; second++) {
        sync();
        await pass(KEY);
        await clock.advance(1000);
      }
      expect(platform.sent("POST")).toHaveLength(1);
    },
  );
});
