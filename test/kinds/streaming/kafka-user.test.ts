import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { inspect } from "../../../src/certificates/inspect.ts";
import { kafkaUser } from "../../../src/kinds/streaming/kafka-user.ts";
import { items, type Platform, startPlatform } from "../../simulator/platform.ts";
import { streamingOf } from "../../simulator/streaming.ts";
import { inputs, mapped, nothing } from "../mapped.ts";

const mapping = mapped(kafkaUser);
const spec = { clusterRef: { name: "events" } };
const id = "72e73b81-8551-4e74-b398-fc63b39994af";
const user = (properties: object | null = { name: "admin" }) => ({ id, metadata: { state: "AVAILABLE" }, properties });
const isMeant = (change: object, item: unknown = user()) => mapping.desire({ ...spec, ...change }).isMeant(item);

function access() {
  const certificate = mapping.secret?.certificate;
  if (!certificate) throw new Error("a KafkaUser has no certificate");
  return certificate;
}

describe("the user that is meant", () => {
  it("is admin when spec says nothing", () => {
    expect([isMeant({}), isMeant({}, user({ name: "other" })), isMeant({}, user(null))]).toEqual([true, false, false]);
  });

  it("is the one of that name", () => {
    expect([isMeant({ user: "other" }), isMeant({ user: "other" }, user({ name: "other" }))]).toEqual([false, true]);
  });

  it("is the one of that id", () => {
    expect([isMeant({ userId: id }, user({ name: "other" })), isMeant({ userId: id.replace("7", "8") })]).toEqual([
      true,
      false,
    ]);
  });

  it("is always there, open to any number of objects, and as it is", () => {
    expect(mapping).toMatchObject({
      identity: { permanent: true, shared: true },
      destruction: { holdsData: false },
    });
    expect(mapping.desire(spec).compare(user(), inputs())).toEqual({ drift: [] });
    expect(mapping.comparison.facts(user(), nothing)).toEqual({ user: "admin" });
    expect(mapping.comparison.facts(user(null), nothing)).toEqual({});
    expect(kafkaUser.status.strict().parse(mapping.comparison.facts(user(), nothing))).toEqual({ user: "admin" });
  });
});

describe("the certificate", () => {
  const rotation = (change: object) => mapping.desire({ ...spec, ...change }).rotation();

  it("is renewed at two thirds of its life, or as long before it expires as spec sets", () => {
    expect(rotation({})).toEqual({});
    expect(rotation({ renewBefore: "720h" })).toEqual({ beforeEndSeconds: 720 * 3600 });
    expect(rotation({ renewBefore: "P30D" })).toEqual({ beforeEndSeconds: 30 * 86_400 });
  });

  it.each(["59m", "8737h", "P365D", "soon"])("cannot be renewed %s before its end", (renewBefore) => {
    expect(() => rotation({ renewBefore })).toThrow();
  });

  it("is read from the user, and the addresses from the cluster", () => {
    expect(access().paths("u/1", { cluster: "c-1" })).toEqual(["/clusters/c-1/users/u%2F1/access", "/clusters/c-1"]);
  });

  it.each([
    ["nothing", undefined],
    ["no certificate", { metadata: { certificateAuthority: "ca", privateKey: "key" } }],
    ["an empty key", { metadata: { certificateAuthority: "ca", certificate: "own", privateKey: "" } }],
  ])("is not there when the answer has %s", (_, answer) => {
    expect(access().read([answer, {}])).toBeUndefined();
  });
});

describe("the Secret", () => {
  const named = (change: object) => mapping.desire({ ...spec, ...change }).publication(inputs({ name: "reader" }));
  const bytes = Uint8Array.from([1, 2]);
  const whole = { ca: "CA", certificate: "OWN", privateKey: "KEY", keystore: bytes, truststore: bytes, password: "pw" };
  const home = { id: "c-1", metadata: { brokerAddresses: ["10.0.0.1:9093", "10.0.0.2:9093"] }, properties: {} };
  const data = access().data([user(), home], whole);

  it("is named after the object, unless spec says otherwise", () => {
    expect([named({})?.name, named({ secretName: "access" })?.name]).toEqual(["reader-kafkauser", "access"]);
  });

  it("holds the files as they are", () => {
    expect(data).toMatchObject({
      "ca.crt": "CA",
      "tls.crt": "OWN",
      "tls.key": "KEY",
      "keystore.p12": bytes,
      "truststore.p12": bytes,
      "store.password": "pw",
      "bootstrap.servers": "10.0.0.1:9093,10.0.0.2:9093",
    });
  });

  /** The settings in a properties file. */
  const settings = (file: unknown) =>
    Object.fromEntries(
      String(file)
        .split("\n")
        .filter((line) => line !== "" && !line.startsWith("#"))
        .map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]),
    );

  it("has settings for Java that trust the cluster's own CA and no host name", () => {
    expect(settings(data["client.properties"])).toEqual({
      "bootstrap.servers": "10.0.0.1:9093,10.0.0.2:9093",
      "security.protocol": "SSL",
      "ssl.keystore.type": "PKCS12",
      "ssl.keystore.location": "/etc/kafka-user/keystore.p12",
      "ssl.keystore.password": "pw",
      "ssl.key.password": "pw",
      "ssl.truststore.type": "PKCS12",
      "ssl.truststore.location": "/etc/kafka-user/truststore.p12",
      "ssl.truststore.password": "pw",
      "ssl.endpoint.identification.algorithm": "",
    });
  });

  it("has settings for librdkafka that do the same with PEM files", () => {
    expect(settings(data["librdkafka.properties"])).toEqual({
      "bootstrap.servers": "10.0.0.1:9093,10.0.0.2:9093",
      "security.protocol": "ssl",
      "ssl.ca.location": "/etc/kafka-user/ca.crt",
      "ssl.certificate.location": "/etc/kafka-user/tls.crt",
      "ssl.key.location": "/etc/kafka-user/tls.key",
      "ssl.endpoint.identification.algorithm": "none",
    });
  });
});

describe("on the platform", () => {
  let platform: Platform;
  beforeAll(async () => {
    platform = await startPlatform();
  });
  afterAll(() => platform.close());

  it("the one user of a cluster is meant, and its certificate can be published", async () => {
    const streaming = await streamingOf(platform);
    const path = await streaming.cluster();
    const parents = { cluster: path.split("/")[2] ?? "" };
    const [found] = items(await streaming.call("GET", mapping.place.collection(parents)));
    expect(isMeant({}, found)).toBe(true);
    const paths = access().paths(z.object({ id: z.string() }).parse(found).id, parents);
    const answers = await Promise.all(paths.map(async (each) => (await streaming.call("GET", each)).body));
    const pems = access().read(answers);
    if (!pems) throw new Error("the answers hold no certificate");
    expect(inspect(pems, Date.now())).toHaveProperty("facts.serial");
    const store = new Uint8Array();
    const data = access().data(answers, { ...pems, keystore: store, truststore: store, password: "pw" });
    expect(data["bootstrap.servers"]).toBe("192.168.1.101:9093,192.168.1.102:9093,192.168.1.103:9093");
  });
});
