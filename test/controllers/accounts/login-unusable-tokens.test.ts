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

test("a token that was there before is not taken for a new one, and is not revoked before there is one", async () => {
  const { live, platform, ready } = open();
  const { check, skip } = live();
  await check();
  const [first] = platform.values;
  const { send } = platform.connection;
  // As from a cache between the operator and the platform.
  platform.connection.send = async (call) => {
    const reply = await send(call);
    return isGeneration(call) && platform.values.length === 2 ? { ...reply, body: { token: first } } : reply;
  };
  const early: string[] = [];
  platform.beforeEach(({ method, url }) => {
    const isEarly = method === "DELETE" && platform.values.length < 3;
    if (isEarly && url.endsWith([...platform.items.keys()][0] ?? "")) early.push(url);
  });
  for (let minutes = 0; minutes < 90; minutes += 1) {
    await check();
    skip(60_000);
  }
  expect(early).toEqual([]);
  expect(ready()?.status).toBe("True");
  expect(platform.values.length).toBeGreaterThan(2);
});
