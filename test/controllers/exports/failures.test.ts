import { describe, expect, it } from "vitest";
import { KubeError } from "../../../src/kube/client/errors.ts";
import { BEGIN } from "../../engine/support/stage.ts";
import { bucket, entry, MINUTE, open } from "./export-world.ts";

type World = ReturnType<typeof open>;

/** An exception that no code expects, in one step of an export. */
const steps: [string, (world: World, error: Error) => void][] = [
  [
    "reads the Secret",
    (world, error) =>
      world.api.beforeEach(({ method, path }) => {
        if (method === "GET" && path.endsWith("/secrets/s3")) throw error;
      }),
  ],
  ["reads the log", (world, error) => Object.assign(world.trouble, { read: error })],
  ["sends the entries", (world, error) => Object.assign(world.trouble, { deliver: error })],
];

describe("an ActivityLogExport that fails unexpectedly", () => {
  it.each(steps)("is not Ready, and goes on when it can: when it %s", async (_, breakAt) => {
    const world = open();
    const { pass, settle, skip } = world.live();
    await settle();
    expect(world.ready()).toMatchObject({ status: "True" });
    world.log.push(entry(BEGIN + 1000, "one"));
    skip(2 * MINUTE);
    breakAt(world, new TypeError("cannot read\nproperties"));
    await expect(pass()).rejects.toThrow("cannot read");
    expect(world.ready()).toMatchObject({ status: "False", reason: "InternalError" });
    expect(world.ready().message).toContain("cannot read properties");
    world.api.beforeEach(() => {});
    delete world.trouble.read;
    delete world.trouble.deliver;
    await settle();
    expect(world.ready()).toMatchObject({ status: "True", reason: "Available" });
    expect(world.delivered()).toEqual(["one"]);
  });

  it("waits for the API server, and nobody has to report that it was away for a moment", async () => {
    const world = open();
    const { pass, settle } = world.live();
    world.api.beforeEach(({ method, path }) => {
      const down = new KubeError({ status: 0, reason: "Network", message: "GET /api/v1: connect ECONNREFUSED" });
      if (method === "GET" && path.endsWith("/secrets/s3")) throw down;
    });
    await expect(pass()).rejects.toThrow("ECONNREFUSED");
    expect(world.ready()).toMatchObject({ status: "False", reason: "KubernetesUnavailable" });
    world.api.beforeEach(() => {});
    await settle();
    expect(world.ready()).toMatchObject({ status: "True" });
  });

  it("writes nothing if it may no longer write", async () => {
    const world = open();
    const { pass, settle, skip, deps } = world.live();
    await settle();
    const before = world.status();
    world.log.push(entry(BEGIN + 1000, "one"));
    skip(2 * MINUTE);
    Object.assign(world.trouble, { read: new TypeError("cannot read") });
    deps.guard = () => {
      throw new Error("not the leader");
    };
    await expect(pass()).rejects.toThrow("not the leader");
    expect(world.status()).toEqual(before);
  });
});

describe("the endpoint of a bucket", () => {
  const toBucket = (endpoint: string) => ({ destination: { bucket: { ...bucket, endpoint } } });

  it.each(["https://s3.platform.test", "https://S3.platform.test:443/", "https://s3.platform.test."])(
    "may be the operator's own in another spelling: %s",
    async (endpoint) => {
      const world = open(toBucket(endpoint), { objectStorage: "https://s3.platform.test/" });
      await world.live().settle();
      expect(world.ready()).toMatchObject({ status: "True" });
    },
  );

  it("may be no other one, unless the operator allows it", async () => {
    const world = open(toBucket("https://s3.platform.test.evil"), { objectStorage: "https://s3.platform.test" });
    await world.live().settle();
    expect(world.ready()).toMatchObject({ status: "False", reason: "EndpointNotAllowed" });
  });
});
