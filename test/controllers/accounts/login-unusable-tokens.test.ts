import { afterEach, expect, test } from "vitest";
import { Unauthorized } from "../../../src/platform/answers/errors.ts";
import { isGeneration, noSecretIsShown, open } from "./password-account.ts";

afterEach(noSecretIsShown);

test("a token of more than 8 KiB is revoked and not kept, and says so", async () => {
  const { live, platform, ready, kept } = open();
  const { send } = platform.connection;
  platform.connection.send = async (call) => {
    const reply = await send(call);
    if (!isGeneration(call)) return reply;
    return { ...reply, body: { token: `${platform.values.at(-1)}${"x".repeat(8192)}` } };
  };
  await live().check();
  expect([platform.items.size, kept()]).toEqual([0, {}]);
  expect(ready()).toMatchObject({ status: "False", reason: "InvalidAnswer" });
  expect(ready()?.message).toContain("more than 8192 bytes");
});

test("a token that the platform refuses at once is made anew with a growing pause", async () => {
  const { live, platform, ready } = open();
  const { check, skip } = live();
  platform.beforeEach(({ url }) => {
    if (url.includes("/contracts")) throw new Unauthorized({ call: "GET /contracts", status: 401 });
  });
  for (let seconds = 0; seconds < 900; seconds += 5) {
    await check();
    skip(5000);
  }
  expect(ready()).toMatchObject({ status: "False", reason: "Unauthorized" });
  expect(platform.values.length).toBeGreaterThan(3);
  expect(platform.values.length).toBeLessThan(35);
});
