import { describe, expect, it } from "vitest";
import { newAuthority, validFor } from "../../../src/simulator/certificates.ts";
import { objectOf, readyCondition } from "../../engine/support/fixtures.ts";
import { BEGIN } from "../../engine/support/stage.ts";
import { bucket, entry, MINUTE, open } from "./export-world.ts";

const secretOf = (name: string, values: Record<string, string>) =>
  objectOf("Secret", name, {
    apiVersion: "v1",
    data: Object.fromEntries(
      Object.entries(values).map(([key, value]) => [key, Buffer.from(value).toString("base64")]),
    ),
  });
const owner = (kind: string, name: string, spec: object, secretName?: string) =>
  objectOf(kind, name, {
    spec,
    status: {
      id: name,
      account: "shop/main",
      parents: { cluster: "c1" },
      ...(secretName && { secretName }),
      conditions: [readyCondition()],
    },
  });

const pipeline = owner("LogPipeline", "logs", { logs: [{ tag: "audit", protocol: "http" }] }, "pipeline");
const topic = owner("KafkaTopic", "audit", { name: "audit" });
const user = owner("KafkaUser", "admin", {}, "user");

/** Each destination with its Secret, whose values are as they should be. */
async function destinations() {
  const { certificate, privateKey } = await newAuthority("Test", validFor(BEGIN, 10));
  return {
    bucket: {
      destination: { bucket },
      others: [],
      secret: { name: "s3", values: { accessKey: "ACCESS", secretKey: "SECRET" } },
    },
    pipeline: {
      destination: { logPipelineRef: { name: "logs" } },
      others: [pipeline],
      secret: { name: "pipeline", values: { httpAddress: "https://in.example.com/p1", key: "SECRET" } },
    },
    kafka: {
      destination: { kafkaTopicRef: { name: "audit" }, kafkaUserRef: { name: "admin" } },
      others: [topic, user],
      secret: {
        name: "user",
        values: {
          "bootstrap.servers": "192.168.1.101:9093",
          "ca.crt": certificate,
          "tls.crt": certificate,
          "tls.key": privateKey,
        },
      },
    },
  };
}

type Values = Record<string, string>;

async function exportTo(name: "bucket" | "pipeline" | "kafka", changed: Values = {}) {
  const { destination, others, secret } = (await destinations())[name];
  const values: Values = { ...secret.values, ...changed };
  const world = open({ destination }, { others: [...others, secretOf(secret.name, values)] });
  return { world, secret };
}

describe("a value in the Secret of a destination", () => {
  it.each(["bucket", "pipeline", "kafka"] as const)("is taken if it is well-formed: %s", async (name) => {
    const { world } = await exportTo(name);
    await world.live().settle();
    expect(world.ready()).toMatchObject({ status: "True", reason: "Available" });
  });

  it.each([
    ["bucket", "accessKey", "HIDDEN\nline2"],
    ["bucket", "accessKey", "HIDDEN\r\nline2"],
    ["bucket", "accessKey", "HIDDEN\0"],
    ["bucket", "accessKey", "HIDDEN\u202ekey"],
    ["bucket", "accessKey", ""],
    ["bucket", "secretKey", "HIDDEN\u0007"],
    ["pipeline", "key", "HIDDEN\nline2"],
    ["pipeline", "key", "HIDDEN\u202e"],
    ["pipeline", "httpAddress", "https://in.example.com/\nHIDDEN"],
    ["kafka", "bootstrap.servers", "HIDDEN\n:9093"],
    ["kafka", "ca.crt", "HIDDEN"],
    ["kafka", "tls.crt", "-----BEGIN CERTIFICATE-----\nHIDDEN\n-----END CERTIFICATE-----"],
    ["kafka", "tls.key", "-----BEGIN PRIVATE KEY-----\nHIDDEN\n-----END PRIVATE KEY-----"],
  ] as const)("is refused and never shown if it is not: %s, %s %j", async (name, key, value) => {
    const { world, secret } = await exportTo(name, { [key]: value });
    world.log.push(entry(BEGIN + 1000, "one"));
    const { pass, skip } = world.live();
    for (let nth = 0; nth < 3; nth++) {
      await pass();
      skip(2 * MINUTE);
    }
    const { message } = world.ready();
    expect(world.ready()).toMatchObject({ status: "False", reason: "DestinationRefused" });
    expect(message).toContain(`Secret ${secret.name} `);
    expect(message).toContain(key);
    expect(JSON.stringify([world.status(), world.reported])).not.toContain("HIDDEN");
    expect(world.sent).toEqual([]);
  });

  it("that is corrected is used without another change", async () => {
    const { world, secret } = await exportTo("bucket", { accessKey: "HIDDEN\nline2" });
    const { pass, settle, skip } = world.live();
    expect(await pass()).toMatchObject({ inMs: expect.any(Number) });
    world.api.put(secretOf(secret.name, secret.values));
    skip(10 * MINUTE);
    await settle();
    expect(world.ready()).toMatchObject({ status: "True" });
  });
});
