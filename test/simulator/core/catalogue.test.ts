import { describe, expect, it } from "vitest";
import { z } from "zod";
import { cubeBody, items, platformForFile, refusal, resource, serverBody } from "../platform.ts";

const platform = await platformForFile();

const list = async (path: string) => items(await platform.core("GET", path));

describe("locations", () => {
  it("are all there, with two or three segments in their ids", async () => {
    const ids = (await list("/locations")).map(({ id }) => id);
    expect(ids.sort()).toEqual(
      [
        "de/fkb",
        "de/fra",
        "de/fra/2",
        "de/txl",
        "es/vit",
        "fr/par",
        "gb/bhx",
        "gb/lhr",
        "us/ewr",
        "us/las",
        "us/mci",
      ].sort(),
    );
  });

  it("are found by country, by site and by second site", async () => {
    expect((await list("/locations/us")).map(({ id }) => id)).toEqual(["us/las", "us/ewr", "us/mci"]);
    const site = resource(await platform.core("GET", "/locations/de/fra"));
    expect(site).toMatchObject({ id: "de/fra", type: "location", properties: { metroRegion: "de/fra" } });
    for (const path of ["/locations/de/fra/2", "/locations/de/fra%2F2"]) {
      expect(resource(await platform.core("GET", path))).toMatchObject({
        id: "de/fra/2",
        properties: { metroRegion: "de/fra", imageAliases: site.properties.imageAliases },
      });
    }
    refusal(await platform.core("GET", "/locations/xx"), 404, "309");
    refusal(await platform.core("GET", "/locations/de/xxx"), 404, "309");
  });

  it("list every CPU family but the legacy one", async () => {
    const { properties } = resource(await platform.core("GET", "/locations/de/txl"));
    const families = z.array(z.object({ cpuFamily: z.string() }).loose()).parse(properties.cpuArchitecture);
    expect(families.map(({ cpuFamily }) => cpuFamily).sort()).toEqual([
      "AMD_EPYC",
      "AMD_TURIN",
      "INTEL_ICELAKE",
      "INTEL_SIERRAFOREST",
      "INTEL_SKYLAKE",
      "INTEL_XEON",
    ]);
  });
});

describe("templates", () => {
  it("are the nine Cubes", async () => {
    const templates = await list("/templates?depth=1");
    expect(templates[0]).toMatchObject({
      id: "72e73b81-8551-4e74-b398-fc63b39994af",
      type: "template",
      properties: { name: "Basic Cube XS", category: "Basic Cube" },
    });
    const sizes = z.object({ name: z.string(), cores: z.int(), ram: z.int(), storageSize: z.int() });
    const rows = templates.map(({ properties }) => Object.values(sizes.parse(properties)));
    expect(rows).toEqual([
      ["Basic Cube XS", 1, 2048, 60],
      ["Basic Cube S", 2, 4096, 120],
      ["Basic Cube M", 4, 8192, 240],
      ["Basic Cube L", 8, 16384, 480],
      ["Basic Cube XL", 16, 32768, 960],
      ["Memory Cube S", 2, 8192, 120],
      ["Memory Cube M", 4, 16384, 240],
      ["Memory Cube L", 8, 32768, 480],
      ["Memory Cube XL", 16, 65536, 960],
    ]);
  });
});

const imageShape = z.looseObject({ cloudInit: z.string(), imageAliases: z.array(z.string()) });

describe("images", () => {
  it("are looked up by type, cloud-init, alias and location", async () => {
    const query =
      "depth=1&filter.imageType=HDD&filter.cloudInit=V1&filter.imageAliases=debian:latest&filter.location=de/txl";
    const [image, ...others] = await list(`/images?${query}&filter.public=true`);
    expect(others).toEqual([]);
    expect(image).toMatchObject({
      type: "image",
      properties: { imageType: "HDD", cloudInit: "V1", licenceType: "LINUX", public: true, location: "de/txl" },
    });
    expect((await platform.core("GET", `/images/${image?.id}`)).status).toBe(200);
  });

  const found = async (filter: string) =>
    (await list(`/images?depth=1&filter.location=de/txl&${filter}`)).map(({ properties }) =>
      imageShape.parse(properties),
    );

  it("of Linux all have cloud-init, and there is one of each distribution", async () => {
    const linux = await found("filter.imageType=HDD&filter.licenceType=LINUX");
    expect(linux.filter(({ cloudInit }) => cloudInit !== "V1")).toEqual([]);
    const aliases = linux.flatMap(({ imageAliases }) => imageAliases);
    const latest = ["almalinux:latest", "debian:latest", "rocky:latest", "ubuntu:latest"];
    expect(aliases).toEqual(expect.arrayContaining(latest));
  });

  it.each(["NONE", "V1"])("are told apart by cloud-init %s", async (cloudInit) => {
    const those = await found(`filter.cloudInit=${cloudInit}`);
    expect(new Set(those.map((image) => image.cloudInit))).toEqual(new Set([cloudInit]));
  });

  it("that are public cannot be changed or deleted", async () => {
    const [image] = await list("/images");
    refusal(await platform.core("DELETE", `/images/${image?.id}`), 403, "451");
    refusal(await platform.core("PATCH", `/images/${image?.id}`, { name: "mine" }), 403, "451");
  });

  it("have no paging", async () => {
    const answer = await platform.core("GET", "/images?limit=1");
    expect(items(answer).length).toBeGreaterThan(10);
    expect(answer.body).not.toHaveProperty("_links");
  });
});

describe("the contract", () => {
  const limits = async () => {
    const [contract] = await list("/contracts?depth=1");
    expect(contract).toMatchObject({
      type: "contract",
      properties: { contractNumber: platform.ready.contractNumber, owner: platform.ready.username, status: "BILLABLE" },
    });
    return z
      .looseObject({ properties: z.object({ resourceLimits: z.record(z.string(), z.int()) }).loose() })
      .parse(contract).properties.resourceLimits;
  };

  it("has every limit and count as whole number", async () => {
    expect(Object.keys(await limits()).sort()).toEqual(
      (
        "coresPerServer coresPerContract coresProvisioned ramPerServer ramPerContract ramProvisioned hddLimitPerVolume " +
        "hddLimitPerContract hddVolumeProvisioned ssdLimitPerVolume ssdLimitPerContract ssdVolumeProvisioned " +
        "dasVolumeProvisioned reservableIps reservedIpsOnContract reservedIpsInUse k8sClusterLimitTotal " +
        "k8sClustersProvisioned nlbLimitTotal nlbProvisioned natGatewayLimitTotal natGatewayProvisioned " +
        "securityGroupsPerVdc securityGroupsPerResource rulesPerSecurityGroup"
      )
        .split(" ")
        .sort(),
    );
  });

  it("counts what exists, in MB", async () => {
    const datacenter = await platform.datacenter();
    await platform.done("POST", `${datacenter}/servers`, serverBody());
    await platform.done("POST", `${datacenter}/servers`, cubeBody());
    await platform.done("POST", `${datacenter}/volumes`, {
      properties: { size: 2, type: "HDD", licenceType: "OTHER" },
    });
    await platform.done("POST", "/ipblocks", { properties: { location: "de/fra", size: 3 } });
    expect(await limits()).toMatchObject({
      coresProvisioned: 5,
      ramProvisioned: 6144,
      ssdVolumeProvisioned: 20 * 1024,
      hddVolumeProvisioned: 2 * 1024,
      dasVolumeProvisioned: 60 * 1024,
      reservedIpsOnContract: 3,
      reservedIpsInUse: 0,
    });
    await platform.done("DELETE", datacenter);
    expect(await limits()).toMatchObject({ coresProvisioned: 0, ssdVolumeProvisioned: 0, dasVolumeProvisioned: 0 });
  });

  it.each([
    [{ coresPerContract: 4 }, serverBody({ cores: 5 })],
    [{ ramPerContract: 4096 }, serverBody({ ram: 8192 })],
    [{ ssdLimitPerContract: 1024 }, serverBody()],
    [{ hddLimitPerContract: 1024 }, serverBody({}, { type: "HDD" })],
  ])("with %o refuses more with a quota message", async (limit, body) => {
    const datacenter = await platform.datacenter();
    await platform.steer("PUT", "limits", limit);
    const message = refusal(await platform.core("POST", `${datacenter}/servers`, body), 422, "200");
    expect(message).toMatch(/^\[VDC-\d+-\d+\] Quota exceeded/);
    await platform.steer("PUT", "limits", {});
    expect((await platform.core("POST", `${datacenter}/servers`, body)).status).toBe(202);
  });

  it("refuses growth past its limits, but no other change when it is past them already", async () => {
    const datacenter = await platform.datacenter();
    const { id } = resource(await platform.done("POST", `${datacenter}/servers`, serverBody()));
    await platform.steer("PUT", "limits", { coresPerContract: 1 });
    const path = `${datacenter}/servers/${id}`;
    refusal(await platform.core("PATCH", path, { cores: 5 }), 422, "200");
    await platform.done("PATCH", path, { name: "renamed" });
    await platform.done("PATCH", path, { cores: 2 });
    await platform.steer("PUT", "limits", {});
  });

  it("refuses a single server above its limits", async () => {
    const datacenter = await platform.datacenter();
    await platform.steer("PUT", "limits", { coresPerServer: 2, ramPerServer: 2048 });
    const answer = await platform.core("POST", `${datacenter}/servers`, serverBody());
    expect(answer.body).toMatchObject({
      messages: [
        { message: expect.stringContaining(".cores] must be from 1 to 2") },
        { message: expect.stringContaining(".ram] must be from 256 to 2048") },
      ],
    });
    await platform.steer("PUT", "limits", {});
  });

  it("lets no server have more than 62 cores or 60 vCPUs and 230 GB, however much it allows", async () => {
    const datacenter = await platform.datacenter();
    await platform.steer("PUT", "limits", { coresPerServer: 1000, ramPerServer: 1_000_000 });
    for (const [type, most] of [
      ["ENTERPRISE", 62],
      ["VCPU", 60],
    ] as const) {
      const answer = await platform.core("POST", `${datacenter}/servers`, serverBody({ type, cores: 63, ram: 235776 }));
      expect(answer.body).toMatchObject({
        messages: [
          { message: expect.stringContaining(`.cores] must be from 1 to ${most}`) },
          { message: expect.stringContaining(".ram] must be from 256 to 235520") },
        ],
      });
    }
    await platform.steer("PUT", "limits", {});
  });

  it("refuses more addresses than it may reserve", async () => {
    const answer = await platform.core("POST", "/ipblocks", { properties: { location: "de/fra", size: 1001 } });
    expect(refusal(answer, 422, "200")).toContain("reservableIps");
  });
});
