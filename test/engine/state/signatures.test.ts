import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decide } from "../../../src/engine/decide/decide.ts";
import { EXTERNAL_ID, FINALIZER, INTENT, PUBLISHED } from "../../../src/engine/state/names.ts";
import { claimOf, openIntent } from "../../../src/engine/state/object.ts";
import { createObjects } from "../../../src/engine/state/objects.ts";
import { createSignatures, type Signatures } from "../../../src/engine/state/signatures.ts";
import { nested } from "../../../src/engine/status/schema.ts";
import { readStatus, readWhole } from "../../../src/engine/status/status.ts";
import { trust } from "../../../src/engine/status/trust.ts";
import { kinds } from "../../../src/kinds/index.ts";
import type { KubeObject } from "../../../src/kube/resource.ts";
import { createSigner } from "../../../src/runtime/signer.ts";
import { fakeClock } from "../../fake-clock.ts";
import { API, fakePlatform } from "../support/fake-platform.ts";
import { annotated, datacenterSpec, intentOf, objectOf } from "../support/fixtures.ts";
import { accountOf, credentials, runEngine } from "../support/running-engine.ts";
import { stage } from "../support/stage.ts";

const keys = ["one", "two"];
const seal = createSignatures({ keys: () => keys });
const claim = { id: "d1", parents: {}, account: "shop/main", endpoint: "https://api.test", contract: 7, nonce: "n1" };
const dc = (name: string, more: Partial<KubeObject> = {}) =>
  objectOf("Datacenter", name, { spec: datacenterSpec, ...more });

/** An object whose status was written with a seal. */
function owning(name: string, by: Signatures = seal, status: object = claim): KubeObject {
  const object = dc(name);
  return { ...object, status: by.signed("Datacenter", object, status) };
}
/** An object whose annotation was written with a seal. */
function marked(name: string, annotation: string, words: object, by: Signatures = seal): KubeObject {
  return dc(name, {
    metadata: { name, annotations: { [annotation]: by.mark("Datacenter", dc(name), annotation, words) } },
  });
}
/** The same object with everything in its place. */
const inPlace = ({ status, ...object }: KubeObject): KubeObject => ({ ...object, status: nested(status ?? {}) });
/** The object as it enters a store. */
function judged(object: KubeObject, by: Signatures = seal, kind = "Datacenter"): KubeObject {
  const arrived = { ...object };
  by.judge(kind, arrived);
  return arrived;
}
const claimed = (object: KubeObject, by: Signatures = seal) => claimOf(judged(object, by))?.id;

describe("what the operator has written", () => {
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

describe("what a tenant has written", () => {
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

describe("a signing key", () => {
  const former = createSignatures({ keys: () => ["two"] });
  const block = (annotations: Record<string, string> = {}) =>
    objectOf("IPBlock", "a", {
      spec: { location: "de/txl", size: 1 },
      metadata: { name: "a", finalizers: [FINALIZER], annotations },
    });

  test("that was exchanged still counts for as long as it is there, and the new one signs", () => {
    const before = createSignatures({ keys: () => ["two"] });
    expect(claimed(owning("a", before))).toBe("d1");
    expect(owning("a").status).not.toEqual(owning("a", before).status);
    const secret = marked("s", PUBLISHED, { resource: "d1" }, before);
    expect(seal.read("Datacenter", secret, PUBLISHED)).toEqual({
      words: { resource: "d1" },
      verdict: "ours",
      current: false,
    });
  });

  test("signs at rest, once, the annotation that was written with a former key", async () => {
    const platform = fakePlatform();
    const id = platform.make("a", { properties: { name: "a", location: "de/txl", size: 1 } }, { path: "/ipblocks" });
    const owned = { id, parents: {}, account: "shop/main", endpoint: API };
    const written = former.mark("IPBlock", block(), EXTERNAL_ID, owned);
    const object = block({ [EXTERNAL_ID]: written });
    const clock = fakeClock();
    const { api } = await runEngine([credentials, accountOf("main"), object], { clock, platform, seal });
    await clock.advance(60_000);
    const now = api.get(object) ?? object;
    expect(seal.read("IPBlock", now, EXTERNAL_ID)).toEqual({
      words: expect.objectContaining(owned),
      verdict: "ours",
      current: true,
    });
    await clock.advance(3_600_000);
    expect(api.get(object)).toEqual(now);
    expect(platform.writes()).toEqual([]);
  });

  test("that is not there makes an object wait for a person, and nothing is created in its place", () => {
    const lost = createSignatures({ keys: () => ["lost"] });
    const both = { ...owning("a"), metadata: marked("a", EXTERNAL_ID, { ...claim, id: "d2" }, lost).metadata };
    const begun = marked("a", INTENT, intentOf(), lost);
    for (const object of [owning("a", lost), marked("a", EXTERNAL_ID, claim, lost), begun, both]) {
      const { sceneOf } = stage([object], { seal });
      const { view } = sceneOf("Datacenter/shop/a");
      expect(view.resource.claim).toBeUndefined();
      expect(decide(view)).toMatchObject({ step: "stall", reason: "SigningKeyUnknown" });
      expect(decide({ ...view, spec: { ...view.spec, adopt: "d1" } })).toMatchObject({
        step: "stall",
        reason: "SigningKeyUnknown",
      });
      const [spec, resource] = [
        { ...view.spec, deleting: true },
        { ...view.resource, hasFinalizer: true },
      ];
      expect(decide({ ...view, spec, resource })).toMatchObject({ step: "release", reason: "Retained" });
    }
  });

  test("that comes back finds everything as it was: what it signed is not written over", async () => {
    const lost = createSignatures({ keys: () => ["lost"] });
    const { pass, api } = stage([owning("a", lost)], { seal });
    await pass("Datacenter/shop/a");
    const after = api.get(dc("a"));
    expect(after?.status).toMatchObject({ conditions: [{ reason: "SigningKeyUnknown" }, {}] });
    expect(after && claimed(after, lost)).toBe("d1");
  });
});

describe("words that an administrator lets count without a key that is known", () => {
  const believing = createSignatures({ keys: () => keys, believes: () => true });
  const lost = createSignatures({ keys: () => ["lost"] });
  const shared = { ...claim, account: "ClusterAccount/shared" };
  const theirs = { ...claim, account: "other/main" };
  /** The id that counts for an object, with or without another object that names it. */
  const believed = (object: KubeObject, isNamed = false) => {
    const arrived = { ...object };
    believing.judge("Datacenter", arrived, () => isNamed);
    return claimOf(arrived)?.id;
  };

  test("are those without a signature, and those of a key that is lost", () => {
    expect(believed(dc("a", { status: claim }))).toBe("d1");
    expect(believed(owning("a", lost))).toBe("d1");
    expect(believed(marked("a", EXTERNAL_ID, claim, lost))).toBe("d1");
  });

  test("are never those of an object that uses a ClusterAccount or another one's Account, nor what was edited", () => {
    expect(believed(dc("a", { status: shared }))).toBeUndefined();
    expect(believed(owning("a", lost, shared))).toBeUndefined();
    expect(believed(marked("a", EXTERNAL_ID, theirs, lost))).toBeUndefined();
    const { status, ...object } = owning("a");
    expect(believed({ ...object, status: { ...Object(status), id: "d2" } })).toBeUndefined();
  });

  test("are never what another object names", () => {
    expect(believed(owning("a", lost), true)).toBeUndefined();
    expect(believed(marked("a", EXTERNAL_ID, claim, lost), true)).toBeUndefined();
  });

  test("begin no creation, and say nothing but what an object has", () => {
    const begun = { ...marked("a", INTENT, intentOf({ nonce: "another" }), lost), status: claim };
    expect(believed(begun)).toBeUndefined();
    const arrived = { ...owning("a", lost, { ...claim, request: { action: "delete" }, location: "de/txl" }) };
    believing.judge("Datacenter", arrived, () => false);
    expect(trust.get(arrived)).toMatchObject({ claim: "ours", request: "absent", facts: "absent" });
  });

  test("count on when they are signed and the annotation is not yet, also when the time is over", () => {
    const { metadata } = marked("a", EXTERNAL_ID, claim, lost);
    expect(claimed({ ...owning("a"), metadata })).toBe("d1");
    const another = marked("a", EXTERNAL_ID, { ...claim, id: "d2" }, lost);
    expect(claimed({ ...owning("a"), metadata: another.metadata })).toBeUndefined();
  });
});

describe("what objects name", () => {
  const lost = createSignatures({ keys: () => ["lost"] });
  const believing = createSignatures({ keys: () => keys, believes: () => true });
  const rivals: [string, KubeObject][] = [
    ["in a status by a lost key", owning("b", lost)],
    ["in a status by a known key", owning("b")],
    ["in an annotation without a signature", dc("b", { metadata: annotated("b", claim) })],
    ["as externalId", dc("b", { spec: { ...datacenterSpec, externalId: "d1" } })],
    ["as what came before", dc("b", { status: { previous: { id: "d1" } } })],
  ];

  test.each(rivals)("%s is not taken on trust by another one, and is without it", async (_, rival) => {
    for (const [others, id] of [
      [[rival], undefined],
      [[], "d1"],
    ] as const) {
      const objects = createObjects(kinds, believing, (error) => {
        throw error;
      });
      const store = objects.store("Datacenter");
      for (const each of [owning("a", lost), ...others]) store.put(each);
      // Before all objects are known, nothing is trusted.
      const idOfA = () => claimOf(objects.find("Datacenter/shop/a")?.object ?? dc("a"))?.id;
      expect(idOfA()).toBeUndefined();
      await objects.judgeAgain(() => undefined);
      expect(idOfA()).toBe(id);
    }
  });
});
