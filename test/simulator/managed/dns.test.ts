import { describe, expect, it } from "vitest";
import { z } from "zod";
import { items, refusal, resource } from "../platform.ts";
import { dnsForFile } from "./dns-calls.ts";

const { platform, dns, made, newZone, names } = await dnsForFile();
const { endpoints, contractNumber } = platform.ready;

describe("a zone", () => {
  it("is PROVISIONING, then AVAILABLE, and tells its name servers", async () => {
    const path = await newZone({ zoneName: "Shop.Example.", description: "the shop" });
    const { id, href, metadata, properties } = resource(await dns("GET", path));
    expect(href).toBe(`${endpoints.dns}${path}`);
    expect(properties).toEqual({ zoneName: "shop.example", description: "the shop", enabled: true });
    expect(metadata).toMatchObject({
      state: "AVAILABLE",
      nameservers: ["ns-ic.ui-dns.com", "ns-ic.ui-dns.de", "ns-ic.ui-dns.org", "ns-ic.ui-dns.biz"],
      resourceURN: `urn:ionos:dns:${contractNumber}::zone/${id}`,
    });
  });

  it("keeps its name, and takes a new description", async () => {
    const path = await newZone({ zoneName: "kept.example" });
    expect(await dns("PUT", path, { properties: { zoneName: "kept.example", description: "b" } })).toMatchObject({
      status: 202,
      body: { metadata: { state: "PROVISIONING" }, properties: { description: "b" } },
    });
    const renamed = await dns("PUT", path, { properties: { zoneName: "other.example" } });
    expect(refusal(renamed, 422, "paas-dns-100")).toContain("zoneName");
    refusal(await dns("POST", "/zones", { properties: { zoneName: "kept.example" } }), 409, "paas-dns-200");
  });

  it("is made by PUT under an id of one's own", async () => {
    const id = "11111111-2222-4333-8444-555555555555";
    const body = { properties: { zoneName: "ensured.example" } };
    expect(await dns("PUT", `/zones/${id}`, body)).toMatchObject({ status: 202, body: { id } });
    refusal(await dns("PUT", "/zones/not-a-uuid", { properties: { zoneName: "no.example" } }), 422, "paas-dns-100");
  });

  it("takes its records and keys along when it goes", async () => {
    const path = await newZone();
    const record = await made(`${path}/records`, { name: "www", type: "A", content: "192.0.2.1" });
    await dns("POST", `${path}/keys`, { properties: {} });
    expect((await dns("DELETE", path)).status).toBe(202);
    expect(resource(await dns("GET", path)).metadata.state).toBe("DESTROYING");
    refusal(await dns("DELETE", path), 409, "paas-dns-200");
    await platform.advance(5);
    for (const gone of [path, record, `${path}/keys`]) refusal(await dns("GET", gone), 404, "paas-dns-309");
  });

  it("fails where the plan says so, and says why", async () => {
    await platform.steer("PUT", "faults", {
      rules: [{ fault: "request-failed", message: "no room", route: "POST /dns/zones", count: 1 }],
    });
    const answer = await dns("POST", "/zones", { properties: { zoneName: "failed.example" } });
    await platform.advance(5);
    const { metadata } = resource(await dns("GET", `/zones/${resource(answer).id}`));
    expect(metadata).toMatchObject({ state: "FAILED", statusMessage: "no room" });
    await platform.steer("PUT", "faults", {});
  });
});

describe("lists", () => {
  it("come in pages with links, and filters narrow them", async () => {
    const zone = await newZone();
    for (const name of ["a", "b", "c"]) await made(`${zone}/records`, { name, type: "TXT", content: name });
    const first = await dns("GET", `${zone}/records?limit=2`);
    expect(first.body).toMatchObject({
      type: "collection",
      offset: 0,
      limit: 2,
      _links: { self: expect.any(String), next: expect.stringContaining("offset=2") },
    });
    expect(await names(`${zone}/records?limit=2`)).toEqual(["a", "b"]);
    expect(await names(`${zone}/records?limit=2&offset=2`)).toEqual(["c"]);
    const id = zone.split("/")[2];
    expect(await names(`/records?filter.zoneId=${id}&filter.name=B&filter.type=txt&filter.state=AVAILABLE`)).toEqual([
      "b",
    ]);
    expect(items(await dns("GET", "/zones?filter.zoneName=shop"))).toHaveLength(1);
    for (const query of ["limit=0", "limit=1001", "offset=-1"]) {
      refusal(await dns("GET", `/zones?${query}`), 422, "paas-dns-100");
    }
  });
});

describe("a record", () => {
  it("has the name it is found by, and a priority only if its type has one", async () => {
    const zone = await newZone({ zoneName: "records.example" });
    const mail = await made(`${zone}/records`, {
      name: "@",
      type: "MX",
      content: "mail.records.example",
      priority: 10,
    });
    const { metadata, properties } = resource(await dns("GET", mail));
    expect(metadata).toMatchObject({ state: "AVAILABLE", fqdn: "records.example", zoneId: zone.split("/")[2] });
    expect(properties).toEqual({
      name: "",
      type: "MX",
      content: "mail.records.example",
      ttl: 3600,
      priority: 10,
      enabled: true,
    });
    const www = await made(`${zone}/records`, {
      name: "WWW",
      type: "A",
      content: "192.0.2.1",
      ttl: 60,
      // The platform's command sends it for every type.
      priority: 0,
      enabled: false,
    });
    expect(resource(await dns("GET", www))).toMatchObject({ metadata: { fqdn: "www.records.example" } });
    expect(resource(await dns("GET", www)).properties).toEqual({
      name: "www",
      type: "A",
      content: "192.0.2.1",
      ttl: 60,
      enabled: false,
    });
    const other = await newZone();
    refusal(await dns("GET", www.replace(zone, other)), 404, "paas-dns-309");
  });

  it.each([
    ["A with a name", { type: "A", content: "example.org" }, "content"],
    ["AAAA with IPv4", { type: "AAAA", content: "192.0.2.1" }, "content"],
    ["CNAME with spaces", { type: "CNAME", content: "a b" }, "content"],
    ["SRV without a port", { type: "SRV", content: "5 target" }, "content"],
    ["an unknown type", { type: "SPF", content: "x" }, "type"],
    ["a lifetime below a minute", { type: "A", content: "192.0.2.1", ttl: 59 }, "ttl"],
    ["a lifetime above a week", { type: "A", content: "192.0.2.1", ttl: 604_801 }, "ttl"],
    ["a priority above 65535", { type: "MX", content: "a.example", priority: 65_536 }, "priority"],
    ["no content", { type: "A" }, "content"],
    ["a name with spaces", { type: "A", content: "192.0.2.1", name: "a b" }, "name"],
  ])("with %s is refused: 422 that names the field", async (_, properties, field) => {
    const zone = await dns("GET", "/zones?limit=1");
    const answer = await dns("POST", `/zones/${items(zone)[0]?.id}/records`, {
      properties: { name: "x", ...properties },
    });
    expect(refusal(answer, 422, "paas-dns-100")).toContain(`[(root).properties.${field}]`);
  });

  it("is not there twice, and a CNAME stands alone", async () => {
    const zone = await newZone();
    const records = `${zone}/records`;
    await made(records, { name: "a", type: "A", content: "192.0.2.1" });
    const post = (properties: object) => dns("POST", records, { properties });
    refusal(await post({ name: "a", type: "A", content: "192.0.2.1" }), 409, "paas-dns-200");
    refusal(await post({ name: "a", type: "CNAME", content: "b.example" }), 409, "paas-dns-200");
    expect((await post({ name: "a", type: "A", content: "192.0.2.2" })).status).toBe(202);
  });
});

describe("a secondary zone", () => {
  it("has the records that its primaries give, and can ask again", async () => {
    const properties = { zoneName: "second.example", primaryIps: ["192.0.2.53", "2001:db8::53"] };
    const path = await made("/secondaryzones", properties);
    expect(resource(await dns("GET", path)).properties).toEqual(properties);
    const list = await dns("GET", `${path}/records`);
    expect(list.body).toMatchObject({ metadata: { primaryIps: properties.primaryIps } });
    expect(items(list)[0]).toMatchObject({
      metadata: { fqdn: "second.example", zoneId: path.split("/")[2], rootName: "second.example" },
      properties: { type: "NS" },
    });
    for (const method of ["GET", "PUT"]) {
      expect(await dns(method, `${path}/axfr`)).toMatchObject({
        status: 202,
        body: { items: properties.primaryIps.map((primaryIp) => ({ primaryIp, status: "OK" })) },
      });
    }
    const answer = await dns("POST", "/secondaryzones", { properties: { zoneName: "x.example", primaryIps: ["x"] } });
    expect(refusal(answer, 422, "paas-dns-100")).toContain("primaryIps[0]");
    refusal(await dns("POST", "/zones", { properties: { zoneName: "second.example" } }), 409, "paas-dns-200");
  });
});

describe("a reverse record", () => {
  it("is of an address of the contract, one for each", async () => {
    const block = await platform.made("/ipblocks", { properties: { name: "b", location: "de/fra", size: 2 } });
    const [ip, second] = z.array(z.string()).parse(resource(await platform.core("GET", block)).properties.ips);
    const properties = { name: "mail.example.org", ip };
    const answer = await dns("POST", "/reverserecords", { properties });
    expect(answer).toMatchObject({ status: 201, body: { properties } });
    const { id, metadata } = resource(answer);
    expect(metadata).not.toHaveProperty("state");
    refusal(await dns("POST", "/reverserecords", { properties }), 409, "paas-dns-200");
    const foreign = await dns("POST", "/reverserecords", { properties: { ...properties, ip: "192.0.2.77" } });
    expect(refusal(foreign, 422, "paas-dns-100")).toContain("ip");
    const body = { properties: { ...properties, name: "www.example.org" } };
    expect(await dns("PUT", `/reverserecords/${id}`, body)).toMatchObject({ status: 200, body });
    expect(items(await dns("GET", `/reverserecords?filter.recordIp=${ip}`))).toHaveLength(1);
    expect(items(await dns("GET", `/reverserecords?filter.recordIp=${second}`))).toHaveLength(0);
    expect((await dns("DELETE", `/reverserecords/${id}`)).status).toBe(202);
    refusal(await dns("GET", `/reverserecords/${id}`), 404, "paas-dns-309");
  });
});

const addresses = z.looseObject({ ipv6Ips: z.array(z.string()) });

it("a reverse record may be of an IPv6 address that a NIC has got by itself", async () => {
  const datacenter = await platform.datacenter();
  const lan = await platform.made(`${datacenter}/lans`, { properties: { name: "six", ipv6CidrBlock: "AUTO" } });
  const server = await platform.made(`${datacenter}/servers`, { properties: { name: "mail", cores: 1, ram: 1024 } });
  const number = Number(lan.split("/").at(-1));
  const nic = await platform.made(`${server}/nics`, { properties: { name: "n", lan: number } });
  const [ip] = addresses.parse(resource(await platform.core("GET", nic)).properties).ipv6Ips;
  const properties = { name: "mail.example.org", ip };
  expect(await dns("POST", "/reverserecords", { properties })).toMatchObject({ status: 201, body: { properties } });
});

const quotaShape = z.object({
  quotaUsage: z.record(z.string(), z.number()),
  quotaLimits: z.record(z.string(), z.number()),
});

describe("the contract", () => {
  it("has a quota that counts what is there", async () => {
    const before = quotaShape.parse((await dns("GET", "/quota")).body);
    await newZone();
    const after = quotaShape.parse((await dns("GET", "/quota")).body);
    expect(after.quotaUsage).toEqual({ ...before.quotaUsage, zones: (before.quotaUsage.zones ?? 0) + 1 });
    expect(Object.keys(after.quotaLimits)).toEqual(Object.keys(after.quotaUsage));
  });

  it("shares nothing with others, and its users need the privilege", async () => {
    const zone = await newZone({ zoneName: "private.example" });
    const other = await platform.contract();
    const authorization = `Bearer ${other.ready.token}`;
    refusal(await dns("GET", zone, undefined, { authorization }), 404, "paas-dns-309");
    const body = { properties: { zoneName: "private.example" } };
    expect((await dns("POST", "/zones", body, { authorization })).status).toBe(202);
    const user = await platform.user("plain@example.org", { privileges: [] });
    const plain = await dns("GET", "/zones", undefined, { authorization: `Bearer ${user.token}` });
    expect(refusal(plain, 403, "paas-dns-451")).toContain("accessAndManageDns");
  });
});
