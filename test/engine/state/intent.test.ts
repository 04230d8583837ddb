import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readClaim, readIntent } from "../../../src/engine/state/intent.ts";
import { hashBody, hashFields, hashText } from "../../../src/runtime/hash.ts";
import { API, intentOf } from "../support/fixtures.ts";

describe("the hash of a body", () => {
  test("does not depend on the order of keys", () => {
    expect(hashBody({ a: 1, b: { c: [1, 2], d: "x" } })).toBe(hashBody({ b: { d: "x", c: [1, 2] }, a: 1 }));
  });

  test("depends on the order of lists, on types and on null", () => {
    const bodies = [[1, 2], [2, 1], ["1", 2], { a: null }, {}, { a: 0 }, { a: "" }, { a: false }, null, "null"];
    expect(new Set(bodies.map(hashBody)).size).toBe(bodies.length);
  });

  test("leaves out what JSON leaves out", () => {
    expect(hashBody({ a: 1, b: undefined })).toBe(hashBody({ a: 1 }));
  });

  test("tells nothing of a password, wherever it is in the body", () => {
    const body = (imagePassword?: string) => ({
      entities: { volumes: { items: [{ properties: { imagePassword } }] } },
    });
    expect(hashBody(body("hunter2hunter2"))).toBe(hashBody(body()));
    expect(hashText(JSON.stringify(body("hunter2hunter2")))).toBe(hashBody(body("***")));
  });

  test("is the same for the text that the platform's log keeps", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (body) => {
        expect(hashText(JSON.stringify(body, null, 2))).toBe(hashBody(JSON.parse(JSON.stringify(body))));
      }),
    );
  });

  test("is the same whatever order the platform gives the keys", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (body) => {
        const turned = Object.fromEntries(Object.entries(body).reverse());
        expect(hashBody(turned)).toBe(hashBody(body));
      }),
    );
  });

  test("tells bodies apart whose keys hold quotes and commas", () => {
    expect(hashBody({ 'a":1,"b': 2 })).not.toBe(hashBody({ a: 1, b: 2 }));
  });

  test.each(["", "{", "not json"])("is unknown for the text %j", (text) => {
    expect(hashText(text)).toBeUndefined();
  });
});

describe("the hashes of fields", () => {
  const spec = { location: "de/txl", boot: { image: "debian", size: 10 } };

  test("are one for each field, nested ones too, and do not depend on others", () => {
    const before = hashFields(spec, ["location", "boot.image"]);
    expect(Object.keys(before)).toEqual(["location", "boot.image"]);
    expect(hashFields({ ...spec, boot: { image: "debian", size: 20 } }, ["location", "boot.image"])).toEqual(before);
    const after = hashFields({ ...spec, boot: { image: "alpine" } }, ["location", "boot.image"]);
    expect(after.location).toBe(before.location);
    expect(after["boot.image"]).not.toBe(before["boot.image"]);
  });

  test("tell an absent field from a present one, and exist for any spec", () => {
    expect(hashFields({}, ["location"])).toEqual(hashFields("nonsense", ["location"]));
    expect(hashFields({}, ["location"])).not.toEqual(hashFields(spec, ["location"]));
  });
});

describe("an annotation", () => {
  test("is read as it was written", () => {
    const intent = intentOf({ parents: { datacenter: "d1" } });
    expect(readIntent(JSON.stringify(intent))).toEqual(intent);
    const claim = { id: "s1", parents: { datacenter: "d1" }, account: "shop/main", endpoint: API, contract: 7 };
    expect(readClaim(JSON.stringify(claim))).toEqual(claim);
  });

  test.each([
    ["absent", undefined],
    ["empty", ""],
    ["not JSON", "{nonce"],
    ["null", "null"],
    ["a list", "[]"],
    ["without a nonce", JSON.stringify({ ...intentOf(), nonce: "" })],
    ["without a time", JSON.stringify({ ...intentOf(), at: "yesterday" })],
    ["with parents that are no words", JSON.stringify({ ...intentOf(), parents: { datacenter: 7 } })],
  ])("that is %s counts as none", (_, text) => {
    expect(readIntent(text)).toBeUndefined();
    expect(readClaim(text)).toBeUndefined();
  });

  test("can hold anything without harm", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        expect(() => [readIntent(text), readClaim(text)]).not.toThrow();
      }),
    );
  });
});
