import { expect, test } from "vitest";
import { execute } from "../../../src/engine/execute/execute.ts";
import { readyOf } from "../../../src/engine/status/status.ts";
import { Retry } from "../../../src/platform/answers/errors.ts";
import { objectOf } from "../support/fixtures.ts";
import { BEGIN, stage } from "../support/stage.ts";

const KEY = "Datacenter/shop/a";
const object = () => objectOf("Datacenter", "a", { spec: { location: "de/txl" } });
const at = (ms: number) => `${new Date(BEGIN + ms).toISOString().slice(0, 19)}Z`;

test("a failure of the platform says when the next attempt is, and how to retry now", async () => {
  const { deps, contextOf, pass, objects, clock } = stage([object()]);
  const message = () => readyOf(objects.find(KEY)?.object ?? object())?.message;
  const failed = { step: "fail", reason: "ProvisioningFailed", message: "create failed: no room", gone: true } as const;
  expect(await execute(deps, contextOf(KEY), failed)).toEqual({ inMs: 1000 });
  const first = `create failed: no room; next attempt at ${at(1000)}; set the annotation mooring.dev/reconcile-at to retry now`;
  expect(message()).toBe(first);
  await clock.advance(500);
  expect((await pass(KEY)).decision).toMatchObject({ step: "stall", message: first });
  expect(message()).toBe(first);
  await execute(deps, contextOf(KEY), failed);
  expect(message()).toContain(`next attempt at ${at(3000)}`);
});

test("an object that the platform asks to slow down says until when", async () => {
  const { platform, pass, objects } = stage([object()]);
  platform.beforeEach(({ method }) => {
    if (method === "POST") throw new Retry({ call: "POST /datacenters", status: 429 }, "no", 90_000);
  });
  expect((await pass(KEY)).again).toEqual({ inMs: 90_000 });
  expect(readyOf(objects.find(KEY)?.object ?? object())).toMatchObject({
    reason: "RateLimited",
    message: `the platform asks to slow down until ${at(90_000)}`,
  });
});
