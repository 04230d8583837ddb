import { describe, expect, it } from "vitest";
import { items, platformForFile, refusal, resource } from "../../platform.ts";

const platform = await platformForFile();
const datacenter = await platform.datacenter();

const idIn = (path: string) => path.split("/").at(-1);
const volume = (properties: object = {}, below = datacenter) =>
  platform.made(`${below}/volumes`, { properties: { name: "data", size: 10, licenceType: "OTHER", ...properties } });
const take = (path: string, properties: object = {}) =>
  platform.core("POST", `${path}/create-snapshot`, { properties });
const snapshotOf = async (path: string, properties: object = {}) => {
  const answer = await platform.done("POST", `${path}/create-snapshot`, { properties });
  return `/snapshots/${resource(answer).id}`;
};
const restore = (path: string, snapshotId: string | undefined) =>
  platform.core("POST", `${path}/restore-snapshot`, { properties: { snapshotId } });
const form = { headers: { "content-type": "application/x-www-form-urlencoded" } };

describe("taking a snapshot", () => {
  it("is accepted with the snapshot, BUSY, and makes it what the request is about", async () => {
    const answer = await take(await volume(), { name: "before the upgrade", description: "d" });
    expect(answer).toMatchObject({
      status: 202,
      body: {
        type: "snapshot",
        metadata: { state: "BUSY" },
        properties: { name: "before the upgrade", description: "d" },
      },
    });
    const { id, href } = resource(answer);
    expect(new URL(href).pathname).toBe(`/cloudapi/v6/snapshots/${id}`);
    const location = new URL(answer.headers.get("location") ?? "");
    expect(await platform.call("GET", location.pathname)).toMatchObject({
      body: { metadata: { status: "BUSY", targets: [{ target: { id, type: "snapshot" } }] } },
    });
    refusal(await platform.core("GET", `/snapshots/${id}`), 404, "309");
    await platform.advance(60);
    expect(resource(await platform.core("GET", `/snapshots/${id}`)).metadata.state).toBe("AVAILABLE");
    expect(items(await platform.core("GET", "/snapshots"))).toContainEqual(expect.objectContaining({ id }));
  });

  it("copies size, licence and hot-plug flags of the volume and the location of the datacenter", async () => {
    const source = await volume({ size: 12, licenceType: "RHEL", cpuHotPlug: true, nicHotPlug: true });
    expect(resource(await platform.core("GET", await snapshotOf(source))).properties).toMatchObject({
      location: "de/fra",
      size: 12,
      licenceType: "RHEL",
      applicationType: "UNKNOWN",
      secAuthProtection: false,
      cpuHotPlug: true,
      nicHotPlug: true,
      ramHotPlug: false,
      discScsiHotUnplug: false,
      requireLegacyBios: true,
    });
  });

  it("takes a licence of its own", async () => {
    const made = await take(await volume(), { licenceType: "WINDOWS2022", secAuthProtection: true });
    expect(resource(made).properties).toMatchObject({ licenceType: "WINDOWS2022", secAuthProtection: true });
  });

  it("takes the form fields of older clients, and no body at all", async () => {
    const source = await volume();
    const raw = "name=old+client&description=by%20form&secAuthProtection=True";
    const answer = await platform.core("POST", `${source}/create-snapshot`, undefined, { ...form, raw });
    expect(resource(answer).properties).toMatchObject({
      name: "old client",
      description: "by form",
      secAuthProtection: true,
    });
    expect((await platform.core("POST", `${source}/create-snapshot`)).status).toBe(202);
    const elsewhere = await platform.core("POST", `${datacenter}/volumes`, undefined, { ...form, raw });
    refusal(elsewhere, 415, "100");
  });

  it.each([
    ["an unknown licence", { licenceType: "BEOS" }, "licenceType"],
    ["a number as name", { name: 1 }, "name"],
  ])("refuses %s", async (_, properties, field) => {
    const message = refusal(await take(await volume(), properties), 422, "100");
    expect(message).toContain(`[(root).properties.${field}]`);
  });

  it("is refused while the volume or the datacenter is BUSY, and 404 without the volume", async () => {
    const source = await volume();
    await platform.core("PATCH", source, { name: "busy" });
    expect(refusal(await take(source), 422, "200")).toContain("BUSY");
    await platform.advance(10);
    await platform.core("PATCH", datacenter, { description: "busy" });
    expect(refusal(await take(source), 422, "200")).toContain("BUSY");
    await platform.advance(10);
    refusal(await take(`${datacenter}/volumes/x`), 404, "309");
  });

  it("needs the privilege to create snapshots", async () => {
    const { token, userId } = await platform.user("no-snapshots@example.com", { privileges: [] });
    const options = { authorization: `Bearer ${token}` };
    await platform.share(datacenter, userId);
    const answer = await platform.core("POST", `${await volume()}/create-snapshot`, {}, options);
    expect(refusal(answer, 403, "451")).toContain("createSnapshot");
  });

  it("is the only way to a snapshot", async () => {
    const answer = await platform.core("POST", "/snapshots", { properties: { name: "direct" } });
    refusal(answer, 405, "200");
  });
});

describe("a snapshot", () => {
  it("can be renamed, but keeps its size and location", async () => {
    const path = await snapshotOf(await volume(), { name: "first" });
    await platform.done("PATCH", path, { name: "second", size: 99, location: "de/txl" });
    expect(resource(await platform.core("GET", path)).properties).toMatchObject({
      name: "second",
      size: 10,
      location: "de/fra",
    });
  });

  it("accepts back by PUT what was read", async () => {
    const path = await snapshotOf(await volume({ ramHotPlug: true }), { name: "same" });
    const { properties } = resource(await platform.core("GET", path));
    await platform.done("PUT", path, { properties });
    await platform.done("PUT", path, { properties: { name: "same" } });
    expect(resource(await platform.core("GET", path)).properties).toEqual(properties);
  });

  it("outlives its volume and its datacenter, until it is deleted itself", async () => {
    const place = await platform.datacenter();
    const source = await volume({}, place);
    const path = await snapshotOf(source);
    await platform.done("DELETE", source);
    await platform.done("DELETE", place);
    expect((await platform.core("GET", path)).status).toBe(200);
    await platform.done("DELETE", path);
    refusal(await platform.core("GET", path), 404, "309");
  });

  it("goes away when its request fails", async () => {
    const source = await volume();
    await platform.faults({ route: "POST *", fault: "request-failed", count: 1 });
    const answer = await take(source);
    await platform.advance(60);
    expect(await platform.requestOf(answer)).toMatchObject({ status: "FAILED" });
    refusal(await platform.core("GET", `/snapshots/${resource(answer).id}`), 404, "309");
  });
});

describe("restoring a snapshot", () => {
  it("is accepted without a body and keeps the volume BUSY meanwhile", async () => {
    const target = await volume();
    const snapshotId = idIn(await snapshotOf(target));
    const answer = await restore(target, snapshotId);
    expect(answer).toMatchObject({ status: 202, body: undefined });
    expect(resource(await platform.core("GET", target)).metadata.state).toBe("BUSY");
    expect(refusal(await restore(target, snapshotId), 422, "200")).toContain("BUSY");
    await platform.advance(60);
    expect(await platform.requestOf(answer)).toMatchObject({ status: "DONE" });
    expect(resource(await platform.core("GET", target)).metadata.state).toBe("AVAILABLE");
  });

  it("takes the form field of older clients", async () => {
    const target = await volume();
    const raw = `snapshotId=${idIn(await snapshotOf(target))}`;
    expect((await platform.core("POST", `${target}/restore-snapshot`, undefined, { ...form, raw })).status).toBe(202);
  });

  it("is refused when the snapshot is larger than the volume", async () => {
    const snapshotId = idIn(await snapshotOf(await volume({ size: 11 })));
    const target = await volume();
    expect(refusal(await restore(target, snapshotId), 422, "200")).toContain("11 GB");
    await platform.done("PATCH", target, { size: 11 });
    expect((await restore(target, snapshotId)).status).toBe(202);
  });

  it("is refused in another region, and done on another site of the same one", async () => {
    const snapshotId = idIn(await snapshotOf(await volume()));
    const far = await volume({}, await platform.datacenter("de/txl"));
    expect(refusal(await restore(far, snapshotId), 422, "200")).toContain("region");
    const near = await volume({}, await platform.datacenter("de/fra/2"));
    expect((await restore(near, snapshotId)).status).toBe(202);
  });

  it("is refused while the snapshot itself is being made", async () => {
    const target = await volume();
    const { id } = resource(await take(target));
    await platform.advance(1.5);
    expect(refusal(await restore(target, id), 422, "200")).toContain("BUSY");
  });

  it.each([
    ["no snapshot", undefined],
    ["an unknown snapshot", "x"],
  ])("refuses %s", async (_, snapshotId) => {
    const message = refusal(await restore(await volume(), snapshotId), 422, "100");
    expect(message).toContain("[(root).properties.snapshotId]");
  });
});

describe("a volume from a snapshot", () => {
  const post = (image: string | undefined, properties: object = {}, below = datacenter) =>
    platform.core("POST", `${below}/volumes`, { properties: { size: 10, image, ...properties } });

  it("gets its licence and flags, and may be larger", async () => {
    const image = idIn(await snapshotOf(await volume({ licenceType: "RHEL", nicHotPlug: true })));
    const made = await post(image, { size: 20 });
    expect(resource(made).properties).toMatchObject({ image, size: 20, licenceType: "RHEL", nicHotPlug: true });
  });

  it("is refused when it is smaller than the snapshot", async () => {
    const image = idIn(await snapshotOf(await volume()));
    const message = refusal(await post(image, { size: 9 }), 422, "100");
    expect(message).toContain("[(root).properties.size] must be at least 10 GB");
  });

  it("is refused in another region, whichever side has the further site", async () => {
    const near = await platform.datacenter("de/fra/2");
    const image = idIn(await snapshotOf(await volume({}, near)));
    expect((await post(image)).status).toBe(202);
    const far = await platform.datacenter("de/txl");
    expect(refusal(await post(image, {}, far), 422, "100")).toContain("[(root).properties.image]");
  });

  it("is refused while the snapshot is being made", async () => {
    const { id } = resource(await take(await volume()));
    await platform.advance(1.5);
    expect(refusal(await post(id), 422, "200")).toContain("BUSY");
  });
});
