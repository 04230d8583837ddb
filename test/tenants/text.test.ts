import { describe, expect, it } from "vitest";
import { type AccountDeps, reconcileAccount } from "../../src/controllers/accounts/reconcile.ts";
import { createTokenStore } from "../../src/controllers/accounts/token-store.ts";
import { readStatus } from "../../src/engine/status/status.ts";
import { account } from "../../src/kinds/identity/account.ts";
import { readOwned } from "../../src/kube/write/owned-secret.ts";
import { type Connection, createTransport } from "../../src/platform/calls/transport.ts";
import { resourceCollection } from "../../src/platform/products/resource-collection.ts";
import { accessOf } from "../certificates/issue.ts";
import { fakeApiServer } from "../engine/support/fake-api-server.ts";
import { fakePipelines } from "../engine/support/fake-pipelines.ts";
import { API } from "../engine/support/fake-platform.ts";
import { objectOf, scriptedConnection, tokens } from "../engine/support/fixtures.ts";
import { stage } from "../engine/support/stage.ts";
import { fakeClock } from "../fake-clock.ts";
import { answer, scriptedServer } from "../platform/scripted-server.ts";

/** A server in the platform's place that tries to run a program where the agent runs. */
const EXEC = "\n[INPUT]\n    Name exec\n    Command id\n#";

const A = "MetricPipeline/shop/a";
const SECRET = "a-metricpipeline";

/** A pipeline on a platform that can lie: `spoil` changes the text of each answer. */
function open() {
  const object = objectOf("MetricPipeline", "a", { spec: {} });
  const platform = fakePipelines();
  let spoil = (json: string) => json;
  const connection: Connection = {
    ...platform.connection,
    async send(call) {
      const reply = await platform.connection.send(call);
      return { ...reply, body: JSON.parse(spoil(JSON.stringify(reply.body))) };
    },
  };
  const api = fakeApiServer(object);
  const life = stage([object], { api, connection });
  let nonces = 0;
  life.deps.nonce = () => `unique-${++nonces}`;
  const status = () => readStatus(api.get(object) ?? object);
  const reason = () => status().conditions?.find(({ type }) => type === "Ready")?.reason;
  return {
    platform,
    status,
    reason,
    events: life.events,
    lie(next: typeof spoil) {
      spoil = next;
    },
    secret: async () => (await readOwned(life.deps.client, object, SECRET))?.data,
    /** Repeats passes and waits until the object shows one of these reasons. */
    async until(...wanted: string[]) {
      for (let round = 0; round < 200 && !wanted.includes(reason() ?? ""); round++) {
        life.sync();
        await life.passes(A);
        await life.clock.advance(10_000);
      }
      expect(wanted).toContain(reason());
    },
  };
}

const inJson = (text: string) => JSON.stringify(text).slice(1, -1);
const badEndpoint = (json: string) => json.replace("/in", () => inJson(`/in${EXEC}`));
const badKey = (json: string) => json.replace("the-secret-key", () => inJson(`the-secret-key${EXEC}`));

describe("an answer that would break out of an agent's configuration", () => {
  it.each([
    ["httpEndpoint", badEndpoint],
    ["key", badKey],
  ])("never reaches the Secret: status names %s, and a good answer mends it", async (field, lie) => {
    const world = open();
    world.lie(lie);
    await world.until("InvalidAnswer");
    expect(await world.secret()).toBeUndefined();
    const { conditions } = world.status();
    expect(conditions).toMatchObject([
      { type: "Ready", status: "False" },
      { type: "Stalled", status: "True", reason: "InvalidAnswer" },
    ]);
    expect(conditions?.[0]?.message).toContain(`${field} contains a line break`);
    expect(JSON.stringify([conditions, world.events])).not.toMatch(/exec|the-secret-key/);
    world.lie((json) => json);
    await world.until("Available");
    const files = await world.secret();
    expect(world.platform.isGood(files?.key)).toBe(true);
    expect(JSON.stringify(files)).not.toContain("exec");
    expect(files?.["fluent-bit.conf"]).toContain(`Authorization Bearer ${files?.key}`);
  });

  it("leaves the previous Secret unchanged", async () => {
    const world = open();
    await world.until("Available");
    const before = await world.secret();
    world.lie(badEndpoint);
    await world.until("InvalidAnswer");
    expect(await world.secret()).toEqual(before);
    expect(world.platform.isGood(before?.key)).toBe(true);
    world.lie((json) => json);
    await world.until("Available");
    expect(await world.secret()).toEqual(before);
  });

  it("nor does one of another form: the status names its field, and the Secret stays", async () => {
    const world = open();
    await world.until("Available");
    const before = await world.secret();
    world.lie((json) => json.replace(/"httpEndpoint":"[^"]*"/g, '"httpEndpoint":5'));
    await world.until("PlatformUnavailable");
    expect(world.status().conditions?.[0]?.message).toMatch(/invalid answer of the platform: metadata\.httpEndpoint: /);
    expect(await world.secret()).toEqual(before);
    world.lie((json) => json);
    await world.until("Available");
    expect(await world.secret()).toEqual(before);
  });

  it("reaches no Kafka client: the certificate is not published without a safe list of brokers", async () => {
    const object = objectOf("KafkaUser", "reader", {
      spec: { clusterId: "72e73b81-8551-4e74-b398-fc63b39994af" },
      status: { id: "u1", parents: { cluster: "c1" }, account: "shop/main", contract: 1 },
    });
    const { ca, certificate, privateKey } = await accessOf();
    const connection = scriptedConnection(({ url }) => {
      const user = { id: "u1", metadata: { state: "AVAILABLE" }, properties: { name: "admin" } };
      if (url.includes("/users?") || url.endsWith("/users")) return { items: [user] };
      if (url.endsWith("/access")) return { ...user, metadata: { certificateAuthority: ca, certificate, privateKey } };
      return { id: "c1", metadata: { brokerAddresses: ["a:9093\nsasl.jaas.config=evil"] }, properties: {} };
    });
    const life = stage([object], { connection });
    for (let round = 0; round < 3; round++) {
      await life.passes("KafkaUser/shop/reader");
      await life.clock.advance(1000);
    }
    expect(await readOwned(life.deps.client, object, "reader-kafkauser")).toBeUndefined();
    const { conditions } = readStatus(life.api.get(object) ?? object);
    expect(conditions?.[0]).toMatchObject({ status: "False", reason: "InvalidAnswer" });
    expect(conditions?.[0]?.message).toContain("brokerAddresses contains a line break");
  });
});

/** Values that would leave the path segment of an id, in several spellings. */
const strayIds = ["..", ".", "%2e%2e", "../../contracts", "a/b", "a\\b", "a%2Fb", "a\nb", ""];

describe("an id that is not of the platform's form", () => {
  it.each(["..", ".", "%2e%2E", "..%2F..%2Fcontracts", "a%2fb", "a%5Cb", "a\\b", "a\nb", "a%0Ab", "%00"])(
    "is in no path that is called: %j",
    async (part) => {
      await using server = await scriptedServer(answer(200, {}));
      const transport = createTransport({ clock: fakeClock(), random: () => 0 });
      const connection = transport.connect("shop/main", { token: "tok" });
      for (const path of [`/datacenters/${part}/servers?depth=1`, `/datacenters/${part}`]) {
        const sent = connection.send({ method: "DELETE", url: `${server.url}${path}` });
        await expect(sent).rejects.toMatchObject({ kind: "Terminal", executed: "no" });
      }
      expect(server.arrived).toEqual([]);
      await connection.send({ method: "GET", url: `${server.url}/a/b.c/72e73b81?filter.url=%2F..%2F` });
      expect(server.arrived).toHaveLength(1);
      await transport.close();
    },
  );

  it.each(strayIds)("%j in a list is no member", async (id) => {
    const connection = scriptedConnection(() => ({ items: [{ id }] }));
    const source = resourceCollection(connection, "https://api.example.com/datacenters", {
      query: {},
      isBusy: () => false,
      product: "core",
    });
    await expect(source.list(AbortSignal.timeout(1000), "normal")).rejects.toThrow(/items\.0\.id|platform's form/);
  });

  it.each(strayIds)("%j in the answer to a creation is never claimed", async (id) => {
    const world = open();
    world.lie((json) => json.replaceAll(/"mp-\d+"/g, () => JSON.stringify(id)));
    await world.until("PlatformUnavailable");
    expect(world.status().conditions?.[0]?.message).toContain("no id of the platform's form");
    expect(world.status().id).toBeUndefined();
    expect(new Set(world.platform.writes())).toEqual(new Set(["POST /pipelines"]));
  });
});

describe("a platform that says too much", () => {
  it("gets no more of it into the status of an Account than a contract has to say", async () => {
    const resourceLimits: Record<string, number> = { coresPerServer: 62, coresProvisioned: 7, "a\nb": 1 };
    for (let n = 0; n < 20_000; n++) resourceLimits[`limit${n}${"x".repeat(100)}`] = n;
    const properties = { contractNumber: 1, owner: `me\u001b[2J${"x".repeat(100_000)}`, resourceLimits };
    const connection = scriptedConnection(() => ({ items: [{ properties }] }));
    const object = objectOf("Account", "main", {
      spec: { endpoints: { api: API }, credentialsSecretRef: { name: "cred" } },
    });
    const { deps, api, objects } = stage([object], { connection });
    const all: AccountDeps = {
      ...deps,
      tokenStore: createTokenStore({ client: deps.client, clock: deps.clock, guard: () => {} }, "mooring-system"),
      home: "mooring-system",
      sites: { endpoints: {}, isAllowed: () => true },
      transport: { connect: () => connection, close: async () => {} },
      secrets: tokens,
      changed: () => {},
      clusterName: () => undefined,
      hasCleanup: () => false,
    };
    const key = "Account/shop/main";
    const check = () => reconcileAccount(all, key, { kind: account, object: objects.find(key)?.object ?? object });
    await check();
    const status = api.get(object)?.status;
    expect(status).toMatchObject({ contractNumber: 1, limits: { coresPerServer: 62 }, used: { coresProvisioned: 7 } });
    expect(JSON.stringify(status).length).toBeLessThan(50_000);
    expect(JSON.stringify(status)).not.toMatch(/\\u001b|\\n/);
    const writes = api.calls.length;
    await check();
    expect(api.calls.slice(writes)).toEqual([]);
  });
});
