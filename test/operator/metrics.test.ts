import { expect, test } from "vitest";
import { createMetrics } from "../../src/operator/metrics.ts";

test("the end of a certificate is told for as long as its object is there", async () => {
  const { certificate, registry } = createMetrics();
  const name = "mooring_certificate_expiry_timestamp_seconds";
  const shown = async () =>
    (await registry.getSingleMetricAsString(name)).split("\n").filter((line) => line[0] !== "#");
  const reader = { kind: "KafkaUser", namespace: "shop", name: "reader" };
  certificate({ ...reader, expiresAt: Date.UTC(2027, 0, 1) });
  certificate({ ...reader, name: "writer", expiresAt: Date.UTC(2028, 0, 1) });
  certificate({ ...reader, expiresAt: Date.UTC(2029, 0, 1) });
  const writer = `${name}{kind="KafkaUser",namespace="shop",name="writer"} 1830297600`;
  expect(await shown()).toEqual([`${name}{kind="KafkaUser",namespace="shop",name="reader"} 1861920000`, writer]);
  certificate({ ...reader, expiresAt: undefined });
  certificate({ ...reader, name: "never-there", expiresAt: undefined });
  expect(await shown()).toEqual([writer]);
});
