import { describe, expect, it } from "vitest";
import { z } from "zod";
import { items, refusal } from "../platform.ts";
import { dnsForFile } from "./dns-calls.ts";

const { dns, made, newZone, names } = await dnsForFile();

const zoneFileOf = async (zone: string) => z.string().parse((await dns("GET", `${zone}/zonefile`)).body);
const putZoneFile = (zone: string, raw: string) =>
  dns("PUT", `${zone}/zonefile`, undefined, { raw, headers: { "content-type": "text/plain" } });

describe("a zone file", () => {
  it("is BIND text with all that is enabled", async () => {
    const zone = await newZone({ zoneName: "file.example" });
    await made(`${zone}/records`, { name: "www", type: "A", content: "192.0.2.1" });
    await made(`${zone}/records`, { name: "", type: "TXT", content: 'v="1"; x' });
    await made(`${zone}/records`, { name: "", type: "MX", content: "mail.file.example", priority: 5 });
    await made(`${zone}/records`, { name: "off", type: "A", content: "192.0.2.9", enabled: false });
    const text = await zoneFileOf(zone);
    expect(text).toContain(
      "$ORIGIN file.example.\n$TTL 3600\n@\t3600\tIN\tSOA\tns-ic.ui-dns.com. hostmaster.file.example. ",
    );
    expect(text).toContain("@\t86400\tIN\tNS\tns-ic.ui-dns.de.\n");
    expect(text).toContain("www\t3600\tIN\tA\t192.0.2.1\n");
    expect(text).toContain('@\t3600\tIN\tTXT\t"v=\\"1\\"; x"\n');
    expect(text).toContain("@\t3600\tIN\tMX\t5 mail.file.example.\n");
    expect(text).not.toContain("192.0.2.9");
  });

  it("replaces the records, and the one of another zone reads back the same", async () => {
    const zone = await newZone({ zoneName: "put.example" });
    const kept = await made(`${zone}/records`, { name: "www", type: "A", content: "192.0.2.1", ttl: 600 });
    await made(`${zone}/records`, { name: "old", type: "A", content: "192.0.2.2" });
    const answer = await putZoneFile(
      zone,
      `$TTL 1h ; the usual
@ IN SOA ns.put.example. root.put.example. (
    1 7200 ; refresh
    600 3600000 60 )
@     IN NS ns.put.example.
www   600 IN A 192.0.2.1
      IN AAAA 2001:db8::1
mail  IN 1d MX 10 mx
_sip._tcp 300 IN SRV 1 2 5060 sip.put.example.
@     TXT "one " "two; three"
@     IN CAA 0 issue "letsencrypt.org"
alias.put.example. IN CNAME www
`,
    );
    expect(answer.status).toBe(200);
    expect(items(answer).map(({ properties }) => properties)).toEqual([
      { name: "www", type: "A", content: "192.0.2.1", ttl: 600, enabled: true },
      { name: "www", type: "AAAA", content: "2001:db8::1", ttl: 3600, enabled: true },
      { name: "mail", type: "MX", content: "mx.put.example", ttl: 86_400, priority: 10, enabled: true },
      { name: "_sip._tcp", type: "SRV", content: "2 5060 sip.put.example", ttl: 300, priority: 1, enabled: true },
      { name: "", type: "TXT", content: "one two; three", ttl: 3600, enabled: true },
      { name: "", type: "CAA", content: '0 issue "letsencrypt.org"', ttl: 3600, enabled: true },
      { name: "alias", type: "CNAME", content: "www.put.example", ttl: 3600, enabled: true },
    ]);
    expect((await dns("GET", kept)).status).toBe(200);
    const written = await zoneFileOf(zone);
    expect((await putZoneFile(zone, written)).status).toBe(200);
    expect(await zoneFileOf(zone)).toBe(written);
  });

  it.each([
    ["a record of another domain", "www.else.example. IN A 192.0.2.1", "line 1: www.else.example is not in the zone"],
    ["an unknown type", "\nwww IN HINFO a b", "line 2: the type HINFO"],
    ["a wrong address", "www IN A 300.0.0.1", "line 1"],
    ["an open parenthesis", "@ IN TXT ( a", "line 1: there is a ( without )"],
    ["a directive that is not supported", "$INCLUDE other", "line 1: $INCLUDE"],
  ])("with %s is refused and changes nothing", async (_, text, message) => {
    const zone = await newZone();
    await made(`${zone}/records`, { name: "here", type: "A", content: "192.0.2.1" });
    expect(refusal(await putZoneFile(zone, text), 422, "paas-dns-100")).toContain(message);
    expect(await names(`${zone}/records`)).toEqual(["here"]);
  });
});
