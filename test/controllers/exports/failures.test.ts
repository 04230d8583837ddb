import { describe, expect, it } from "vitest";
import { BEGIN } from "../../engine/support/stage.ts";
import { entry, MINUTE, open } from "./export-world.ts";

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
