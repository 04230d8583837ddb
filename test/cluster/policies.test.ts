import { beforeAll, describe, type ExpectStatic, expect, it } from "vitest";
import { z } from "zod";
import { kinds } from "../../src/kinds/index.ts";
import { type Ground, subjects } from "./kinds-under-test.ts";
import { api, type Landscape, landscape } from "./landscape.ts";
import { datacenter, kafkaCluster, lan, server, volume } from "./objects.ts";
import { type Trial, trial } from "./trial.ts";

let world: Landscape;
let ground: Ground;

const nics = ["found", "nobody", "watched", "kept", "paused", "fixed"].map((role) => `flowlog-${role}`);
const shown = z.array(z.looseObject({ id: z.string(), name: z.string() }));

beforeAll(async () => {
  world = await landscape({
    simulator: ["--speed", "60"],
    // Nothing is looked at by itself for as long as it rests.
    operator: ["--create-deadline", "3s", "--settle", "3s", "--retry", "1s", "--resync", "1h"],
  });
  await world.apply(
    datacenter("dc"),
    datacenter("other"),
    server("host", { nics: nics.map((name) => ({ name, lan: 1 })) }),
    volume("source"),
    volume("other-source"),
    lan("brokers"),
    kafkaCluster("stream"),
  );
  await world.untilReady("datacenter/dc", "datacenter/other", "server/host", "volume/source", "volume/other-source");
  await world.untilReady("lan/brokers", "kafkacluster/stream");
  const id = (name: string) => world.value(name, "{.status.id}");
  const found = shown.parse(JSON.parse(await world.value("server/host", "{.status.nics}")));
  ground = {
    datacenter: await id("datacenter/dc"),
    volume: await id("volume/source"),
    server: await id("server/host"),
    nics: Object.fromEntries(found.map((nic) => [nic.name, nic.id])),
    lan: await id("lan/brokers"),
    cluster: await id("kafkacluster/stream"),
  };
});

const none = { spec: {}, shows: {} };
const ready = '{.status.conditions[?(@.type=="Ready")].message}';
const containing = (shows: object) => [expect.objectContaining({ properties: expect.objectContaining(shows) })];

/** One promise, kept by these kinds. All of them at once: they wait for most of the time. */
function promise(title: string, keep: (kind: Trial, expect: ExpectStatic) => Promise<void>, kept = subjects): void {
  describe(title, () => {
    for (const subject of kept) {
      it.concurrent(subject.kind.kind, ({ expect }) => keep(trial(world, ground, subject, expect), expect));
    }
  });
}

it("every kind whose resources can be created is held to its promises", () => {
  const made = kinds.filter(({ resource }) => resource && !resource.permanent).map(({ kind }) => kind);
  expect(subjects.map(({ kind }) => kind.kind)).toEqual(made);
});

promise("adopts an existing resource, shows how it differs and then brings it in line", async (it, expect) => {
  const id = await it.strange("found");
  const { spec, shows } = it.change?.(it.name("found")) ?? it.fixedChange ?? none;
  await world.apply(it.manifest(it.name("found"), { externalId: id, ...spec }));
  if (it.change) await world.untilReady(it.ref("found"));
  else await world.untilReason(it.ref("found"), "Drifted");
  expect(await world.value(it.ref("found"), "{.status.id}")).toBe(id);
  if (it.change) expect(await it.there("found")).toEqual(containing(shows));
  const { stdout } = await world.kubectl("describe", it.word, it.name("found"));
  expect(stdout).toMatch(new RegExp(`Adopting.*differs in ${Object.keys(spec).join(", ")}`));
});

promise(
  "does not end the key of what it adopts, and tells the way to a new one",
  async (it, expect) => {
    expect(await it.there("found")).toEqual([expect.objectContaining({ keyVersion: 1 })]);
    expect(await world.value(it.ref("found"), "{.status.advice[0]}")).toContain("mooring.dev/rotate-at");
    expect(await world.value(it.ref("found"), "{.status.secretName}")).toBe("");
  },
  subjects.filter(({ kind }) => kind.resource.key),
);

promise("does not adopt what is not there, nor what belongs to another object", async (it, expect) => {
  const { noun, onePer } = it.kind.resource;
  await world.apply(it.manifest(it.name("nobody"), { externalId: it.nobody }));
  await world.untilReason(it.ref("nobody"), "NotAdoptable");
  expect(await world.value(it.ref("nobody"), ready)).toContain(`there is no ${noun} ${it.nobody}`);
  const id = await world.value(it.ref("found"), "{.status.id}");
  await world.apply(it.manifest(it.name("thief"), { ...it.place(it.name("found")), externalId: id }));
  await world.untilReason(it.ref("thief"), onePer === undefined ? "NotAdoptable" : "OnlyOne");
  expect(await world.value(it.ref("thief"), ready)).toContain(`${it.kind.kind}/${world.namespace}/${it.name("found")}`);
  await world.kubectl("delete", it.word, it.name("nobody"), it.name("thief"), "--timeout=60s");
  expect(await it.there("found")).toHaveLength(1);
});

promise(
  "observes: shows the resource with nothing but its identity in spec, and never touches it",
  async (it, expect) => {
    const id = await it.strange("watched");
    const place = it.place(it.name("watched"));
    const spec = { ...place, externalId: id, managementPolicy: "Observe", name: "another-name" };
    await world.apply({ apiVersion: api, kind: it.kind.kind, metadata: { name: it.name("watched") }, spec });
    await world.untilReason(it.ref("watched"), "Observed");
    expect(await world.value(it.ref("watched"), "{.status.drift[0].field}")).toBe("name");
    await world.kubectl("delete", it.word, it.name("watched"), "--timeout=60s");
    expect((await it.there("watched")).map((each) => each.id)).toEqual([id]);
    await it.erase("watched");
  },
);

promise("retains: the resource stays when the object goes", async (it, expect) => {
  await world.apply(it.manifest(it.name("kept"), { deletionPolicy: "Retain" }));
  await world.untilReady(it.ref("kept"));
  const id = await world.value(it.ref("kept"), "{.status.id}");
  await world.kubectl("delete", it.word, it.name("kept"), "--timeout=60s");
  expect((await it.there("kept")).map((each) => each.id)).toEqual([id]);
  await it.erase("kept");
});

promise("pauses: nothing is created until the annotation goes", async (it, expect) => {
  const name = it.name("paused");
  const metadata = { name, annotations: { "mooring.dev/paused": "true" } };
  await world.apply({ ...it.manifest(name), metadata });
  await world.untilReason(it.ref("paused"), "Paused");
  expect(await it.there("paused")).toEqual([]);
  await it.annotate("paused", "mooring.dev/paused-");
  await world.untilReady(it.ref("paused"));
  expect(await it.there("paused")).toHaveLength(1);
});

promise(
  "looks when it is asked to, and changes back what somebody has changed",
  async (it, expect) => {
    await it.rename("paused");
    await it.annotate("paused", "mooring.dev/reconcile-at=now");
    const story = async () => (await world.kubectl("describe", it.word, it.name("paused"))).stdout;
    await expect.poll(story).toMatch(/Updated\s.*update: name/);
    await world.untilReady(it.ref("paused"));
    await expect.poll(() => it.there("paused")).toEqual(containing({ name: it.name("paused") }));
  },
  subjects.filter(({ change }) => change),
);

promise("creates again what was removed behind its back", async (it, expect) => {
  const before = await it.madeAt("paused");
  await it.erase("paused");
  await it.annotate("paused", "mooring.dev/reconcile-at=later");
  await it.untilMadeAnew("paused", before);
  expect(await it.there("paused")).toHaveLength(1);
});

promise(
  "refuses a change of a fixed field at apply, and replaces the resource where that is allowed",
  async (it, expect) => {
    const name = it.name("fixed");
    await world.apply(it.manifest(name));
    await world.untilReady(it.ref("fixed"));
    const before = await it.madeAt("fixed");
    const { spec, shows } = it.fixedChange ?? none;
    const [field = ""] = Object.keys(spec);
    await expect(world.apply(it.manifest(name, spec))).rejects.toThrow(`${field} cannot be changed`);

    await world.apply(it.manifest(name, { ...spec, replacePolicy: "WhenNeeded" }));
    if (it.kind.resource.holdsData) {
      await world.untilReason(it.ref("fixed"), "DataLossNotAllowed");
      expect(await it.madeAt("fixed")).toBe(before);
      await it.annotate("fixed", "mooring.dev/allow-data-loss=true");
    }
    await it.untilMadeAnew("fixed", before);
    expect(await it.there("fixed")).toEqual(containing(shows));
  },
  subjects.filter(({ fixedChange }) => fixedChange),
);

promise("deletes: the resource goes before the object does", async (it, expect) => {
  const role = it.fixedChange ? "fixed" : "paused";
  const { code, stderr } = await world.kubectl("delete", it.word, it.name(role), "--timeout=90s");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(await it.there(role)).toEqual([]);
});

describe("deletion", () => {
  it("a datacenter is not deleted with somebody else's server in it, unless that is allowed", async () => {
    await world.apply(datacenter("full"));
    await world.untilReady("datacenter/full");
    const id = await world.value("datacenter/full", "{.status.id}");
    await world.platform.call("POST", `/cloudapi/v6/datacenters/${id}/servers`, {
      properties: { name: "stranger", cores: 1, ram: 1024 },
    });
    await world.kubectl("delete", "datacenter", "full", "--wait=false");
    await world.untilReason("datacenter/full", "NotEmpty");
    expect(await world.value("datacenter/full", ready)).toContain("server stranger");
    await world.kubectl("annotate", "datacenter", "full", "mooring.dev/allow-non-empty-delete=true");
    await world.untilGone("datacenter/full");
    expect((await world.platform.resources("servers")).map(({ properties }) => properties?.name)).not.toContain(
      "stranger",
    );
  });

  it("a namespace with everything in it disappears, and nothing is left on the platform", async () => {
    await world.kubectl("delete", "namespace", world.namespace, "--wait=false");
    const { stderr } = await world.kubectl("wait", "--for=delete", `namespace/${world.namespace}`, "--timeout=100s");
    expect(stderr).toBe("");
    expect(await world.platform.made()).toEqual({});
  });
});
