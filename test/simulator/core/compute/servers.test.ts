import { describe, expect, it } from "vitest";
import { items, platformForFile, refusal, resource, serverBody } from "../../platform.ts";

const platform = await platformForFile();
const datacenter = await platform.datacenter();

const post = (body: object) => platform.core("POST", `${datacenter}/servers`, body);
const bare = (properties: object) => ({ properties: { name: "bare", cores: 1, ram: 1024, ...properties } });
const ready = (body: object) => platform.made(`${datacenter}/servers`, body);

describe("creating a server", () => {
  it("with volumes and NICs inline answers with the ids of all of them", async () => {
    const answer = await post(serverBody({}, { sshKeys: ["ssh-ed25519 AAAA"] }));
    expect(answer.status).toBe(202);
    const { id, type, metadata, entities } = resource(answer);
    expect({ type, state: metadata.state }).toEqual({ type: "server", state: "BUSY" });
    const volume = entities?.volumes?.items?.[0];
    const nic = entities?.nics?.items?.[0];
    await platform.advance(30);
    const read = resource(await platform.core("GET", `${datacenter}/servers/${id}?depth=2`));
    expect(read).toMatchObject({
      metadata: { state: "AVAILABLE" },
      properties: {
        type: "ENTERPRISE",
        availabilityZone: "AUTO",
        vmState: "RUNNING",
        bootVolume: { id: volume?.id, type: "volume" },
      },
      entities: {
        volumes: { items: [{ id: volume?.id, type: "volume", metadata: { state: "AVAILABLE" } }] },
        nics: { items: [{ id: nic?.id, type: "nic", properties: { lan: 1, dhcp: true, ips: [expect.any(String)] } }] },
      },
    });
  });

  it("can happen twice at once in one datacenter: the datacenter stays AVAILABLE", async () => {
    const [first, second] = await Promise.all([post(serverBody()), post(serverBody())]);
    expect([first.status, second.status]).toEqual([202, 202]);
    expect(resource(first).id).not.toBe(resource(second).id);
    expect(resource(await platform.core("GET", datacenter)).metadata.state).toBe("AVAILABLE");
  });

  it("is one request for everything inline, and all of it becomes AVAILABLE together", async () => {
    const answer = await post(serverBody({}, {}, { lan: 9 }));
    const location = new URL(answer.headers.get("location") ?? "");
    expect(await platform.call("GET", location.pathname)).toMatchObject({
      body: {
        type: "request-status",
        metadata: {
          status: "BUSY",
          targets: [
            { target: { id: resource(answer).id, type: "server" }, status: "BUSY" },
            { target: { type: "volume" } },
            { target: { type: "lan", id: "9" } },
            { target: { type: "nic" } },
          ],
        },
      },
    });
  });

  it("in a datacenter that cannot be seen yet is 404, in a BUSY one 422", async () => {
    const made = await platform.core("POST", "/datacenters", { properties: { name: "a", location: "de/fra" } });
    const path = `/datacenters/${resource(made).id}/servers`;
    refusal(await platform.core("POST", path, serverBody()), 404, "309");
    await platform.advance(1.5);
    expect(refusal(await platform.core("POST", path, serverBody()), 422, "200")).toContain("BUSY");
  });

  it.each([
    ["62 cores", { cores: 62 }],
    ["the least RAM", { ram: 256 }],
    ["230 GB of RAM", { ram: 235520 }],
    ["steps of 256 MB", { ram: 768 }],
    ["the zone AUTO", { availabilityZone: "AUTO" }],
    ["ZONE_1", { availabilityZone: "ZONE_1" }],
    ["ZONE_2", { availabilityZone: "ZONE_2" }],
    ["Milan processors", { cpuFamily: "AMD_EPYC" }],
    ["Turin processors", { cpuFamily: "AMD_TURIN" }],
    ["Haswell or Broadwell processors", { cpuFamily: "INTEL_XEON" }],
    ["Skylake processors", { cpuFamily: "INTEL_SKYLAKE" }],
    ["Ice Lake processors", { cpuFamily: "INTEL_ICELAKE" }],
    ["Sierra Forest processors", { cpuFamily: "INTEL_SIERRAFOREST" }],
    ["the legacy CPU family", { cpuFamily: "AMD_OPTERON" }],
    ["an empty CPU family", { cpuFamily: "" }],
    ["null for what is optional", { cpuFamily: null, hostname: null, templateUuid: null, bootVolume: null }],
    ["60 vCPUs with 230 GB of RAM", { type: "VCPU", cores: 60, ram: 235520 }],
    ["a hostname", { hostname: "web-1" }],
  ])("accepts %s", async (_, properties) => {
    expect((await post(bare(properties))).status).toBe(202);
  });

  it.each([
    ["ZONE_3", { availabilityZone: "ZONE_3" }, "availabilityZone"],
    ["63 cores", { cores: 63 }, "cores"],
    ["no core", { cores: 0 }, "cores"],
    ["half a core", { cores: 1.5 }, "cores"],
    ["cores left out", { cores: undefined }, "cores"],
    ["61 vCPUs", { type: "VCPU", cores: 61 }, "cores"],
    ["more than 230 GB of RAM for vCPUs", { type: "VCPU", ram: 235776 }, "ram"],
    ["RAM between the steps for vCPUs", { type: "VCPU", ram: 1152 }, "ram"],
    ["ZONE_3 for vCPUs", { type: "VCPU", availabilityZone: "ZONE_3" }, "availabilityZone"],
    ["too little RAM", { ram: 0 }, "ram"],
    ["RAM between the steps", { ram: 1152 }, "ram"],
    ["more than 230 GB of RAM", { ram: 235776 }, "ram"],
    ["RAM left out", { ram: undefined }, "ram"],
    ["RAM as text", { ram: "1024" }, "ram"],
    ["an unknown CPU family", { cpuFamily: "ARM" }, "cpuFamily"],
    ["a CPU family on a vCPU server", { type: "VCPU", cpuFamily: "INTEL_SKYLAKE" }, "cpuFamily"],
    ["the type GPU", { type: "GPU" }, "type"],
    ["an unknown type", { type: "BIG" }, "type"],
    ["a template without CUBE", { templateUuid: "72e73b81-8551-4e74-b398-fc63b39994af" }, "templateUuid"],
    ["a hostname with capitals", { hostname: "Web" }, "hostname"],
    ["a hostname that starts with -", { hostname: "-web" }, "hostname"],
    ["a hostname of 64 characters", { hostname: "a".repeat(64) }, "hostname"],
    ["a boot volume that is not attached", { bootVolume: { id: "x" } }, "bootVolume"],
  ])("refuses %s", async (_, properties, field) => {
    const message = refusal(await post(bare(properties)), 422, "100");
    expect(message).toContain(`[(root).properties.${field}]`);
  });

  it("reports all wrong fields at once", async () => {
    const answer = await post(bare({ cores: 99, ram: 1 }));
    expect(answer.body).toMatchObject({ messages: [{ errorCode: "100" }, { errorCode: "100" }] });
  });

  it("leaves nothing behind when a part of it is wrong", async () => {
    const count = async () => items(await platform.core("GET", `${datacenter}/lans`)).length;
    const before = await count();
    const message = refusal(await post(serverBody({}, {}, { lan: 77, ips: ["1.2.3.4"] })), 422, "100");
    expect(message).toContain("[(root).entities.nics.items[0].properties.ips[0]]");
    await platform.advance(60);
    expect(await count()).toBe(before);
  });

  it("picks a CPU family where the caller does not", async () => {
    const dedicated = resource(await post(bare({})));
    const shared = resource(await post(bare({ type: "VCPU" })));
    expect([dedicated.properties.cpuFamily, shared.properties.cpuFamily]).toEqual(["INTEL_SKYLAKE", "INTEL_SKYLAKE"]);
  });

  it("needs 1024 MB of RAM with RAM hot-plug", async () => {
    expect(refusal(await post(serverBody({ ram: 768 }, { ramHotPlug: true })), 422, "100")).toContain(".ram]");
    const path = await ready(serverBody({ ram: 1024 }, { ramHotPlug: true }));
    expect(refusal(await platform.core("PATCH", path, { ram: 768 }), 422, "100")).toContain(".ram]");
  });

  it("can take an existing volume along", async () => {
    const body = { properties: { size: 3, licenceType: "OTHER" } };
    const { id } = resource(await platform.done("POST", `${datacenter}/volumes`, body));
    const path = await ready({ ...bare({ bootVolume: { id } }), entities: { volumes: { items: [{ id }] } } });
    expect(items(await platform.core("GET", `${path}/volumes`))).toMatchObject([{ id }]);
  });

  it("can bring firewall rules with its NICs", async () => {
    const nic = {
      properties: { lan: 1, firewallActive: true },
      entities: {
        firewallrules: { items: [{ properties: { protocol: "TCP", portRangeStart: 22, portRangeEnd: 22 } }] },
      },
    };
    const path = await ready({ ...bare({}), entities: { nics: { items: [nic] } } });
    const read = await platform.core("GET", `${path}/nics?depth=2`);
    expect(items(read)).toMatchObject([
      { entities: { firewallrules: { items: [{ type: "firewall-rule", properties: { type: "INGRESS" } }] } } },
    ]);
  });

  it("refuses children it does not have", async () => {
    const message = refusal(await post({ ...bare({}), entities: { wheels: { items: [{}] } } }), 422, "100");
    expect(message).toContain("[(root).entities.wheels]");
  });
});

describe("changing a server", () => {
  it("grows cores and RAM and changes the CPU family of a Dedicated Core server", async () => {
    const path = await ready(bare({}));
    await platform.done("PATCH", path, { cores: 8, ram: 8192, cpuFamily: "INTEL_ICELAKE" });
    expect(resource(await platform.core("GET", path)).properties).toMatchObject({
      name: "bare",
      cores: 8,
      ram: 8192,
      cpuFamily: "INTEL_ICELAKE",
      vmState: "RUNNING",
    });
  });

  it.each([
    ["the type", bare({}), { type: "VCPU" }, "type"],
    ["the CPU family of a vCPU server", bare({ type: "VCPU" }), { cpuFamily: "INTEL_ICELAKE" }, "cpuFamily"],
    ["to 61 cores on a vCPU server", bare({ type: "VCPU" }), { cores: 61 }, "cores"],
    ["RAM off its steps", bare({}), { ram: 1152 }, "ram"],
    ["to ZONE_3", bare({}), { availabilityZone: "ZONE_3" }, "availabilityZone"],
  ])("refuses to change %s", async (_, body, change, field) => {
    const message = refusal(await platform.core("PATCH", await ready(body), change), 422, "100");
    expect(message).toContain(`[(root).properties.${field}]`);
  });

  it("by PUT keeps what only the platform chose", async () => {
    const path = await ready(serverBody());
    const before = resource(await platform.core("GET", path)).properties;
    await platform.done("PUT", path, { properties: { name: "put", cores: 2, ram: 2048 } });
    expect(resource(await platform.core("GET", path)).properties).toMatchObject({
      name: "put",
      cores: 2,
      type: "ENTERPRISE",
      cpuFamily: before.cpuFamily,
      vmState: "RUNNING",
      bootVolume: before.bootVolume,
    });
  });

  it("is refused while it is BUSY", async () => {
    const path = await ready(bare({}));
    await platform.core("PATCH", path, { cores: 2 });
    for (const [method, below, body] of [
      ["PATCH", "", { cores: 3 }],
      ["DELETE", "", undefined],
      ["POST", "/nics", { properties: { lan: 1 } }],
      ["POST", "/volumes", { properties: { size: 1, licenceType: "OTHER" } }],
      ["POST", "/stop", undefined],
    ] as const) {
      expect(refusal(await platform.core(method, path + below, body), 422, "200")).toContain("BUSY");
    }
  });
});

describe("power", () => {
  it.each([
    ["stop", "SHUTOFF"],
    ["start", "RUNNING"],
    ["reboot", "RUNNING"],
    ["upgrade", "RUNNING"],
  ])("%s leaves the machine %s", async (action, vmState) => {
    const path = await ready(bare({}));
    const answer = await platform.core("POST", `${path}/${action}`);
    expect(answer).toMatchObject({ status: 202, body: undefined });
    expect(resource(await platform.core("GET", path)).metadata.state).toBe("BUSY");
    await platform.advance(5);
    expect(await platform.requestOf(answer)).toMatchObject({ status: "DONE" });
    expect(await platform.core("GET", path)).toMatchObject({
      body: { metadata: { state: "AVAILABLE" }, properties: { vmState } },
    });
  });

  it.each(["suspend", "resume"])("%s is refused on anything but a Cube", async (action) => {
    for (const type of ["ENTERPRISE", "VCPU"]) {
      refusal(await platform.core("POST", `${await ready(bare({ type }))}/${action}`), 422, "200");
    }
  });

  it("has a remote console and a token", async () => {
    const path = await ready(bare({}));
    expect(await platform.core("GET", `${path}/remoteconsole`)).toMatchObject({ body: { url: expect.any(String) } });
    expect(await platform.core("GET", `${path}/token`)).toMatchObject({ body: { token: expect.any(String) } });
  });
});

describe("deleting a server", () => {
  it("keeps its volumes by default, without a server", async () => {
    const path = await ready(serverBody());
    const [volume] = items(await platform.core("GET", `${path}/volumes`));
    await platform.done("DELETE", path);
    refusal(await platform.core("GET", path), 404, "309");
    expect(await platform.core("GET", `${datacenter}/volumes/${volume?.id}`)).toMatchObject({
      status: 200,
      body: { properties: { bootServer: null, deviceNumber: null } },
    });
  });

  it.each(["true", "True", "TRUE"])("takes them along with deleteVolumes=%s", async (value) => {
    const path = await ready(serverBody());
    const [volume] = items(await platform.core("GET", `${path}/volumes`));
    await platform.done("DELETE", `${path}?deleteVolumes=${value}`);
    refusal(await platform.core("GET", `${datacenter}/volumes/${volume?.id}`), 404, "309");
  });
});
