import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { toKafka } from "../../src/platform/export/kafka.ts";
import { authoritySchema, clientCertificate, newAuthority, validFor } from "../../src/simulator/certificates.ts";
import { type Platform, resource, startPlatform } from "../simulator/platform.ts";
import { startProcess } from "../simulator/process.ts";
import { type Streaming, streamingOf } from "../simulator/streaming.ts";
import { asAdmin, consume, isAdmitted, type KafkaAccess, produce } from "./kafka-client.ts";

/** Brokers are slow on a busy machine. */
const patience = { timeout: 3 * 60_000 };

const oneDay = 86_400_000;
const records = 10_000;
const keys = 60;

let directory: string;
let platform: Platform;
let streaming: Streaming;
let cluster: string;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "kafka-"));
  await start();
  streaming = await streamingOf(platform);
  cluster = await streaming.cluster();
  await streaming.untilAvailable(cluster);
}, patience.timeout);
afterAll(async () => {
  await platform.close();
  rmSync(directory, { recursive: true, force: true });
});

async function start(): Promise<void> {
  platform = await startPlatform({ kafka: "real", brokers: 1, data: directory });
}

const brokersShape = z.array(z.string());
const metadataOf = async (path: string) => resource(await streaming.call("GET", path)).metadata;
const brokersOf = async (path: string) => brokersShape.parse((await metadataOf(path)).brokerAddresses);

/** The connection data of the brokers from the management API. */
async function access(path = cluster): Promise<Required<KafkaAccess>> {
  const { certificateAuthority, certificate, privateKey } = await streaming.access(path);
  return { brokers: await brokersOf(path), certificateAuthority, certificate, privateKey };
}

async function topic(properties: object): Promise<string> {
  const path = await streaming.topic(cluster, properties);
  await streaming.untilAvailable(path);
  return path;
}

/** Processes of brokers whose data is in a folder. */
const processesOf = (folder: string) =>
  readdirSync("/proc").filter((name) => {
    try {
      const line = /^\d+$/.test(name) ? readFileSync(`/proc/${name}/cmdline`, "utf8") : "";
      return line.includes(folder) && /^[^\0]*java\0/.test(line);
    } catch {
      return false;
    }
  });

describe("the brokers of a cluster", () => {
  it("are where the API says, on this machine", async () => {
    expect(await brokersOf(cluster)).toEqual([expect.stringMatching(/^127\.0\.0\.1:\d+$/)]);
    expect((await metadataOf(cluster)).message).toBeUndefined();
  });

  it("keep 10,000 records in the order of each key, for a Node client", patience, async () => {
    await topic({ name: "orders", numberOfPartitions: 6, replicationFactor: 1 });
    const sent = Array.from({ length: records }, (_, index) => ({ key: `key-${index % keys}`, value: String(index) }));
    await produce(await access(), "orders", sent);
    const seen = await consume(await access(), "orders", records);
    const ofKey = <T extends { key: string }>(all: T[]) => Map.groupBy(all, ({ key }) => key);
    const values = (all: { value: string }[] | undefined) => all?.map(({ value }) => value);
    for (const [key, messages] of ofKey(sent)) expect(values(ofKey(seen).get(key))).toEqual(values(messages));
    for (const messages of ofKey(seen).values()) expect(new Set(messages.map((each) => each.partition)).size).toBe(1);
    expect(new Set(seen.map(({ partition }) => partition)).size).toBe(6);
  });

  it(
    "take windows of the activity log by the ids of its entries, and tell what is delivered again",
    patience,
    async () => {
      await topic({ name: "audit", numberOfPartitions: 3, replicationFactor: 1 });
      const lines = Array.from({ length: 2_500 }, (_, nth) => ({ id: `id-${nth}`, time: nth, text: `{"nth":${nth}}` }));
      const window = { period: { from: 0, to: 60_000 }, total: lines.length, lines };
      const { brokers, certificateAuthority: ca, certificate, privateKey } = await access();
      const place = { brokers, topic: "audit", ca, certificate, privateKey };
      const allowed = toKafka({ ...place, isAllowed: () => true }, () => {});
      await allowed.deliver(window);
      await allowed.deliver({ ...window, lines: lines.slice(0, 500) });
      const seen = await consume(await access(), "audit", 3_000);
      const once = new Map(seen.map(({ key, value }) => [key, value]));
      expect([...once].sort()).toEqual(lines.map(({ id, text }) => [id, text]).sort());
      for (const [, same] of Map.groupBy(seen, ({ key }) => key)) {
        expect(new Set(same.map(({ partition }) => partition)).size).toBe(1);
      }
      const refused = toKafka({ ...place, isAllowed: () => false }, () => {});
      await expect(refused.deliver(window)).rejects.toThrow(`ask the administrator to allow https://${brokers[0]}`);
      const nowhere = toKafka({ ...place, topic: "nothing", isAllowed: () => true }, () => {});
      await expect(nowhere.deliver(window)).rejects.toThrow("PRODUCE nothing");
      const stale = toKafka({ ...place, isAllowed: () => true }, () => {
        throw new Error("not the leader");
      });
      await expect(stale.deliver(window)).rejects.toThrow("not the leader");
    },
  );

  it("keep 10,000 records in the order of each key, for librdkafka", patience, async () => {
    await topic({ name: "clicks", numberOfPartitions: 6 });
    const folder = import.meta.dirname;
    const python = execFileSync(join(folder, "setup-librdkafka"), { encoding: "utf8" }).trim();
    const { brokers, ...pems } = await access();
    const input = JSON.stringify({ ...pems, brokers: brokers.join(), topic: "clicks", records, keys });
    const output = execFileSync(python, [join(folder, "librdkafka.py")], { input, encoding: "utf8" });
    expect(JSON.parse(output)).toEqual({ undelivered: 0, seen: records, ordered: true, partitions: 6 });
  });

  it("accept a client with the certificate, and none without a valid one", patience, async () => {
    const own = await access();
    expect(await isAdmitted(own)).toBe(true);
    const { brokers, certificateAuthority } = own;
    expect(await isAdmitted({ brokers, certificateAuthority })).toBe(false);

    const foreign = await newAuthority("Somebody else", validFor(Date.now(), 10));
    const stranger = await clientCertificate(foreign, "admin", validFor(Date.now(), 10));
    expect(await isAdmitted({ ...own, ...stranger })).toBe(false);

    const expired = await clientCertificate(authorityOf(cluster), "admin", validFor(Date.now() - 20 * oneDay, 10));
    expect(await isAdmitted({ ...own, ...expired })).toBe(false);
    const valid = await clientCertificate(authorityOf(cluster), "admin", validFor(Date.now(), 10));
    expect(await isAdmitted({ ...own, ...valid })).toBe(true);
  });

  it("take the old and the new certificate after a renewal", patience, async () => {
    const before = await access();
    await platform.advance(200 * 86_400);
    const after = await access();
    expect(after.certificate).not.toBe(before.certificate);
    expect(await isAdmitted(before)).toBe(true);
    expect(await isAdmitted(after)).toBe(true);
  });
});

/** The certificate authority of a cluster with its key, which only the data directory has. */
function authorityOf(path: string) {
  const text = readdirSync(directory)
    .filter((name) => /^(snapshot|journal)/.test(name))
    .map((name) => readFileSync(join(directory, name), "utf8"))
    .join("\n");
  const [, document = ""] =
    new RegExp(`"streaming-authorities","key":"${path.split("/")[2]}","value":({[^}]*})`).exec(text) ?? [];
  return authoritySchema.parse(JSON.parse(document));
}

describe("a topic", () => {
  const names = async () => asAdmin(await access(), (admin) => admin.listTopics());

  it("has the partitions and the retention that the API was asked for, or the brokers' own", patience, async () => {
    const logRetention = { retentionTime: 3_600_000, segmentBytes: 1_048_576 };
    await topic({ name: "set", numberOfPartitions: 4, replicationFactor: 1, logRetention });
    await topic({ name: "unset" });
    const metadata = await asAdmin(await access(), (admin) => admin.metadata({ topics: ["set", "unset"] }));
    expect(metadata.topics.get("set")?.partitionsCount).toBe(4);
    expect(metadata.topics.get("unset")?.partitionsCount).toBe(1);
    const settings = async (name: string) => {
      const [described] = await asAdmin(await access(), (admin) =>
        admin.describeConfigs({ resources: [{ resourceType: 2, resourceName: name }] }),
      );
      return Object.fromEntries((described?.configs ?? []).map((each) => [each.name, each.value]));
    };
    expect(await settings("set")).toMatchObject({ "retention.ms": "3600000", "segment.bytes": "1048576" });
    expect(await settings("unset")).toMatchObject({ "retention.ms": "604800000", "segment.bytes": "1073741824" });
  });

  it("goes from the brokers with its deletion, and comes back empty under the same name", patience, async () => {
    const path = await topic({ name: "leaving" });
    await produce(await access(), "leaving", [{ key: "a", value: "old" }]);
    await expect.poll(names).toContain("leaving");
    await streaming.call("DELETE", path);
    await platform.advance(5);
    await expect.poll(async () => (await streaming.call("GET", path)).status).toBe(404);
    await expect.poll(names).not.toContain("leaving");
    await topic({ name: "leaving" });
    await produce(await access(), "leaving", [{ key: "a", value: "new" }]);
    expect(await consume(await access(), "leaving", 1)).toMatchObject([{ value: "new" }]);
  });

  it("is FAILED with the brokers' words when they refuse it", patience, async () => {
    const path = await streaming.topic(cluster, { name: "huge", numberOfPartitions: 100_000 });
    await expect.poll(() => streaming.state(path)).toBe("FAILED");
    expect((await metadataOf(path)).message).toContain("partitions");
    await streaming.call("DELETE", path);
  });

  it("is made by nobody but the API", patience, async () => {
    await expect(produce(await access(), "unknown", [{ key: "a", value: "b" }])).rejects.toThrow();
    expect(await names()).not.toContain("unknown");
  });
});

describe("a broker", () => {
  it("is started again when it dies, with all it had", patience, async () => {
    const before = await access();
    await topic({ name: "kept" });
    await produce(before, "kept", [{ key: "a", value: "survives" }]);
    const [pid] = processesOf(join(directory, "kafka-1"));
    process.kill(Number(pid), "SIGKILL");
    await expect.poll(() => isAdmitted(before)).toBe(true);
    expect(processesOf(join(directory, "kafka-1"))).not.toContain(pid);
    expect(await consume(before, "kept", 1)).toMatchObject([{ key: "a", value: "survives" }]);
  });

  it("goes on after a restart of the simulator, at the same address", patience, async () => {
    const before = await access();
    await platform.close();
    expect(processesOf(directory)).toEqual([]);
    await start();
    await expect.poll(() => isAdmitted(before)).toBe(true);
    expect(await consume(before, "kept", 1)).toMatchObject([{ value: "survives" }]);
  });

  it("serves the two oldest clusters; a third reports that, and is served later", patience, async () => {
    streaming = await streamingOf(platform);
    const second = await streaming.cluster({ name: "second" });
    const third = await streaming.cluster({ name: "third" });
    await streaming.untilAvailable(second);
    expect(await brokersOf(second)).toEqual([expect.stringContaining("127.0.0.1:")]);
    expect(await metadataOf(third)).toMatchObject({
      state: "AVAILABLE",
      message: expect.stringContaining("No broker runs for this cluster"),
      brokerAddresses: ["192.168.1.101:9093", "192.168.1.102:9093", "192.168.1.103:9093"],
    });
    const early = await streaming.topic(third, { name: "early" });
    await streaming.untilAvailable(early);
    await streaming.call("DELETE", second);
    await expect.poll(() => brokersOf(third)).toEqual([expect.stringContaining("127.0.0.1:")]);
    const opened = await access(third);
    const names = () => asAdmin(opened, (admin) => admin.listTopics()).catch(() => []);
    await expect.poll(names).toEqual(["early"]);
  });

  it(
    "cannot outlive the simulator, even when that is killed; there are three, and a topic has as many copies",
    patience,
    async () => {
      const data = join(directory, "killed");
      const child = startProcess(["--json", "--speed", "100", "--kafka", "real", "--data", data]);
      const other = await streamingOf(await child.platform());
      const path = await other.cluster();
      await other.untilAvailable(path);
      const brokers = brokersShape.parse(resource(await other.call("GET", path)).metadata.brokerAddresses);
      expect(brokers).toHaveLength(3);
      const replicated = await other.topic(path, { name: "replicated", replicationFactor: 3, numberOfPartitions: 3 });
      await other.untilAvailable(replicated);
      const opened = { brokers, ...(await other.access(path)) };
      const copies = await asAdmin(opened, async (admin) => {
        const { topics } = await admin.metadata({ topics: ["replicated"] });
        return topics.get("replicated")?.partitions.map(({ replicas }) => replicas.length);
      });
      expect(copies).toEqual([3, 3, 3]);
      expect(processesOf(data)).toHaveLength(3);
      child.kill("SIGKILL");
      await child.exit;
      await expect.poll(() => processesOf(data)).toEqual([]);
    },
  );
});
