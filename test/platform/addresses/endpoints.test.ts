import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { endpointUrl, spellingOf } from "../../../src/platform/addresses/endpoints.ts";
import { routeOf } from "../../../src/platform/calls/route.ts";

describe("an endpoint", () => {
  test.each([
    ["https://logging.{region}.example", "de/fra", "https://logging.de-fra.example"],
    ["https://logging.{region}.example/", "de/fra/2", "https://logging.de-fra.example"],
    ["https://logging.{region}.example", "de-txl", "https://logging.de-txl.example"],
    ["http://127.0.0.1:8080/logging", undefined, "http://127.0.0.1:8080/logging"],
  ])("%s in %s is %s", (template, region, url) => {
    expect(endpointUrl(template, region)).toBe(url);
  });

  test("that needs a region says so", () => {
    expect(() => endpointUrl("https://kafka.{region}.example", undefined)).toThrow("needs a region: set spec.region");
  });

  test.each(["evil.example/", "de/fra@evil", "..", " ", "de fra"])("refuses %j as a region", (region) => {
    expect(() => endpointUrl("https://kafka.{region}.example", region)).toThrow(Error);
  });
});

/** Ways to write the same address of four bytes. */
const ipv4Spellings = fc
  .tuple(...[0, 1, 2, 3].map(() => fc.integer({ min: 0, max: 255 })))
  .chain(([a = 0, b = 0, c = 0, d = 0]) => {
    const number = ((a * 256 + b) * 256 + c) * 256 + d;
    const hex = (value: number) => value.toString(16);
    const forms = [
      `${a}.${b}.${c}.${d}`,
      `${a}.${b}.${c}.${d}.`,
      `${a}.${b}.${c * 256 + d}`,
      `${a}.${(b * 256 + c) * 256 + d}`,
      String(number),
      `0x${hex(number)}`,
      `0${a.toString(8)}.0x${hex(b)}.${c}.${d}`,
      `[::ffff:${a}.${b}.${c}.${d}]`,
      `[0:0:0:0:0:FFFF:${hex(a * 256 + b)}:${hex(c * 256 + d)}]`,
    ];
    return fc.record({ plain: fc.constant(forms[0] ?? ""), written: fc.constantFrom(...forms) });
  });
const nameSpellings = fc.constantFrom("api.example.com", "xn--bcher-kva.example").chain((plain) =>
  fc.record({
    plain: fc.constant(plain),
    written: fc.constantFrom(plain, plain.toUpperCase(), `${plain}.`, plain.replace("xn--bcher-kva", "B\u00fccher")),
  }),
);
const ipv6Spellings = fc
  .constantFrom("[fd00::1]", "[FD00::0001]", "[fd00:0:0:0:0:0:0:1]", "[fd00::0.0.0.1]")
  .map((written) => ({
    plain: "[fd00::1]",
    written,
  }));
const pathSpellings = fc.constantFrom("", "/logging", "/a/b-c").chain((plain) =>
  fc.record({
    plain: fc.constant(plain),
    written: fc.constantFrom(
      plain,
      `${plain}/`,
      `${plain}//`,
      `/.${plain}`,
      `/x/..${plain}`,
      plain.replaceAll("/", "//"),
      plain.replaceAll("/", "\\"),
      plain.replaceAll("b", "%62").replaceAll("o", "%6F"),
      `${plain}/cloudapi/v6`,
      `${plain}\\cloudapi\\v6/`,
    ),
  }),
);

describe("the spelling of an endpoint", () => {
  test("is one for all ways to write it", () => {
    const host = fc.oneof(ipv4Spellings, nameSpellings, ipv6Spellings);
    const door = fc.constantFrom(
      "http://_",
      "http://_:80",
      " HTTP://_:0080",
      "https://_:443",
      "Https:\\\\_",
      "https://_:8443",
    );
    fc.assert(
      fc.property(host, door, pathSpellings, (host, door, path) => {
        const plain = new URL(door.replace("_", host.plain)).origin + path.plain;
        const spelling = spellingOf(door.replace("_", host.written) + path.written);
        expect(spelling).toBe(plain);
        expect(spellingOf(spelling)).toBe(spelling);
      }),
    );
  });

  test.each([
    ["http://127.0.0.1:47150", "http://127.0.0.2:47150"],
    ["http://127.0.0.1:47150", "https://127.0.0.1:47150"],
    ["http://127.0.0.1:47150", "http://127.0.0.1:47151"],
    ["https://api.example.com", "https://api.example.com.evil.test"],
    ["https://api.example.com/a", "https://api.example.com/b"],
    ["https://api.example.com/a", "https://api.example.com/%2Fa"],
    ["https://[fd00::1]", "https://[fd00::2]"],
  ])("differs where the endpoint does: %s, %s", (one, other) => {
    expect(spellingOf(one)).not.toBe(spellingOf(other));
  });

  test.each(["", "not a url", "{region}"])("that is no URL stays: %j", (text) => {
    expect(spellingOf(text)).toBe(text);
  });
});

describe("a route", () => {
  const id = "0b1f6f0e-93a5-4c1d-8f0e-7d5f3d6f1a2b";
  test.each([
    [`/cloudapi/v6/datacenters/${id}/servers/${id}/volumes`, "/cloudapi/v6/datacenters/{id}/servers/{id}/volumes"],
    [
      `/cloudapi/v6/datacenters/${id}/volumes/${id}/create-snapshot`,
      "/cloudapi/v6/datacenters/{id}/volumes/{id}/create-snapshot",
    ],
    [`/cloudapi/v6/datacenters/${id}/lans/1`, "/cloudapi/v6/datacenters/{id}/lans/{id}"],
    [`/cloudapi/v6/datacenters/${id}/labels/owner`, "/cloudapi/v6/datacenters/{id}/labels/{id}"],
    ["/cloudapi/v6/locations/de/fra", "/cloudapi/v6/locations/{id}/{id}"],
    [`/cloudapi/v6/um/users/${id}/s3keys/00ab12cd34`, "/cloudapi/v6/um/users/{id}/s3keys/{id}"],
    [`/autoscaling/v1.ea/groups/${id}/actions`, "/autoscaling/v1.ea/groups/{id}/actions"],
    ["/activitylog/v1/contracts/31000000", "/activitylog/v1/contracts/{id}"],
    ["/cloudapi/v6/k8s/versions/default", "/cloudapi/v6/k8s/versions/default"],
    ["/", "/"],
  ])("of %s is %s", (path, route) => {
    expect(routeOf(path)).toBe(route);
  });
});
