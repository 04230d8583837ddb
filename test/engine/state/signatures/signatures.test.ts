import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { EXTERNAL_ID, INTENT } from "../../../../src/engine/state/names.ts";
import { claimOf, openIntent } from "../../../../src/engine/state/object.ts";
import { nested } from "../../../../src/engine/status/schema.ts";
import { readStatus, readWhole } from "../../../../src/engine/status/status.ts";
import { trust } from "../../../../src/engine/status/trust.ts";
import { createSigner } from "../../../../src/runtime/signer.ts";
import { intentOf } from "../../support/fixtures.ts";
import { claim, claimed, dc, inPlace, judged, keys, marked, owning, seal } from "./signed-objects.ts";

describe("content that the operator has written", () => {
  test("counts: in status, as an intent, as a claim that is kept", () => {
    expect(claimed(owning("a"))).toBe("d1");
    expect(claimed(inPlace(owning("a")))).toBe("d1");
    expect(claimed(marked("a", EXTERNAL_ID, claim))).toBe("d1");
    expect(openIntent(judged(marked("a", INTENT, intentOf())))?.nonce).toBe("n1");
  });

  test("counts in a status for the object itself, and for no other that has its name later", () => {
    const { metadata, ...rest } = owning("a");
    const again = { ...rest, metadata: { ...metadata, uid: "of the next one" } };
    expect(metadata.uid).toBeDefined();
    expect(claimed(again)).toBeUndefined();
    const kept = marked("a", EXTERNAL_ID, claim);
    expect(claimed({ ...kept, metadata: { ...kept.metadata, uid: "restored from a backup" } })).toBe("d1");
  });

  test("does not count without its uid", () => {
    const object = dc("a");
    const { uid: _, ...unnamed } = object.metadata;
    const written = { ...object, status: seal.signed("Datacenter", { ...object, metadata: unnamed }, claim) };
    expect(claimed(written)).toBeUndefined();
    expect(trust.get(judged(owning("a")))?.current.status).toBe(true);
  });

  test("counts however the API server has put it: other order, nothing for what is empty", () => {
    const { status, ...object } = owning("a", seal, { ...claim, drift: [], fixed: {}, advice: undefined });
    const reversed = Object.fromEntries(Object.entries(status ?? {}).reverse());
    Reflect.deleteProperty(reversed, "drift");
    Reflect.deleteProperty(reversed, "parents");
    expect(claimed({ ...object, status: reversed })).toBe("d1");
  });

  test("counts in every version: what a signature is made of never changes", () => {
    const said = { b: { c: null, d: [{}, null, "x"] }, a: 1, é: true, gone: { deep: {} }, text: '\u2028"' };
    const signature = createSigner(() => keys).sign(["Datacenter", "shop", "a", "status", said]);
    expect(signature).toBe("3fafd94f.pBtMdH2samtAgW8KhGKMJ77aX2qBTAS2h2k6K1ERQUE");
  });

  test("says how it stands, whatever else is not believed", () => {
    const conditions = [{ type: "Ready", status: "True", reason: "Available", message: "", lastTransitionTime: "" }];
    const forged = dc("a", { status: { ...claim, conditions, observedGeneration: 3 } });
    expect(readWhole(judged(forged))).toEqual({ conditions, observedGeneration: 3 });
  });
});

describe("content that a tenant has written", () => {
  test.each([
    ["a status without a signature", dc("a", { status: claim })],
    ["a signature that is none", dc("a", { status: { ...claim, signature: "x" } })],
    ["a status that was copied", { ...dc("a"), status: owning("b").status ?? {} }],
    [
      "an annotation that was copied",
      { ...dc("a"), metadata: { ...marked("b", EXTERNAL_ID, claim).metadata, name: "a" } },
    ],
    [
      "an annotation without a signature",
      dc("a", { metadata: { name: "a", annotations: { [EXTERNAL_ID]: JSON.stringify(claim) } } }),
    ],
    ["an annotation that is no JSON", dc("a", { metadata: { name: "a", annotations: { [EXTERNAL_ID]: "{" } } })],
  ])("does not count: %s", (_, object) => {
    expect(claimed(object)).toBeUndefined();
    expect(readStatus(judged(object)).id).toBeUndefined();
  });

  test("does not count as an intent", () => {
    const annotations = { [INTENT]: JSON.stringify(intentOf()) };
    expect(openIntent(judged(dc("a", { metadata: { name: "a", annotations } })))).toBeUndefined();
  });

  test("an intent does not pass for a claim, nor the words of one kind for another's", () => {
    const signed = seal.mark("Datacenter", dc("a"), INTENT, claim);
    expect(claimed(dc("a", { metadata: { name: "a", annotations: { [EXTERNAL_ID]: signed } } }))).toBeUndefined();
    expect(claimOf(judged(owning("a"), seal, "Server"))).toBeUndefined();
  });

  test("changes nothing of what is signed without being noticed", () => {
    const facts = {
      ...claim,
      ips: ["10.0.0.1"],
      request: { action: "create", status: "BUSY", since: "2026-01-01T00:00:00.000Z" },
    };
    const honest = owning("a", seal, facts).status ?? {};
    const { internal } = Object(inPlace(owning("a", seal, facts)).status);
    const field = fc.constantFrom(
      "id",
      "parents",
      "account",
      "endpoint",
      "contract",
      "nonce",
      "ips",
      "request",
      "fixed",
    );
    fc.assert(
      fc.property(field, fc.jsonValue(), (name, value) => {
        const forged = { ...honest, [name]: value };
        fc.pre(JSON.stringify(Reflect.get(honest, name) ?? {}) !== JSON.stringify(value ?? {}));
        fc.pre(!isEmpty(value) || !isEmpty(Reflect.get(honest, name)));
        const inTheOpen = { ...nested(honest), [name]: value };
        for (const status of [forged, inTheOpen]) expect(counted(status)).toEqual(expected(name));
        const within = { ...nested(honest), internal: { ...internal, [name]: value } };
        // The plain value counts; a second one beside it is ignored.
        const hidden = name in nested(honest);
        expect(counted(within)).toEqual(hidden ? ALL : expected(name));
      }),
      { numRuns: 500 },
    );
  });
});
/** The groups of a status that count. */
function counted(status: object) {
  const { claim, request, facts } = trust.get(judged(dc("a", { status }))) ?? {};
  return [claim, request, facts].map((verdict) => verdict === "ours");
}
const ALL = [true, true, true];
/** The groups that still count after an edit of one field: request and facts belong to the claimed id. */
function expected(field: string) {
  if (field === "id") return [false, false, false];
  if (field === "ips") return [true, true, false];
  return field === "request" ? [true, false, true] : [false, true, true];
}
/** Values that the API server may omit. */
const isEmpty = (value: unknown): boolean =>
  value == null ||
  (typeof value === "object" && Object.values(value).every((each) => !Array.isArray(value) && isEmpty(each)));
