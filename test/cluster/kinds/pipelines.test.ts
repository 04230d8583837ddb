import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { metricPipeline as kind } from "../../../src/kinds/observability/metric-pipeline.ts";
import { api, type Landscape, landscape } from "../landscape.ts";
import { centralLogging, logPipeline, metricPipeline } from "../objects.ts";

let world: Landscape;
const main = { accountRef: { name: "main" } };

beforeAll(async () => {
  world = await landscape({
    operator: ["--resync", "2s", "--retry", "1s", "--create-deadline", "3s", "--settle", "3s", "--log-level", "debug"],
  });
});

const secretShape = z.object({
  metadata: z.object({ labels: z.record(z.string(), z.string()), annotations: z.record(z.string(), z.string()) }),
  data: z.record(z.string(), z.string()),
});
const plain = (text: string) => Buffer.from(text, "base64").toString();

/** Every key that a read of a Secret has shown. */
const keys = new Set<string>();

async function read(name: string) {
  const { metadata, data } = secretShape.parse(await world.get(`secret/${name}`));
  const values = Object.fromEntries(Object.entries(data).map(([each, value]) => [each, plain(value)]));
  if (values.key !== undefined) keys.add(values.key);
  return { ...metadata, values };
}

async function post(url: string, key = "", type = "", body = ""): Promise<number> {
  return (await fetch(url, { method: "POST", headers: { apikey: key, "content-type": type }, body })).status;
}
const push = ({ endpoint = "", key }: Record<string, string>, line = "alive 1") =>
  post(endpoint, key, "text/plain", `${line}\n`);
const ship = ({ httpAddress, key }: Record<string, string>, record: object) =>
  post(`${httpAddress}/app`, key, "application/json", JSON.stringify(record));

const message = '{.status.conditions[?(@.type=="Ready")].message}';
const keyVersion = (name: string) => world.value(name, "{.status.key.version}");

describe("the Secret of a pipeline", () => {
  it("lets a workload push metrics, and the sample is read back equal", async () => {
    await world.apply(metricPipeline("web", main));
    await world.untilReady("metricpipeline/web");
    const { values } = await read("web-metricpipeline");
    expect(await push(values, 'temperature{room="kitchen"} 21.5')).toBe(204);
    const id = await world.value("metricpipeline/web", "{.status.id}");
    expect(await world.platform.call("GET", `/_simulator/samples?pipeline=${id}&name=temperature`)).toMatchObject({
      items: [{ labels: { __name__: "temperature", room: "kitchen" }, samples: [{ value: 21.5 }] }],
    });
    const item = await world.platform.call("GET", `/monitoring/de-txl/pipelines/${id}`);
    const promised = kind.resource?.desire(main).publication({ name: "web" });
    expect(values).toEqual(promised?.data(item, values.key ?? "", () => ""));
  });

  it("lets a workload ship logs, and the line is read back equal", async () => {
    await world.apply(logPipeline("web", { ...main, secretName: "log-access" }));
    await world.untilReady("logpipeline/web");
    const { values } = await read("log-access");
    expect(await ship(values, { message: "the kettle is on" })).toBe(204);
    const id = await world.value("logpipeline/web", "{.status.id}");
    expect(await world.platform.call("GET", `/_simulator/lines?pipeline=${id}`)).toMatchObject({
      items: [{ tag: "app", record: { message: "the kettle is on" } }],
    });
  });

  it("is taken over with its labels, which a later change does not remove", async () => {
    const logs = [{ source: "generic", tag: "app", protocol: "http", labels: ["team"], retentionInDays: 7 }];
    const all = "/logging/de-txl/pipelines";
    const made = await world.platform.call("POST", all, { properties: { name: "theirs", logs } });
    const { id: externalId } = z.looseObject({ id: z.string() }).parse(made);
    await world.apply(logPipeline("theirs", { ...main, externalId, name: "theirs" }));
    await world.untilReady("logpipeline/theirs");
    await world.patch("logpipeline/theirs", {
      spec: { logs: [{ source: "generic", tag: "app", protocol: "http", retentionInDays: 30 }] },
    });
    await world.untilReady("logpipeline/theirs");
    const seen = await world.platform.call("GET", `${all}/${externalId}`);
    expect(seen).toMatchObject({ properties: { logs: [{ tag: "app", retentionInDays: 30, labels: ["team"] }] } });
  });

  it("shows in status which key it holds, and never the key", async () => {
    const { values, labels } = await read("web-metricpipeline");
    expect(labels).toMatchObject({ "mooring.dev/key-version": "1", "app.kubernetes.io/managed-by": "mooring" });
    const shown = z.object({ version: z.literal(1), issuedAt: z.iso.datetime(), fingerprint: z.string().length(12) });
    const reported = JSON.parse(await world.value("metricpipeline/web", "{.status.key}"));
    expect(shown.strict().parse(reported)).toEqual(reported);
    expect(values.key).not.toContain(reported.fingerprint);
  });
});

describe("a Secret that somebody changes", () => {
  const secret = "secret/web-metricpipeline";
  const label = "{.metadata.labels.app\\.kubernetes\\.io/managed-by}";
  const note = "{.metadata.annotations.mooring\\.dev/published}";

  it("keeps its key, and gets its labels and its note back", async () => {
    const { values } = await read("web-metricpipeline");
    await world.kubectl("label", secret, "app.kubernetes.io/managed-by=somebody", "--overwrite");
    await expect.poll(() => world.value(secret, label)).toBe("mooring");
    await world.annotate(secret, "mooring.dev/published-");
    await expect.poll(() => world.value(secret, note)).toContain("signature");
    await world.kubectl("label", secret, "app.kubernetes.io/managed-by-", "mooring.dev/key-version=9", "--overwrite");
    await expect.poll(async () => (await read("web-metricpipeline")).labels["mooring.dev/key-version"]).toBe("1");
    expect((await read("web-metricpipeline")).values).toEqual(values);
    expect(await push(values)).toBe(204);
    expect(await keyVersion("metricpipeline/web")).toBe("1");
    await world.untilReady("metricpipeline/web");
  });

  it("gets everything else back that was edited, with the same key", async () => {
    const { values } = await read("web-metricpipeline");
    const edited = JSON.stringify({
      stringData: { endpoint: "http://elsewhere.test" },
      data: { "prometheus.yaml": null },
    });
    await world.kubectl("patch", secret, "--type=merge", "-p", edited);
    await expect.poll(async () => (await read("web-metricpipeline")).values).toEqual(values);
    expect(await keyVersion("metricpipeline/web")).toBe("1");
  });
});

describe("a new key", () => {
  it.each([
    ["metricpipeline/web", "web-metricpipeline", push],
    ["logpipeline/web", "log-access", (values: Record<string, string>) => ship(values, { message: "still here" })],
  ] as const)(
    "is made when the annotation of %s asks for it, and works where the old one stops",
    async (name, secret, send) => {
      const { values: before } = await read(secret);
      await world.annotate(name, "mooring.dev/rotate-at=now");
      await expect.poll(() => keyVersion(name)).toBe("2");
      await world.untilReady(name);
      const { values: after, labels } = await read(secret);
      expect([await send(before), await send(after)]).toEqual([401, 204]);
      expect(labels).toMatchObject({ "mooring.dev/key-version": "2" });
      await expect
        .poll(() => world.describe(name))
        .toMatch(/Normal\s+KeyIssued\s.*key 2 is in Secret .*; the previous key no longer works/);
      expect(Object.values(after).filter((file) => file.includes(before.key ?? ""))).toEqual([]);
    },
  );

  it("is made when somebody edits the one in the Secret, once, and an Event says why", async () => {
    const name = "metricpipeline/web";
    const { values: before } = await read("web-metricpipeline");
    const edited = JSON.stringify({ stringData: { key: "somebody-else" } });
    await world.kubectl("patch", "secret", "web-metricpipeline", "--type=merge", "-p", edited);
    await expect.poll(() => keyVersion(name)).toBe("3");
    await world.untilReady(name);
    const { values: after } = await read("web-metricpipeline");
    expect([await push(before), await push(after)]).toEqual([401, 204]);
    await expect
      .poll(() => world.describe(name))
      .toMatch(/Warning\s+SecretChanged\s.*Secret web-metricpipeline was changed: .*key.*; a new key was created/);
  });

  it("is made when somebody deletes the Secret, for nobody can read the old one again", async () => {
    const { values: before } = await read("web-metricpipeline");
    await world.remove("secret/web-metricpipeline");
    await expect.poll(() => keyVersion("metricpipeline/web")).toBe("4");
    await world.untilReady("metricpipeline/web");
    const { values: after } = await read("web-metricpipeline");
    expect([await push(before), await push(after)]).toEqual([401, 204]);
  });

  it("comes with the pipeline that takes the place of one that was removed behind its back", async () => {
    const id = await world.value("metricpipeline/web", "{.status.id}");
    await world.platform.call("DELETE", `/monitoring/de-txl/pipelines/${id}`);
    await expect.poll(() => world.value("metricpipeline/web", "{.status.id}")).not.toBe(id);
    await world.untilReady("metricpipeline/web");
    const { values, labels } = await read("web-metricpipeline");
    expect(await push(values)).toBe(204);
    expect(labels).toMatchObject({ "mooring.dev/key-version": "5" });
  });
});

describe("an obstacle is reported with what to do", () => {
  it("a Secret of somebody else: nothing is made until it is gone, and it is not touched", async () => {
    const theirs = { apiVersion: "v1", kind: "Secret", metadata: { name: "theirs" }, stringData: { key: "theirs" } };
    await world.apply(theirs, metricPipeline("unlucky", { ...main, secretName: "theirs" }));
    await world.untilReason("metricpipeline/unlucky", "SecretNotOwned");
    expect(await world.value("metricpipeline/unlucky", message)).toContain("change spec.secretName");
    const made = async () =>
      (await world.platform.resources("metricPipelines")).map(({ properties }) => properties?.name);
    expect(await made()).not.toContain("unlucky");
    expect(plain(await world.value("secret/theirs", "{.data.key}"))).toBe("theirs");
    await world.remove(theirs);
    await world.untilReady("metricpipeline/unlucky");
    expect(await push((await read("theirs")).values)).toBe(204);
  });

  it("a privilege that the user lacks is named", async () => {
    const user = { username: "poor@example.com", password: "secret-1", privileges: [] };
    const { token } = z
      .object({ token: z.string() })
      .parse(await world.platform.call("POST", "/_simulator/users", user));
    const spec = JSON.parse(await world.value("account/main", "{.spec}"));
    await world.apply(
      { apiVersion: "v1", kind: "Secret", metadata: { name: "poor-token" }, stringData: { token } },
      {
        apiVersion: api,
        kind: "Account",
        metadata: { name: "poor" },
        spec: { ...spec, credentialsSecretRef: { name: "poor-token" } },
      },
    );
    const poor = { accountRef: { name: "poor" } };
    await world.apply(metricPipeline("denied", poor), logPipeline("denied", poor), centralLogging("denied", poor));
    for (const [kind, privilege] of [
      ["metricpipeline", "Access and manage Monitoring"],
      ["logpipeline", "Access and manage Logging Service"],
      ["centrallogging", "Access and manage Logging Service"],
    ]) {
      await world.untilReason(`${kind}/denied`, "Forbidden");
      expect(await world.value(`${kind}/denied`, message)).toContain(privilege);
    }
    await world.remove(metricPipeline("denied"), logPipeline("denied"), centralLogging("denied"));
  });
});

describe("central logging", () => {
  const enabled = async () => (await world.platform.resources("centrals")).map(({ properties }) => properties?.enabled);

  it("is switched on and off with spec", async () => {
    await world.apply(centralLogging("first", main));
    await world.untilReady("centrallogging/first");
    expect(await enabled()).toEqual([true]);
    expect(await world.value("centrallogging/first", "{.status.before}")).toBe("false");
  });

  it("cannot have two objects in one place: the second is refused with the name of the first", async () => {
    await world.apply(centralLogging("second", { ...main, enabled: false }));
    await world.untilReason("centrallogging/second", "OnlyOne");
    expect(await world.value("centrallogging/second", message)).toContain(`CentralLogging/${world.namespace}/first`);
    expect(await enabled()).toEqual([true]);
  });

  it("is what it was before once its object is deleted, and the second one has its turn", async () => {
    await world.remove(centralLogging("first"));
    expect(await enabled()).toEqual([false]);
    await world.untilReady("centrallogging/second");
    await world.remove(centralLogging("second"));
  });

  it("stays as it is with deletionPolicy Retain", async () => {
    await world.apply(centralLogging("third", { ...main, deletionPolicy: "Retain" }));
    await world.untilReady("centrallogging/third");
    await world.remove(centralLogging("third"));
    expect(await enabled()).toEqual([true]);
  });

  it("is only shown to an object that observes it", async () => {
    const spec = { ...main, managementPolicy: "Observe", enabled: false };
    await world.apply(centralLogging("watching", spec));
    await world.untilReason("centrallogging/watching", "Observed");
    expect(await world.value("centrallogging/watching", "{.status.enabled} {.status.drift[0].field}")).toBe(
      "true enabled",
    );
    await world.remove(centralLogging("watching"));
    expect(await enabled()).toEqual([true]);
  });
});

it("no key of this whole run is in a log, an Event, an object, a metric or a printed line", async () => {
  await world.remove(metricPipeline("web"), logPipeline("web"), metricPipeline("unlucky"));
  expect(keys.size).toBeGreaterThanOrEqual(8);
  const reported = {
    log: world.operator.log(),
    metrics: await world.operator.metrics(),
    simulator: world.printed(),
    events: (await world.kubectl("get", "events", "-o", "yaml")).stdout,
    objects: (await world.kubectl("get", "mooring", "-o", "yaml", "--show-managed-fields")).stdout,
    state: JSON.stringify(await world.platform.call("GET", "/_simulator/state")),
  };
  expect(reported.log).toContain("platform write");
  expect(reported.events).toContain("KeyIssued");
  for (const key of keys) {
    for (const form of [key, Buffer.from(key).toString("base64")]) {
      const leaks = Object.entries(reported).filter(([, text]) => text.includes(form));
      expect(leaks.map(([where]) => where)).toEqual([]);
    }
  }
});
