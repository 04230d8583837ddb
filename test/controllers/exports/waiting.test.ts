import { describe, expect, it } from "vitest";
import { PAUSED } from "../../../src/engine/state/names.ts";
import { Forbidden, Retry, Unauthorized } from "../../../src/platform/answers/errors.ts";
import { BEGIN } from "../../engine/support/stage.ts";
import { bucket, entry, MINUTE, open } from "./export-world.ts";

describe("an ActivityLogExport waits", () => {
  const failed = { call: "GET /activitylog", status: 429, detail: "slow down" };

  it.each([
    ["RateLimited", "False", new Retry(failed, "no", 90_000)],
    ["PlatformUnavailable", "False", new Retry({ ...failed, status: 503 }, "no")],
    ["Forbidden", "False", new Forbidden({ ...failed, status: 403 })],
    ["AccountNotReady", "False", new Unauthorized({ ...failed, status: 401 })],
  ])("while the log cannot be read: %s, and never less long than it is asked to", async (reason, isReady, error) => {
    const world = open();
    const { settle, skip, pass } = world.live();
    await settle();
    world.trouble.read = error;
    world.log.push(entry(BEGIN + 1000, "one"));
    skip(2 * MINUTE);
    const again = await pass();
    expect(world.ready()).toMatchObject({ status: isReady, reason });
    if (reason === "Forbidden") expect(world.ready().message).toContain("ACCESS_ACTIVITY_LOG");
    if (reason === "RateLimited") expect(again).toEqual({ inMs: 90_000 });
    const calls = world.asked.length;
    await pass();
    expect(world.asked.length).toBe(calls);
    delete world.trouble.read;
    skip(2 * MINUTE);
    await settle();
    expect(world.delivered()).toEqual(["one"]);
    expect(world.ready()).toMatchObject({ status: "True" });
  });

  it.each([
    ["DestinationUnavailable", new Retry({ ...failed, call: "PUT /audit", status: 503 }, "unknown")],
    ["RateLimited", new Retry({ ...failed, call: "PUT /audit" }, "no", 5_000)],
    ["DestinationRefused", new Forbidden({ ...failed, call: "PUT /audit", status: 403 })],
  ])("while the destination does not take it: %s; the record stays where it is", async (reason, error) => {
    const world = open();
    const { settle, skip, pass } = world.live();
    await settle();
    const before = world.status().watermark;
    world.trouble.deliver = error;
    world.log.push(entry(BEGIN + 1000, "one"));
    skip(2 * MINUTE);
    await pass();
    const message = expect.stringMatching(/^destination: PUT \/audit/);
    expect(world.ready()).toMatchObject({
      status: "False",
      reason,
      ...(reason === "DestinationRefused" && { message }),
    });
    expect(world.status().watermark).toEqual(before);
    const pauses = [];
    for (let nth = 0; nth < 4; nth++) {
      const again = await pass();
      if (typeof again !== "object") throw new Error("it gave up");
      pauses.push(again.inMs);
      skip(again.inMs);
      await pass();
    }
    expect(pauses.at(-1)).toBeGreaterThan(pauses[0] ?? 0);
    delete world.trouble.deliver;
    skip(10 * MINUTE);
    await settle();
    expect(world.delivered()).toEqual(["one"]);
  });

  it("on an answer that is not understood", async () => {
    const world = open();
    const { settle, skip, pass } = world.live();
    await settle();
    world.trouble.answer = { hits: { total: 1, hits: [{ _source: "what" }] } };
    skip(2 * MINUTE);
    await pass();
    expect(world.ready()).toMatchObject({ status: "False", reason: "PlatformUnavailable" });
    expect(world.ready().message).toContain("hits.hits.0._source");
  });

  it.each([
    ["SecretNotFound", { bucket: { ...bucket, secretRef: { name: "nothing" } } }, "nothing"],
    ["EndpointNotAllowed", { bucket: { ...bucket, endpoint: "http://169.254.169.254" } }, "--allow-endpoint"],
    ["ReferenceNotFound", { logPipelineRef: { name: "logs" } }, "LogPipeline logs not found"],
    ["ReferenceNotGranted", { logPipelineRef: { name: "logs", namespace: "other" } }, "no Grant"],
  ])("and sends nothing until a person corrects the destination: %s", async (reason, destination, words) => {
    const world = open({ destination });
    await world.live().pass();
    expect(world.ready()).toMatchObject({ status: "False", reason });
    expect(world.ready().message).toContain(words);
    expect(world.sent).toEqual([]);
  });

  it("while it is paused, and goes on with what came meanwhile", async () => {
    const world = open();
    const { settle, skip, pass } = world.live();
    await settle();
    const { metadata } = world.api.get(world.object) ?? world.object;
    world.api.put({
      ...world.object,
      status: world.status(),
      metadata: { ...metadata, annotations: { [PAUSED]: "true" } },
    });
    world.log.push(entry(BEGIN + 1000, "one"));
    skip(5 * MINUTE);
    expect(await pass()).toBe("never");
    expect(world.delivered()).toEqual([]);
    world.api.put({ ...world.object, status: world.status(), metadata: { ...metadata, annotations: {} } });
    await settle();
    expect(world.delivered()).toEqual(["one"]);
  });

  it("when the Account has become that of another contract", async () => {
    const world = open();
    const { settle } = world.live();
    await settle();
    world.api.put({ ...world.object, status: { ...world.status(), contract: 7 } });
    await settle();
    expect(world.ready()).toMatchObject({ status: "False", reason: "ContractChanged" });
  });
});

describe("through a ClusterAccount", () => {
  it("a tenant does not get the log of a shared contract unless the kind is admitted by its name", async () => {
    const world = open({ accountRef: { kind: "ClusterAccount", name: "shared" }, destination: { bucket } });
    const { pass, objects } = world.live();
    await pass();
    expect(world.ready()).toMatchObject({ status: "False", reason: "AccountNotAllowed" });
    expect(world.asked).toEqual([]);
    const shared = [...objects.store("ClusterAccount").values()][0];
    if (!shared) throw new Error("there is none");
    const admitting = { ...Object(shared.spec), kinds: ["ActivityLogExport"] };
    objects
      .store("ClusterAccount")
      .put({ ...shared, spec: admitting, metadata: { ...shared.metadata, resourceVersion: "2" } });
    await pass();
    expect(world.ready()).toMatchObject({ status: "True" });
  });
});
