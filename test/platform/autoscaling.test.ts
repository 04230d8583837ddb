import { expect, test } from "vitest";
import { NotFound } from "../../src/platform/answers/errors.ts";
import { autoscalingCollection, autoscalingUrl } from "../../src/platform/products/autoscaling.ts";
import { scriptedConnection } from "../engine/fixtures.ts";

const { signal } = new AbortController();
const paths = (calls: readonly { url: string }[]) => calls.map(({ url }) => new URL(url).pathname);

/** A platform that has the groups below one base. */
function platformAt(base: string, api: string) {
  const connection = scriptedConnection(({ url }) => {
    if (new URL(url).pathname.startsWith(`${base}/groups`)) return { id: "g1", items: [{ id: "g1", metadata: {} }] };
    throw new NotFound({ call: "GET /groups", status: 404, detail: "there is no such path" });
  });
  return { connection, source: autoscalingCollection(connection, api, "/groups", 1) };
}

test("groups are found below the early access version, and asked for once", async () => {
  const { connection, source } = platformAt("/autoscaling/v1.ea", "http://described.test");
  expect(await source.list(signal, "people")).toMatchObject([{ id: "g1" }]);
  expect(paths(connection.calls)).toEqual(["/autoscaling/v1.ea/groups"]);
  expect(autoscalingUrl("http://described.test", "/groups")).toBe("http://described.test/autoscaling/v1.ea/groups");
});

test("where they are below the public base, everything after the first list goes there", async () => {
  const { connection, source } = platformAt("/autoscaling", "http://public.test");
  expect(await source.list(signal, "people")).toMatchObject([{ id: "g1" }]);
  await source.list(signal, "people");
  await source.get?.("g1", signal);
  expect(paths(connection.calls)).toEqual([
    "/autoscaling/v1.ea/groups",
    "/autoscaling/groups",
    "/autoscaling/groups",
    "/autoscaling/groups/g1",
  ]);
  expect(autoscalingUrl("http://public.test/", "/groups")).toBe("http://public.test/autoscaling/groups");
});

test("a platform that has them nowhere says so", async () => {
  const { source } = platformAt("/elsewhere", "http://without.test");
  await expect(source.list(signal, "people")).rejects.toThrow(NotFound);
});
