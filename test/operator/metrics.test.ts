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

test("however many endpoints tenants name, and whatever these answer, the series stay few", async () => {
  const metrics = createMetrics();
  const call = { account: "shop/main", method: "GET", seconds: 0.1, waited: 0 };
  metrics.platform({ ...call, host: "api.example.com", route: "/cloudapi/v6/datacenters", status: 200 });
  for (let n = 0; n < 2_000; n++) {
    metrics.platform({ ...call, host: `tenant-${n}.example`, route: `/tenant-${n}`, status: 200 });
    metrics.platform({ ...call, host: "evil.example", route: "/cloudapi/v6/datacenters", status: 100 + (n % 900) });
  }
  const text = await metrics.registry.metrics();
  const series = text.split("\n").filter((line) => line.startsWith("mooring_platform_requests_total{"));
  expect(series.length).toBeLessThan(140);
  expect(series).toContain('mooring_platform_requests_total{code="200",method="GET",route="other"} 1901');
  expect(text).not.toContain("evil.example");
});

test("what only the calls of one Account have shown is dropped with it, and makes room for others", async () => {
  const metrics = createMetrics();
  const series = async () =>
    (await metrics.registry.metrics())
      .split("\n")
      .filter((line) => /^mooring_platform_request(s|_).*route=/.test(line));
  const call = { method: "GET", seconds: 0.1, waited: 0, host: "api.example.com", status: 200 };
  metrics.platform({ ...call, account: "shop/main", route: "/datacenters" });
  const before = await series();
  metrics.platform({ ...call, account: "evil/one", route: "/datacenters" });
  for (let n = 0; n < 2_000; n++) {
    metrics.platform({ ...call, account: "evil/one", route: `/evil/${n}`, status: n % 2 ? 200 : 404 });
  }
  metrics.closed("evil/one");
  const after = (await series()).filter((line) => !line.includes('route="other"'));
  expect(after.map((line) => line.replace(/ \S+$/, ""))).toEqual(before.map((line) => line.replace(/ \S+$/, "")));
  metrics.platform({ ...call, account: "shop/main", route: "/servers" });
  expect(await series()).toContain('mooring_platform_requests_total{code="200",method="GET",route="/servers"} 1');
});
