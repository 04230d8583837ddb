import { describe, expect, it } from "vitest";
import { items, platformForFile, refusal, resource, serverBody } from "../../platform.ts";

const platform = await platformForFile();
const datacenter = await platform.datacenter();

const plain = (properties: object = {}) => ({
  properties: { name: "data", size: 10, licenceType: "OTHER", ...properties },
});
const fromImage = (properties: object = {}) => ({
  properties: { size: 10, imageAlias: "ubuntu:latest", ...properties },
});
const post = (body: object, below = datacenter) => platform.core("POST", `${below}/volumes`, body);
const ready = (body: object = plain()) => platform.made(`${datacenter}/volumes`, body);
const server = () => platform.made(`${datacenter}/servers`, { properties: { name: "s", cores: 1, ram: 1024 } });
const base64 = (text: string) => Buffer.from(text).toString("base64");
const script = base64("#!/bin/sh\n");
const idIn = (path: string) => path.split("/").at(-1);

describe("creating a volume", () => {
  it.each([
    ["HDD", "HDD"],
    ["SSD Standard", "SSD Standard"],
    ["SSD Premium", "SSD Premium"],
    ["SSD", "SSD Premium"],
  ])("of type %s gives %s", async (type, stored) => {
    expect(resource(await post(plain({ type }))).properties.type).toBe(stored);
  });

  it("fills in the platform's defaults", async () => {
    expect(resource(await post(fromImage())).properties).toMatchObject({
      bus: "VIRTIO",
      availabilityZone: "AUTO",
      bootOrder: "AUTO",
      exposeSerial: false,
      requireLegacyBios: true,
      licenceType: "LINUX",
      bootServer: null,
    });
  });

  it("resolves an alias to the image of the location", async () => {
    const { image } = resource(await post(fromImage())).properties;
    expect(await platform.core("GET", `/images/${image}`)).toMatchObject({
      body: { properties: { location: "de/fra", imageAliases: expect.arrayContaining(["ubuntu:latest"]) } },
    });
    expect((await post({ properties: { size: 4, image } })).status).toBe(202);
  });

  it("finds the images of the metro region from its second site", async () => {
    const second = await platform.datacenter("de/fra/2");
    expect((await post(fromImage(), second)).status).toBe(202);
  });

  it("shows create-only secrets never again", async () => {
    const secret = { sshKeys: ["ssh-ed25519 AAAA"], imagePassword: "verySecret1", userData: "I2Nsb3VkLWNvbmZpZw==" };
    const path = await ready(fromImage(secret));
    const { properties } = resource(await platform.core("GET", path));
    expect(properties.sshKeys).toBeNull();
    expect(properties).not.toHaveProperty("imagePassword");
    expect(properties).not.toHaveProperty("userData");
  });

  it.each([
    "#cloud-config\npackages: [nginx]\n",
    "#!/bin/sh\n",
    "Content-Type: text/x-shellscript\n\n#!/bin/sh\n",
    'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="b"\n',
    "#include\nhttps://example.com/init\n",
    "#upstart-job\nstart on startup\n",
  ])("takes user data such as %j, in base64", async (text) => {
    expect((await post(fromImage({ userData: base64(text) }))).status).toBe(202);
  });

  it.each(["UNKNOWN", "WINDOWS", "WINDOWS2016", "WINDOWS2019", "WINDOWS2022", "WINDOWS2025", "RHEL", "LINUX", "OTHER"])(
    "takes the licence %s",
    async (licenceType) => {
      expect(resource(await post(plain({ licenceType }))).properties).toMatchObject({ licenceType });
    },
  );

  it("takes ZONE_3, unlike a server", async () => {
    expect((await post(plain({ availabilityZone: "ZONE_3" }))).status).toBe(202);
  });

  it.each([
    ["the type ISO", plain({ type: "ISO" }), "type"],
    ["no size", plain({ size: undefined }), "size"],
    ["size 0", plain({ size: 0 }), "size"],
    ["more than the contract allows for one volume", plain({ size: 5000 }), "size"],
    ["neither image nor licence type", plain({ licenceType: undefined }), "licenceType"],
    ["an unknown licence type", plain({ licenceType: "BEOS" }), "licenceType"],
    ["image and alias together", fromImage({ image: "x" }), "imageAlias"],
    ["an unknown alias", fromImage({ imageAlias: "plan9:latest" }), "imageAlias"],
    ["an alias of a CD", fromImage({ imageAlias: "ubuntu:latest_iso" }), "imageAlias"],
    ["an unknown image", { properties: { size: 1, image: "x" } }, "image"],
    ["a short password", fromImage({ imagePassword: "short" }), "imagePassword"],
    ["a password with signs", fromImage({ imagePassword: "secret-secret" }), "imagePassword"],
    ["user data that is not base64", fromImage({ userData: "#cloud-config" }), "userData"],
    ["user data of no known format", fromImage({ userData: base64("hello") }), "userData"],
    ["user data that only nearly is a cloud-config", fromImage({ userData: base64("#cloud\n") }), "userData"],
    ["user data without a cloud-init image", plain({ userData: script }), "userData"],
    [
      "user data for an image without cloud-init",
      fromImage({ imageAlias: "windows:2022", userData: script }),
      "userData",
    ],
    ["an unknown bus", plain({ bus: "SCSI" }), "bus"],
    ["an unknown boot order", plain({ bootOrder: "LAST" }), "bootOrder"],
    ["half a GB", plain({ size: 1.5 }), "size"],
    ["an unknown zone", plain({ availabilityZone: "ZONE_4" }), "availabilityZone"],
    ["an unknown backup unit", plain({ backupunitId: "x" }), "backupunitId"],
  ])("refuses %s", async (_, body, field) => {
    expect(refusal(await post(body), 422, "100")).toContain(`[(root).properties.${field}]`);
  });
});

describe("changing a volume", () => {
  it("grows it and never shrinks it", async () => {
    const path = await ready();
    await platform.done("PATCH", path, { size: 20 });
    expect(resource(await platform.core("GET", path)).properties.size).toBe(20);
    expect(refusal(await platform.core("PATCH", path, { size: 19 }), 422, "100")).toContain(".size]");
    await platform.done("PATCH", path, { size: 20, name: "same size" });
  });

  it.each([
    ["image", { image: "x" }],
    ["imageAlias", { imageAlias: "debian:12" }],
    ["sshKeys", { sshKeys: ["x"] }],
    ["imagePassword", { imagePassword: "verySecret2" }],
    ["userData", { userData: script }],
    ["backupunitId", { backupunitId: "x" }],
  ])("refuses to change %s", async (field, change) => {
    const path = await ready(fromImage({ userData: base64("#cloud-config\n") }));
    const put = { properties: { size: 10, ...change } };
    for (const answer of [await platform.core("PATCH", path, change), await platform.core("PUT", path, put)]) {
      expect(refusal(answer, 422, "100")).toContain(`[(root).properties.${field}] can be set at creation only`);
    }
  });

  it("accepts back what it read", async () => {
    const path = await ready(fromImage());
    const { properties } = resource(await platform.core("GET", path));
    await platform.done("PUT", path, { properties });
    expect(resource(await platform.core("GET", path)).properties).toEqual(properties);
  });
});

describe("attaching and detaching", () => {
  it("hangs a volume onto a server and takes it off again; the volume stays", async () => {
    const [at, volume] = [await server(), await ready()];
    const attached = await platform.core("POST", `${at}/volumes`, { id: idIn(volume) });
    expect(attached).toMatchObject({ status: 202, body: { id: idIn(volume), metadata: { state: "BUSY" } } });
    await platform.advance(5);
    expect(resource(await platform.core("GET", `${at}/volumes/${idIn(volume)}`)).properties).toMatchObject({
      deviceNumber: 1,
      bootServer: idIn(at),
    });
    expect(resource(await platform.core("GET", at)).properties.bootVolume).toMatchObject({ id: idIn(volume) });
    const detached = await platform.core("DELETE", `${at}/volumes/${idIn(volume)}`);
    expect(detached).toMatchObject({ status: 202, body: undefined });
    await platform.advance(5);
    refusal(await platform.core("GET", `${at}/volumes/${idIn(volume)}`), 404, "309");
    expect(resource(await platform.core("GET", volume)).metadata.state).toBe("AVAILABLE");
  });

  it("creates and attaches in one call when it gets properties", async () => {
    const at = await server();
    const { id } = resource(await platform.done("POST", `${at}/volumes`, plain()));
    expect(items(await platform.core("GET", `${at}/volumes`))).toMatchObject([{ id }]);
    expect((await platform.core("GET", `${datacenter}/volumes/${id}`)).status).toBe(200);
  });

  it("chooses the boot volume among the attached ones", async () => {
    const at = await server();
    await platform.done("POST", `${at}/volumes`, plain());
    const second = resource(await platform.done("POST", `${at}/volumes`, plain()));
    await platform.done("PATCH", at, { bootVolume: { id: second.id } });
    expect(resource(await platform.core("GET", at)).properties.bootVolume).toMatchObject({ id: second.id });
    refusal(await platform.core("PATCH", at, { bootVolume: { id: idIn(await ready()) } }), 422, "100");
  });

  it("refuses a volume that is attached elsewhere, BUSY, in another datacenter or unknown", async () => {
    const [first, second, volume] = [await server(), await server(), await ready()];
    await platform.done("POST", `${first}/volumes`, { id: idIn(volume) });
    refusal(await platform.core("POST", `${second}/volumes`, { id: idIn(volume) }), 422, "200");
    const busy = await ready();
    await platform.core("PATCH", busy, { name: "busy" });
    refusal(await platform.core("POST", `${second}/volumes`, { id: idIn(busy) }), 422, "200");
    const elsewhere = await platform.datacenter();
    const far = resource(await platform.done("POST", `${elsewhere}/volumes`, plain()));
    refusal(await platform.core("POST", `${second}/volumes`, { id: far.id }), 404, "309");
    refusal(await platform.core("POST", `${second}/volumes`, { id: "x" }), 404, "309");
    refusal(await platform.core("POST", `${second}/volumes`, {}), 422, "100");
  });
});

it("deleting a volume takes it off its server", async () => {
  const { entities, id } = resource(await platform.done("POST", `${datacenter}/servers`, serverBody()));
  await platform.done("DELETE", `${datacenter}/volumes/${entities?.volumes?.items?.[0]?.id}`);
  expect(items(await platform.core("GET", `${datacenter}/servers/${id}/volumes`))).toEqual([]);
});
