import { createPrivateKey, X509Certificate } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { kafkaSecretFiles } from "../../kafka-secret-files.ts";
import { api, type Landscape, landscape } from "../landscape.ts";
import { kafkaTopic } from "../objects.ts";
import { type Sample, samples } from "../samples.ts";

let world: Landscape;
let objects: Sample[];
const ours = ["kafkacluster/stream", "kafkatopic/orders", "kafkatopic/audit", "kafkauser/stream"];
const addresses = "192.168.1.101:9093,192.168.1.102:9093,192.168.1.103:9093";

beforeAll(async () => {
  world = await landscape({
    bare: true,
    simulator: ["--speed", "60"],
    operator: ["--create-deadline", "3s", "--settle", "3s", "--retry", "1s", "--resync", "5s"],
  });
  objects = await samples("streaming.yaml", world.platform);
  await world.apply(...objects);
});

const value = (name: string, path: string) => world.value(name, `{.status.${path}}`);
const message = '{.status.conditions[?(@.type=="Ready")].message}';
const advice = z.array(z.string());
const events = async (name: string) => (await world.kubectl("events", "--for", name)).stdout;
const secret = z.looseObject({ metadata: z.looseObject({ uid: z.string() }), data: z.record(z.string(), z.string()) });

async function published(name: string): Promise<Record<string, Buffer>> {
  const { data } = secret.parse(await world.get(`secret/${name}`));
  return Object.fromEntries(Object.entries(data).map(([file, text]) => [file, Buffer.from(text, "base64")]));
}

/** The client certificate in a Secret. It is signed by the CA there, and its key is beside it. */
async function certificateIn(name: string): Promise<X509Certificate> {
  const { "ca.crt": ca = "", "tls.crt": own = "", "tls.key": key = "" } = await published(name);
  const certificate = new X509Certificate(own);
  expect(certificate.verify(new X509Certificate(ca).publicKey)).toBe(true);
  expect(certificate.checkPrivateKey(createPrivateKey(key))).toBe(true);
  return certificate;
}

describe("event streaming of deploy/samples, applied at once", () => {
  it("becomes Ready", async () => {
    await world.untilReady(...ours);
    expect(await value("kafkacluster/stream", "bootstrapServers")).toBe(addresses);
    expect(await value("kafkatopic/orders", "numberOfPartitions")).toBe("6");
    expect(await value("kafkatopic/orders", "advice")).toBe("");
  });

  it("gives clients all they need in one Secret", async () => {
    const files = await published("stream-kafkauser");
    expect(Object.keys(files).sort()).toEqual(kafkaSecretFiles);
    expect(files["bootstrap.servers"]?.toString()).toBe(addresses);
    const certificate = await certificateIn("stream-kafkauser");
    expect(await value("kafkauser/stream", "secretName")).toBe("stream-kafkauser");
    expect(await value("kafkauser/stream", "certificate.serial")).toBe(certificate.serialNumber);
    expect(await value("kafkauser/stream", "certificate.fingerprint")).toBe(certificate.fingerprint256);
    const expiry = await world.operator.metric("mooring_certificate_expiry_timestamp_seconds", 'name="stream"');
    expect(expiry).toBe(certificate.validToDate.getTime() / 1000);
  });

  it("lets any number of objects have the certificate of the same user", async () => {
    const spec = { clusterRef: { name: "stream" }, user: "admin", secretName: "reports-access" };
    await world.apply({ apiVersion: api, kind: "KafkaUser", metadata: { name: "reports" }, spec });
    await world.untilReady("kafkauser/reports");
    expect(await value("kafkauser/reports", "id")).toBe(await value("kafkauser/stream", "id"));
    await certificateIn("reports-access");
    await world.remove("kafkauser/reports");
    await world.untilReady("kafkauser/stream");
  });

  it("gives access to another cluster where replacement is allowed, and leaves the user of the first as it is", async () => {
    const { spec } = z
      .looseObject({ spec: z.looseObject({}) })
      .parse(objects.find(({ kind }) => kind === "KafkaCluster"));
    const user = (cluster: string) => ({
      apiVersion: api,
      kind: "KafkaUser",
      metadata: { name: "mover" },
      spec: { clusterRef: { name: cluster }, replacePolicy: "WhenNeeded" },
    });
    await world.apply({ apiVersion: api, kind: "KafkaCluster", metadata: { name: "second" }, spec }, user("stream"));
    await world.untilReady("kafkacluster/second", "kafkauser/mover");
    const before = await certificateIn("mover-kafkauser");
    await world.apply(user("second"));
    const second = await value("kafkacluster/second", "id");
    await expect.poll(() => value("kafkauser/mover", "parents.cluster")).toBe(second);
    await world.untilReady("kafkauser/mover", "kafkauser/stream");
    const after = await certificateIn("mover-kafkauser");
    expect(after.serialNumber).not.toBe(before.serialNumber);
    expect(after.issuer).toContain(second);
    await world.remove("kafkauser/mover", "kafkacluster/second");
  });

  it("has no access for a user that the cluster does not know", async () => {
    const spec = { clusterRef: { name: "stream" }, user: "nobody" };
    await world.apply({ apiVersion: api, kind: "KafkaUser", metadata: { name: "nobody" }, spec });
    await world.untilReason("kafkauser/nobody", "NotAdoptable");
    await world.remove("kafkauser/nobody");
  });

  it("lets an export of the activity log say which of its brokers is not allowed", async () => {
    const destination = { kafkaTopicRef: { name: "audit" }, kafkaUserRef: { name: "stream" } };
    const from = new Date(Date.now() - 3_600_000).toISOString();
    const spec = { destination, from };
    await world.apply({ apiVersion: api, kind: "ActivityLogExport", metadata: { name: "audit" }, spec });
    await world.platform.call("POST", "/_simulator/advance", { seconds: 120 });
    await expect
      .poll(() => world.value("activitylogexport/audit", message))
      .toContain("the broker 192.168.1.101:9093 is not allowed here");
    await world.remove("activitylogexport/audit");
  });

  it("brings a deleted Secret back at once", async () => {
    await world.remove("secret/stream-kafkauser");
    await expect.poll(() => world.value("secret/stream-kafkauser", "{.kind}")).toBe("Secret");
    await certificateIn("stream-kafkauser");
  });
});

describe("a topic that three brokers cannot share evenly", () => {
  beforeAll(async () => {
    await world.apply(kafkaTopic("uneven", { numberOfPartitions: 4, replicationFactor: 2 }));
    await world.untilReady("kafkatopic/uneven");
  });

  it("is made, with advice in its status and as an Event", async () => {
    const said = advice.parse(JSON.parse(await value("kafkatopic/uneven", "advice")));
    expect(said).toEqual([
      expect.stringContaining("numberOfPartitions 4 is not a multiple of three"),
      expect.stringContaining("replicationFactor 2 is not 3"),
    ]);
    await expect.poll(() => events("kafkatopic/uneven")).toMatch(/Warning\s+Advice\s.*not a multiple of three/);
  });

  it("is not replaced by an even one before the loss of its data is allowed, in words that speak of keys", async () => {
    const id = await value("kafkatopic/uneven", "id");
    const even = { numberOfPartitions: 6, replicationFactor: 3 };
    await expect(world.apply(kafkaTopic("uneven", even))).rejects.toThrow("keys map to other partitions");
    await world.apply(kafkaTopic("uneven", { ...even, replacePolicy: "WhenNeeded" }));
    await world.untilReason("kafkatopic/uneven", "DataLossNotAllowed");
    const refusal = await world.value("kafkatopic/uneven", message);
    expect(refusal).toContain("keys map to other partitions");
    expect(refusal).toContain("mooring.dev/allow-data-loss");
    expect(await value("kafkatopic/uneven", "id")).toBe(id);

    await world.annotate("kafkatopic/uneven", "mooring.dev/allow-data-loss=true");
    await expect.poll(() => value("kafkatopic/uneven", "numberOfPartitions")).toBe("6");
    await world.untilReady("kafkatopic/uneven");
    expect(await value("kafkatopic/uneven", "advice")).toBe("");
  });
});

it("a topic that was made without retention is taken over with the defaults in spec, without drift", async () => {
  const cluster = await value("kafkacluster/stream", "id");
  const made = await world.platform.call("POST", `/streaming/de-txl/clusters/${cluster}/topics`, {
    properties: { name: "silent", replicationFactor: 3, numberOfPartitions: 3 },
  });
  const { id: externalId } = z.looseObject({ id: z.string() }).parse(made);
  const logRetention = { retentionTime: 604_800_000, segmentBytes: 1_073_741_824 };
  await world.apply(kafkaTopic("silent", { externalId, numberOfPartitions: 3, replicationFactor: 3, logRetention }));
  await world.untilReady("kafkatopic/silent");
  expect(await value("kafkatopic/silent", "id")).toBe(externalId);
  expect(JSON.parse(await value("kafkatopic/silent", "logRetention"))).toEqual(logRetention);
  expect(await value("kafkatopic/silent", "drift")).toBe("");
  await world.remove("kafkatopic/silent");
});

describe("as time goes by", () => {
  it("the certificate is renewed before it expires, all files of the Secret at once", async () => {
    const before = await certificateIn("stream-kafkauser");
    const { "store.password": password } = await published("stream-kafkauser");
    await world.platform.call("POST", "/_simulator/advance", { seconds: 300 * 86_400 });
    await expect.poll(() => value("kafkauser/stream", "certificate.serial")).not.toBe(before.serialNumber);
    const after = await certificateIn("stream-kafkauser");
    expect(after.validToDate.getTime()).toBeGreaterThan(before.validToDate.getTime());
    expect(await value("kafkauser/stream", "certificate.serial")).toBe(after.serialNumber);
    expect((await published("stream-kafkauser"))["store.password"]).toEqual(password);
    await expect.poll(() => events("kafkauser/stream")).toContain(`certificate ${after.serialNumber} is in Secret`);
    await world.untilReady(...ours);
  });

  it("a topic that was kept keeps its cluster when everything is deleted, until somebody lets it go", async () => {
    await world.apply(kafkaTopic("ledger", { replicationFactor: 3, numberOfPartitions: 3, deletionPolicy: "Retain" }));
    await world.untilReady("kafkatopic/ledger");
    const id = await value("kafkatopic/ledger", "id");
    await world.remove("kafkatopic/uneven");
    await world.askToRemove(...ours, "kafkatopic/ledger");
    for (const gone of ["kafkatopic/ledger", ...ours.slice(1)]) await world.untilGone(gone);
    await world.untilReason("kafkacluster/stream", "NotEmpty");
    const refusal = await world.value("kafkacluster/stream", message);
    expect(refusal).toMatch(
      /^KafkaCluster still holds topic ledger\. To keep all .*, set deletionPolicy: Retain \(with externalId: .*\)\. To delete it, /,
    );
    expect(refusal).toContain("mooring.dev/allow-non-empty-delete");
    expect(await world.platform.resources("streamingTopics")).toMatchObject([{ id, state: "AVAILABLE" }]);
    await world.annotate("kafkacluster/stream", "mooring.dev/allow-non-empty-delete=true");
    await world.untilGone("kafkacluster/stream");
    expect(await world.platform.resources("streamingTopics")).toEqual([]);
    await world.apply(...objects);
    await world.untilReady(...ours);
  });

  it("everything disappears with one kubectl delete", async () => {
    await world.remove(...objects);
    // Cluster-scoped objects may belong to other tests.
    const { stdout } = await world.kubectl("get", "mooring", "-o", "name");
    expect(stdout.split("\n").filter((name) => name !== "" && !name.startsWith("clusteraccount."))).toEqual([]);
    expect(await world.platform.made()).toEqual({});
  });
});
