import { describe, expect, test } from "vitest";
import { z } from "zod";
import { readStatus, readWhole } from "../../../src/engine/status/status.ts";
import { Terminal } from "../../../src/platform/answers/errors.ts";
import type { PlatformCall } from "../../../src/platform/calls/transport.ts";
import { group } from "../../kinds/compute/scaling-group/groups.ts";
import { fakeApiServer } from "../support/fake-api-server.ts";
import { objectOf, scriptedConnection } from "../support/fixtures.ts";
import { DC, type Life, live, readyOf } from "../support/lives.ts";
import { stage } from "../support/stage.ts";

const ID = "11111111-1111-4111-8111-111111111111";
const image = (name: string) => ({
  id: `image-${name}`,
  properties: { name, location: "de/txl", imageType: "HDD", cloudInit: "V1" },
});
const secretOf = (name: string, data: Record<string, string>) =>
  objectOf("Secret", name, {
    apiVersion: "v1",
    data: Object.fromEntries(Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString("base64")])),
  });
const lookup = { name: "debian", location: "de/txl" };
const specOf = (volume: object, more: object = {}) => ({
  ...group(
    { datacenterRef: undefined, datacenterId: DC, ...more },
    {
      volumes: [{ name: "root", size: 10, type: "HDD", imageLookup: lookup, ...volume }],
    },
  ),
});

const sentBody = z.object({
  properties: z.looseObject({
    maxReplicaCount: z.int(),
    replicaConfiguration: z.looseObject({
      volumes: z.tuple([
        z.looseObject({ image: z.string(), userData: z.string().optional(), imagePassword: z.string().optional() }),
      ]),
    }),
  }),
});

/** A group with everything that its template refers to, on a platform that never shows a password. */
function open(spec: object) {
  const images = ["debian-11", "debian-12", "ubuntu-24"].map(image);
  const writes: z.output<typeof sentBody>[] = [];
  let there: object | undefined;
  let refusal: string | undefined;
  const answer = ({ method, url, body }: PlatformCall): unknown => {
    if (url.includes("/images")) return { items: images };
    if (url.includes("/datacenters")) return { properties: { location: "de/txl" } };
    if (method !== "GET") {
      if (refusal !== undefined) {
        const detail = refusal;
        refusal = undefined;
        throw new Terminal({ call: "PUT /groups", status: 422, detail });
      }
      const sent = sentBody.parse(JSON.parse(JSON.stringify(body)));
      writes.push(sent);
      const { volumes, ...replica } = sent.properties.replicaConfiguration;
      const shown = volumes.map(({ imagePassword: _, ...volume }) => volume);
      const properties = { ...sent.properties, replicaConfiguration: { ...replica, volumes: shown } };
      there = { id: ID, metadata: { state: "AVAILABLE" }, properties };
    }
    return url.includes(ID) || method !== "GET" ? there : { items: there ? [there] : [] };
  };
  const object = objectOf("ScalingGroup", "a", { spec });
  const api = fakeApiServer(object, secretOf("boot", { userData: "#!/bin/sh -e", password: "abcdefgh" }));
  const all = stage([object], { api, connection: scriptedConnection(answer) });
  const life: Life = { all, key: "ScalingGroup/shop/a", object, beforeEach: () => {} };
  const last = () => writes.at(-1)?.properties.replicaConfiguration.volumes[0];
  /** Somebody changes spec, and the engine reconciles. */
  async function edit(spec: object) {
    const before = api.get(object) ?? object;
    api.put({ ...before, spec, metadata: { ...before.metadata, generation: (before.metadata.generation ?? 1) + 1 } });
    await live(life, 8);
  }
  const refuse = (detail: string) => {
    refusal = detail;
  };
  return { api, life, images, writes, last, edit, refuse, object };
}

const base64 = (text: string) => Buffer.from(text).toString("base64");
const secrets = { userDataSecretRef: { name: "boot" }, imagePasswordSecretRef: { name: "boot" } };

describe("a reference of a template without a value", () => {
  test("is found when the resource is created, and nothing is written again", async () => {
    const { life, writes, last } = open(specOf(secrets));
    await live(life, 20);
    expect(readyOf(life)).toMatchObject({ status: "True", reason: "Available" });
    expect(writes).toHaveLength(1);
    expect(last()).toMatchObject({
      image: "image-debian-12",
      userData: base64("#!/bin/sh -e"),
      imagePassword: "abcdefgh",
    });
  });

  test("goes along with every other change: the platform does not keep what is not sent", async () => {
    const { life, api, writes, last, edit } = open(specOf(secrets));
    await live(life, 8);
    api.put(secretOf("boot", { userData: "#!/bin/bash", password: "12345678" }));
    await edit(specOf(secrets, { maxReplicas: 9 }));
    expect(writes).toHaveLength(2);
    expect(writes[1]?.properties.maxReplicaCount).toBe(9);
    expect(last()).toMatchObject({ userData: base64("#!/bin/bash"), imagePassword: "12345678" });
    expect(readyOf(life)?.reason).toBe("Available");
  });

  test.each([
    ["another Secret", { ...secrets, userDataSecretRef: { name: "new" } }, { userData: base64("#include x") }],
    [
      "another lookup",
      { ...secrets, imageLookup: { name: "ubuntu", location: "de/txl" } },
      { image: "image-ubuntu-24" },
    ],
  ])("%s is a change of its own", async (_, volume, shown) => {
    const { life, api, writes, last, edit } = open(specOf(secrets));
    api.put(secretOf("new", { userData: "#include x" }));
    await live(life, 8);
    await edit(specOf(volume));
    expect(writes).toHaveLength(2);
    expect(last()).toMatchObject(shown);
    expect(readyOf(life)?.reason).toBe("Available");
    const field = "imageLookup" in volume ? "imageLookup" : "userDataSecretRef";
    expect(life.all.events).toContainEqual(expect.stringContaining(`to update: replica.volumes[root].${field}`));
  });

  test("no longer named is taken away, also what the platform does not show", async () => {
    const { life, writes, last, edit } = open(specOf(secrets));
    await live(life, 8);
    await edit(specOf({}));
    expect(writes).toHaveLength(2);
    expect(last()).not.toHaveProperty("imagePassword");
    expect(last()).not.toHaveProperty("userData");
    expect(readyOf(life)?.reason).toBe("Available");
  });

  test("an image that is newer by now is not taken by a change of something else", async () => {
    const { life, images, writes, last, edit } = open(specOf({}));
    await live(life, 8);
    images.push(image("debian-13"));
    await edit(specOf({}, { maxReplicas: 9 }));
    expect(writes).toHaveLength(2);
    expect(last()?.image).toBe("image-debian-12");
  });

  test("missing holds the change back until it is there, and the group stays as it is", async () => {
    const { life, api, writes, edit } = open(specOf(secrets));
    await live(life, 8);
    await edit(specOf({ ...secrets, userDataSecretRef: { name: "new" } }));
    expect(writes).toHaveLength(1);
    expect(readyOf(life)).toMatchObject({ status: "False", reason: "SecretNotFound" });
    expect(readyOf(life)?.message).toBe(
      "replica.volumes[root].userDataSecretRef: Secret new in namespace shop does not exist or has no key userData",
    );
    api.put(secretOf("new", { userData: "#include x" }));
    await live(life, 120, () => writes.length > 1);
    expect(writes).toHaveLength(2);
  });

  test("is in no message, status or Event, also when the platform quotes it", async () => {
    const { life, api, edit, refuse, object } = open(specOf(secrets));
    await live(life, 8);
    refuse(`imagePassword abcdefgh and userData ${base64("#!/bin/sh -e")} are refused`);
    await edit(specOf(secrets, { maxReplicas: 9 }));
    const shown = JSON.stringify([readWhole(api.get(object) ?? object), life.all.events]);
    expect(shown).toContain("[redacted]");
    expect(shown).not.toMatch(/abcdefgh|bin\/sh|IyEv/);
  });

  test("of an adopted group is written once: what it was made from is not known", async () => {
    const { life, writes, edit, api, object } = open(specOf(secrets));
    await live(life, 8);
    const before = api.get(object) ?? object;
    const { fixed: _, ...internal } = { ...Object(Reflect.get(readWhole(before), "internal")) };
    api.put({ ...before, status: { ...readWhole(before), fixed: undefined, internal } });
    await edit(specOf(secrets));
    expect(writes).toHaveLength(2);
    expect(Object.keys(readStatus(api.get(object) ?? object).fixed ?? {})).toContain(
      "replica.volumes[root].imagePasswordSecretRef",
    );
  });
});
