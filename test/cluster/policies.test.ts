import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { subjects } from "./kinds-under-test.ts";
import { api, type Landscape, landscape } from "./landscape.ts";
import { datacenter } from "./objects.ts";
import type { Found } from "./steering.ts";

let world: Landscape;
let datacenterId: string;

beforeAll(async () => {
  world = await landscape({
    operator: ["--create-deadline", "3s", "--settle", "3s", "--retry", "1s", "--resync", "5s"],
  });
  await world.apply(datacenter("dc"));
  await world.untilReady("datacenter/dc");
  datacenterId = await world.value("datacenter/dc", "{.status.id}");
});

const ready = '{.status.conditions[?(@.type=="Ready")].message}';
const created = z.looseObject({ id: z.string() });

describe.each(subjects)("$kind keeps its policies", (subject) => {
  const { kind, collection, manifest } = subject;
  const title = kind.charAt(0).toUpperCase() + kind.slice(1);
  const there = async (name: string): Promise<Found[]> =>
    (await world.platform.resources(collection)).filter(({ properties }) => properties?.name === name);
  const state = async (name: string) => String((await there(name))[0]?.state);
  /** Deletes a resource without Mooring. */
  const erase = (id: string) => world.platform.call("DELETE", `${subject.path(datacenterId)}/${id}?deleteVolumes=true`);
  /** Creates one without Mooring. */
  const strange = async (name: string): Promise<string> => {
    const { id } = created.parse(await world.platform.call("POST", subject.path(datacenterId), subject.body(name)));
    await expect.poll(() => state(name), { timeout: 60_000 }).toBe("AVAILABLE");
    return id;
  };

  it("adopts an existing resource, shows how it differs and then brings it in line", async () => {
    const id = await strange(`${kind}-found`);
    await world.apply(manifest(`${kind}-found`, { externalId: id, ...subject.change }));
    await world.untilReady(`${kind}/${kind}-found`);
    expect(await world.value(`${kind}/${kind}-found`, "{.status.id}")).toBe(id);
    expect(await there(`${kind}-found`)).toEqual([
      expect.objectContaining({ id, properties: expect.objectContaining(subject.change) }),
    ]);
    const { stdout } = await world.kubectl("describe", kind, `${kind}-found`);
    expect(stdout).toMatch(new RegExp(`Adopting.*differs in ${Object.keys(subject.change).join(", ")}`));
  });

  it("does not adopt what is not there, nor what belongs to another object", async () => {
    const nobody = "00000000-0000-4000-8000-000000000000";
    await world.apply(manifest(`${kind}-nobody`, { externalId: nobody }));
    await world.untilReason(`${kind}/${kind}-nobody`, "NotAdoptable");
    expect(await world.value(`${kind}/${kind}-nobody`, ready)).toContain(`there is no ${kind} ${nobody}`);
    const id = await world.value(`${kind}/${kind}-found`, "{.status.id}");
    await world.apply(manifest(`${kind}-thief`, { externalId: id }));
    await world.untilReason(`${kind}/${kind}-thief`, "NotAdoptable");
    expect(await world.value(`${kind}/${kind}-thief`, ready)).toContain(
      `belongs to ${title}/${world.namespace}/${kind}-found`,
    );
    await world.kubectl("delete", kind, `${kind}-nobody`, `${kind}-thief`, "--timeout=60s");
    expect(await there(`${kind}-found`)).toHaveLength(1);
  });

  it("observes: shows the resource with nothing but its identity in spec, and never touches it", async () => {
    const id = await strange(`${kind}-watched`);
    const spec = { ...subject.identity, externalId: id, managementPolicy: "Observe", name: "another-name" };
    await world.apply({ apiVersion: api, kind: title, metadata: { name: `${kind}-watched` }, spec });
    await world.untilReason(`${kind}/${kind}-watched`, "Observed");
    expect(await world.value(`${kind}/${kind}-watched`, "{.status.drift[0].field}")).toBe("name");
    await world.kubectl("delete", kind, `${kind}-watched`, "--timeout=60s");
    expect((await there(`${kind}-watched`)).map((each) => each.id)).toEqual([id]);
    await erase(id);
  });

  it("retains: the resource stays when the object goes", async () => {
    await world.apply(manifest(`${kind}-kept`, { deletionPolicy: "Retain" }));
    await world.untilReady(`${kind}/${kind}-kept`);
    const id = await world.value(`${kind}/${kind}-kept`, "{.status.id}");
    await world.kubectl("delete", kind, `${kind}-kept`, "--timeout=60s");
    expect((await there(`${kind}-kept`)).map((each) => each.id)).toEqual([id]);
    await erase(id);
  });

  it("pauses: nothing is created until the annotation goes", async () => {
    const paused = {
      ...manifest(`${kind}-paused`),
      metadata: { name: `${kind}-paused`, annotations: { "mooring.dev/paused": "true" } },
    };
    await world.apply(paused);
    await world.untilReason(`${kind}/${kind}-paused`, "Paused");
    expect(await there(`${kind}-paused`)).toEqual([]);
    await world.kubectl("annotate", kind, `${kind}-paused`, "mooring.dev/paused-");
    await world.untilReady(`${kind}/${kind}-paused`);
    expect(await there(`${kind}-paused`)).toHaveLength(1);
  });

  it("a resource that was removed behind our back is created again", async () => {
    const before = await world.value(`${kind}/${kind}-paused`, "{.status.id}");
    await erase(before);
    await expect
      .poll(() => world.value(`${kind}/${kind}-paused`, "{.status.id}"), { timeout: 60_000 })
      .not.toBe(before);
    await world.untilReady(`${kind}/${kind}-paused`);
    expect(await there(`${kind}-paused`)).toHaveLength(1);
  });

  it("refuses a change of a fixed field at apply, and replaces the resource where that is allowed", async () => {
    const name = `${kind}-fixed`;
    await world.apply(manifest(name));
    await world.untilReady(`${kind}/${name}`);
    const before = await world.value(`${kind}/${name}`, "{.status.id}");
    const [field = ""] = Object.keys(subject.fixedChange);
    await expect(world.apply(manifest(name, subject.fixedChange))).rejects.toThrow(`${field} cannot be changed`);

    await world.apply(manifest(name, { ...subject.fixedChange, replacePolicy: "WhenNeeded" }));
    if (subject.holdsData) {
      await world.untilReason(`${kind}/${name}`, "DataLossNotAllowed");
      expect((await there(name)).map(({ id }) => id)).toEqual([before]);
      await world.kubectl("annotate", kind, name, "mooring.dev/allow-data-loss=true");
    }
    await expect.poll(() => world.value(`${kind}/${name}`, "{.status.id}"), { timeout: 60_000 }).not.toBe(before);
    await world.untilReady(`${kind}/${name}`);
    expect(await there(name)).toEqual([
      expect.objectContaining({ properties: expect.objectContaining(subject.fixedChange) }),
    ]);
  });
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
    expect(await world.platform.resources("servers")).toEqual([]);
    expect(await world.platform.resources("datacenters")).toEqual([]);
  });
});
