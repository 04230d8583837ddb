import { describe, expect, it } from "vitest";
import { KubeError } from "../../../src/kube/client/errors.ts";
import { objectOf, readyCondition } from "../../engine/support/fixtures.ts";
import { BEGIN } from "../../engine/support/stage.ts";
import { type Entry, entry, MINUTE, open, SECRET } from "./export-world.ts";

describe("an ActivityLogExport to a LogPipeline", () => {
  const pipeline = objectOf("LogPipeline", "logs", {
    spec: {
      logs: [
        { tag: "syslog", protocol: "tcp" },
        { tag: "audit", protocol: "http" },
      ],
    },
    status: { id: "p1", account: "shop/main", secretName: "logs-logpipeline", conditions: [readyCondition()] },
  });
  const secret = objectOf("Secret", "logs-logpipeline", {
    apiVersion: "v1",
    data: {
      httpAddress: Buffer.from("https://in.example.com/p1").toString("base64"),
      key: Buffer.from(SECRET).toString("base64"),
    },
  });

  it("sends entries as JSON to its first log with protocol http", async () => {
    const world = open({ destination: { logPipelineRef: { name: "logs" } } }, { others: [pipeline, secret] });
    const { settle, skip } = world.live();
    await settle();
    world.log.push(entry(BEGIN + 1000, "one"), entry(BEGIN + 2000, "two"));
    skip(2 * MINUTE);
    await settle();
    const [call] = world.sent;
    expect(call).toMatchObject({ method: "POST", url: "https://in.example.com/p1/audit", headers: { apikey: SECRET } });
    expect(JSON.parse(Buffer.from(call?.bytes ?? "").toString())).toMatchObject([{ action: "one" }, { action: "two" }]);
    expect(JSON.stringify(world.status())).not.toContain(SECRET);
  });

  it("that is killed before its record sends the same entries again and no others, a thousand at most", async () => {
    const world = open({ destination: { logPipelineRef: { name: "logs" } } }, { others: [pipeline, secret] });
    const { settle, skip } = world.live();
    await settle();
    world.log.push(...Array.from({ length: 2_500 }, (_, nth) => entry(BEGIN + nth * 20, `in-time-${nth}`)));
    skip(2 * MINUTE);
    let isKilled = false;
    world.api.beforeEach(({ method, path }) => {
      if (method !== "PATCH" || !path.endsWith("/status") || world.sent.length === 0 || isKilled) return;
      isKilled = true;
      world.log.push(entry(BEGIN + 1, "late"));
      throw new Error("killed");
    });
    await expect(settle()).rejects.toThrow("killed");
    await world.live().settle();
    const sent = world.sent.map(({ bytes }): Entry[] => JSON.parse(Buffer.from(bytes ?? "").toString()));
    expect(sent[1]).toEqual(sent[0]);
    expect(sent[0]?.length).toBeLessThanOrEqual(1_000);
    const others = sent.slice(1).flatMap((part) => part.map(({ action }) => action));
    expect(others.sort()).toEqual(world.log.map(({ action }) => action).sort());
  });

  it("whose record conflicts with an edit sends nothing twice", async () => {
    const world = open({ destination: { logPipelineRef: { name: "logs" } } }, { others: [pipeline, secret] });
    const { settle, skip } = world.live();
    await settle();
    world.log.push(entry(BEGIN + 1000, "one"), entry(BEGIN + 2000, "two"));
    skip(2 * MINUTE);
    let conflicts = 0;
    world.api.beforeEach(({ method, path }) => {
      if (method !== "PATCH" || !path.endsWith("/status") || world.sent.length === 0 || conflicts > 1) return;
      conflicts += 1;
      throw new KubeError({ status: 409, reason: "Conflict", message: "the object has been modified" });
    });
    for (let turn = 0; turn < 3; turn++) await settle().catch(() => {});
    expect(conflicts).toBe(2);
    expect(world.sent).toHaveLength(1);
    expect(world.status()).toMatchObject({ entriesDelivered: 2 });
    world.log.push(entry(BEGIN + 3 * MINUTE, "three"));
    skip(4 * MINUTE);
    await settle();
    expect(world.sent).toHaveLength(2);
    expect(world.status()).toMatchObject({ entriesDelivered: 3 });
  });

  it("says what to add where that has no log with protocol http", async () => {
    const tcp = { ...pipeline, spec: { logs: [{ tag: "syslog", protocol: "tcp" }] } };
    const world = open({ destination: { logPipelineRef: { name: "logs" } } }, { others: [tcp, secret] });
    await world.live().pass();
    expect(world.ready()).toMatchObject({ reason: "InvalidSpec", message: expect.stringContaining("protocol http") });
  });
});
