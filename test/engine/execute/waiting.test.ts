import { expect, test } from "vitest";
import { changeForReferrers } from "../../../src/controllers/wake-ups.ts";
import { objectOf, readyCondition } from "../support/fixtures.ts";

const condition = (reason: string, message: string) =>
  objectOf("Datacenter", "dc", { status: { conditions: [{ ...readyCondition("False"), reason, message }] } });
const isNews = (before: ReturnType<typeof condition>, after: ReturnType<typeof condition>) =>
  changeForReferrers(before, after).toWaiting;

const creating = condition("Creating", "the platform is creating the Datacenter");
const refused = (id: string) => condition("Rejected", `location: no such location, request 0a1b2c3d4e5f-${id}`);

test("objects that wait for another one are woken when it needs somebody, or needs nobody any more", () => {
  expect(isNews(creating, refused("1"))).toBe(true);
  expect(isNews(refused("1"), creating)).toBe(true);
  expect(isNews(refused("1"), condition("Rejected", "size: too large"))).toBe(true);
  const behind = condition("ReferenceNotReady", "x: waiting for Datacenter a to be Ready: Rejected: no");
  expect(isNews(condition("ReferenceNotReady", "x: waiting for Datacenter a to be Ready"), behind)).toBe(true);
});

test("a temporary error, and the same refusal under another id, wake nobody", () => {
  expect(isNews(creating, condition("RateLimited", "slow down until 2026-01-01T00:00:05Z"))).toBe(false);
  expect(isNews(creating, condition("Updating", "the platform is changing the Datacenter (update)"))).toBe(false);
  expect(isNews(refused("1"), refused("2"))).toBe(false);
  const failed = (at: string) => condition("ProvisioningFailed", `no capacity; next attempt at ${at}; set x to retry`);
  expect(isNews(failed("2026-01-01T00:00:05Z"), failed("2026-01-01T00:01:05Z"))).toBe(false);
});
