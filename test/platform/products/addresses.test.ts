import { expect, test } from "vitest";
import { activityPage } from "../../../src/platform/activity/log.ts";
import { products } from "../../../src/platform/products/products.ts";
import { scriptedConnection } from "../../engine/support/fixtures.ts";

const api = "https://api.example.com";

async function activityUrl(): Promise<string> {
  const connection = scriptedConnection(() => ({ hits: { hits: [] } }));
  await activityPage(connection, api, { contract: 31, time: { from: 0, to: 1 }, offset: 0 }, {});
  const { origin, pathname } = new URL(connection.calls[0]?.url ?? "");
  return origin + pathname;
}

test.each([
  ["core", "/cloudapi/v6/datacenters", () => products.core.url(api, "/datacenters")],
  ["auth", "/auth/v1/tokens", () => products.auth.url(api, "/tokens")],
  ["autoscaling", "/autoscaling/v1.ea/groups", () => products.autoscaling.url(api, "/groups")],
  ["activity log", "/activitylog/v1/contracts/31", activityUrl],
])("%s is at its version of the one address: %s", async (_, path, url) => {
  expect(await url()).toBe(api + path);
});
