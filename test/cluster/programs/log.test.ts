import { beforeAll, expect, it } from "vitest";
import { z } from "zod";
import { type Landscape, landscape } from "../landscape.ts";
import { datacenter, lan } from "../objects.ts";

const line = z.looseObject({
  level: z.enum(["debug", "info", "warn", "error"]),
  msg: z.string(),
  object: z.string().optional(),
  reason: z.string().optional(),
  status: z.unknown().optional(),
  requestId: z.string().optional(),
  platformRequest: z.string().optional(),
});

let world: Landscape;

beforeAll(async () => {
  world = await landscape({ operator: ["--retry", "1h"] });
  // Durations of objects are measured from this moment.
  await world.untilReady("account/main");
});

const text = () => world.operator.log();
const lines = () =>
  text()
    .split("\n")
    .filter((each) => each.startsWith('{"level"'))
    .map((each) => line.parse(JSON.parse(each)));

const ten = (prefix: string) => Array.from({ length: 10 }, (_, index) => `${prefix}-${index}`);

it("logs the outcome of thirty objects, ten created, ten refused, ten stuck, and then nothing", async () => {
  const [made, refused, stuck] = [ten("made"), ten("refused"), ten("stuck")];
  await world.apply(
    datacenter("dc"),
    ...made.map((name) => lan(name)),
    ...refused.map((name) => datacenter(name, { location: "xx/yyy" })),
    ...stuck.map((name) => lan(name, { datacenterRef: { name: "nowhere" } })),
  );
  const reported = (kind: string, names: string[], reason: string) => () => {
    const objects = names.map((name) => `${kind}/${world.namespace}/${name}`);
    const found = lines().filter((each) => each.msg === "status changed" && each.reason === reason);
    return objects.map((object) => found.filter((each) => each.object === object && each.level === "info").length);
  };
  const once = Array(10).fill(1);
  await expect.poll(reported("Lan", made, "Available")).toEqual(once);
  await expect.poll(reported("Datacenter", refused, "Rejected")).toEqual(once);
  await expect.poll(reported("Lan", stuck, "ReferenceNotFound")).toEqual(once);

  const writes = lines().filter(({ msg }) => msg === "platform write");
  for (const name of made) {
    const [post, ...more] = writes.filter(({ object }) => object === `Lan/${world.namespace}/${name}`);
    expect(post).toMatchObject({ level: "info", method: "POST", status: 202, requestId: expect.any(String) });
    expect(more).toEqual([]);
    const creating = lines().find(
      ({ object, reason }) => object === `Lan/${world.namespace}/${name}` && reason === "Creating",
    );
    expect(creating?.platformRequest).toBe(post?.platformRequest);
  }
  for (const name of refused) {
    const found = writes.filter(({ object }) => object === `Datacenter/${world.namespace}/${name}`);
    expect(found.map(({ status }) => status)).toEqual([422]);
  }
  const { operator } = world;
  expect(await operator.metric("mooring_apply_to_ready_seconds_count", 'kind="Lan"')).toBe(made.length);
  expect(await operator.metric("mooring_object_ready", 'kind="Lan"')).toBe(made.length);
  expect(await operator.metric("mooring_objects", 'reason="ReferenceNotFound"')).toBe(stuck.length);
  expect(await operator.metric("mooring_objects", 'reason="Rejected"')).toBe(refused.length);
  expect(await operator.metric("mooring_token_expiry_timestamp_seconds")).toBeGreaterThan(Date.now() / 1000);

  // Requested passes reconcile the objects again and log nothing new.
  const about = (names: string[]) => lines().filter(({ object = "" }) => names.includes(object.split("/")[2] ?? ""));
  const before = about([...made, ...stuck]);
  const passes = () => world.operator.metric("controller_runtime_reconcile_total", 'controller="lan"');
  const passed = await passes();
  await world.kubectl("annotate", "lan", "--all", "mooring.dev/looked=again");
  await expect.poll(passes).toBeGreaterThanOrEqual(passed + made.length + stuck.length);
  expect(about([...made, ...stuck])).toEqual(before);
  expect(text()).not.toContain("    at ");
});
