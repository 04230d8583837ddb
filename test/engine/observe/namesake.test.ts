import { describe, expect, test } from "vitest";
import { readStatus } from "../../../src/engine/status/status.ts";
import { Retry, Terminal } from "../../../src/platform/answers/errors.ts";
import { API, fakePlatform } from "../support/fake-platform.ts";
import { objectOf } from "../support/fixtures.ts";
import { stage } from "../support/stage.ts";

const DC = "11111111-1111-4111-8111-111111111111";
const BLOCK = "22222222-2222-4222-8222-222222222222";
const TAKEN = "the name is taken";
const inside = { "/ipblocks": BLOCK, [`/datacenters/${DC}/lans`]: "7" };

const wanted = (kind: string, name: string, spec: object) => objectOf(kind, name, { spec: { ...spec, name: "front" } });
const block = (more = {}) => wanted("IPBlock", "ips", { location: "de/txl", size: 1, ...more });
const lan = wanted("Lan", "lan", { datacenterId: DC });
const SHARED = { accountRef: { kind: "ClusterAccount", name: "shared" } };

/** The message of a refused creation, and the lists that were read after it. */
async function refused(
  object: ReturnType<typeof objectOf>,
  {
    names = ["front"],
    error = new Terminal({ call: "POST", status: 422, platformMessage: TAKEN }) as Error,
    others = [] as (typeof object)[],
  } = {},
) {
  const platform = fakePlatform();
  for (const [path, id] of Object.entries(inside)) {
    for (const [nth, name] of names.entries())
      platform.make(
        name,
        { properties: { name } },
        { path, targets: [nth === 0 ? id : id.replace(/^./, "9")], user: "u2" },
      );
  }
  const { pass, passes, sync, api } = stage([...others, object], { platform });
  for (const each of others) await passes(`${each.kind}/shop/${each.metadata.name}`);
  sync();
  const before = platform.calls.length;
  platform.beforeEach(({ method }) => {
    if (method === "POST") throw error;
  });
  await pass(`${object.kind}/shop/${object.metadata.name}`);
  const calls = platform.calls.slice(before).map(({ method, url }) => `${method} ${new URL(url).pathname}`);
  const [ready] = readStatus(api.get(object) ?? object).conditions ?? [];
  return {
    reason: ready?.reason,
    message: ready?.message,
    lists: calls.filter((each) => /^GET .*\/(ipblocks|lans)$/.test(each)),
  };
}

describe("a creation that is rejected", () => {
  test.each([
    [block(), BLOCK],
    [lan, "7"],
  ])("says how to manage the one that has the name", async (object, id) => {
    const { reason, message, lists } = await refused(object);
    expect({ reason, message }).toEqual({
      reason: "Rejected",
      message: `${TAKEN}; to manage the existing one, set externalId: ${id}`,
    });
    expect(lists).toHaveLength(1);
  });

  test("has no id for objects of an Account that allows none", async () => {
    const { message } = await refused(block(SHARED));
    expect(message).toBe(`${TAKEN}; to manage the existing one, ask the administrator of ClusterAccount shared`);
  });

  test("has the platform's message alone where none has the name, or several have it", async () => {
    expect((await refused(block(), { names: ["other"] })).message).toBe(TAKEN);
    expect((await refused(block(), { names: ["front", "front"] })).message).toBe(TAKEN);
  });

  test("also where an object has it", async () => {
    const spec = { location: "de/txl", size: 1, name: "front" };
    const status = { id: BLOCK, parents: {}, account: "shop/main", endpoint: API };
    expect((await refused(block(), { others: [objectOf("IPBlock", "owner", { spec, status })] })).message).toBe(TAKEN);
  });

  test("costs no list for another reason", async () => {
    const quota = new Terminal({ call: "POST", status: 422, platformMessage: TAKEN }, { quota: true });
    expect(await refused(block(), { error: quota })).toMatchObject({
      reason: "QuotaExceeded",
      message: TAKEN,
      lists: [],
    });
    const later = new Retry({ call: "POST", status: 503 }, "no");
    expect((await refused(block(), { error: later })).lists).toEqual([]);
  });
});
