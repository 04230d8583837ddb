import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { answerRedactor, redactor, tokenIdentity } from "../../../src/platform/calls/credentials.ts";

const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
const jwt = (header: unknown, payload: unknown) => `${part(header)}.${part(payload)}.c2ln`;

describe("the claims of a token", () => {
  test("user, contract, expiry and id", () => {
    const identity = { uuid: "u-1", contractNumber: 31_000_000, role: "owner", privileges: [] };
    expect(tokenIdentity(jwt({ alg: "RS256", kid: "k-1" }, { exp: 1_767_225_600, identity }))).toEqual({
      userId: "u-1",
      contractNumber: 31_000_000,
      expiresAt: 1_767_225_600_000,
      tokenId: "k-1",
    });
  });

  test.each<[string, string]>([
    ["nothing", ""],
    ["an opaque word", "abc"],
    ["dots", "..."],
    ["too many parts", `${jwt({}, {})}.d.e`],
    ["no JSON inside", "a.b.c"],
    ["a list", jwt([], [])],
    ["null", jwt(null, null)],
    ["a huge one", "a".repeat(1_000_000)],
  ])("%s says nothing", (_, token) => {
    expect(tokenIdentity(token)).toBeUndefined();
  });

  test("claims of the wrong type are left out, the others kept", () => {
    const identity = { uuid: 5, contractNumber: "x", __proto__: { uuid: "p" } };
    expect(tokenIdentity(jwt({ kid: ["k"] }, { exp: "never", identity }))).toEqual({});
    expect(tokenIdentity(jwt({ kid: "k" }, { exp: 1e300, identity: null }))).toEqual({ tokenId: "k" });
    expect(tokenIdentity(jwt("header", { exp: 10 }))).toEqual({ expiresAt: 10_000 });
  });

  test("hostile tokens never throw", () => {
    const hostile = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.tuple(fc.json(), fc.json()).map(([a, b]) => jwt(JSON.parse(a), JSON.parse(b))),
      fc.tuple(fc.base64String(), fc.base64String()).map((parts) => parts.join(".")),
      fc.object().map((claims) => jwt(claims, { identity: claims, exp: claims })),
    );
    fc.assert(
      fc.property(hostile, (token) => {
        tokenIdentity(token);
        redactor(token)(token);
      }),
    );
  });
});

test("a credential and its parts disappear from text", () => {
  const token = jwt({ kid: "k" }, { exp: 1 });
  const [, payload] = token.split(".");
  expect(redactor(token)(`got ${token} and ${payload}`)).toBe("got [redacted] and [redacted]");
  expect(redactor(undefined)("text")).toBe("text");
});

describe("a token in an error", () => {
  const token = `${jwt({ alg: "RS256", kid: "k-1" }, { exp: 1, identity: { uuid: "u-1" } })}bmF0dXJlPz4-fn5_IQ`;
  const bytes = (text: string) => Buffer.from(text);
  const percent = (text: string) => bytes(text).toString("hex").replaceAll(/../g, "%$&");
  test.each<[string, (text: string) => string]>([
    ["as it is", String],
    ["in base64", (text) => bytes(text).toString("base64")],
    ["in base64, after one other byte", (text) => bytes(`:${text}`).toString("base64")],
    ["in base64, after two other bytes", (text) => bytes(`::${text}`).toString("base64")],
    ["in base64 for URLs", (text) => bytes(`:${text}:`).toString("base64url")],
    ["in lines of base64", (text) => bytes(text).toString("base64").replaceAll(/.{20}/g, "$& ")],
    ["percent-encoded", percent],
    ["partly percent-encoded", (text) => text.slice(0, 8) + percent(text.slice(8, 11)) + text.slice(11)],
    ["in hexadecimal digits", (text) => bytes(text).toString("hex")],
    ["in large hexadecimal digits", (text) => bytes(text).toString("hex").toUpperCase()],
    ["in JSON escapes", (text) => bytes(text).toString("hex").replaceAll(/../g, "\\u00$&")],
  ])("is not shown %s, nor is a piece of 16 characters", (_, spell) => {
    for (const piece of [token, ...[0, 1, 2, 30, 61].map((from) => token.slice(from, from + 16))]) {
      const shown = redactor(token)(`refused "${spell(piece)}" at 12:00`);
      expect(shown).toMatch(/^refused ".{0,4}\[redacted\].*" at 12:00$/);
      // A few characters at the ends of an encoded piece may be left.
      expect(shown.replaceAll("[redacted]", "").length).toBeLessThan('refused "" at 12:00'.length + 18);
    }
  });

  test("leaves other text alone", () => {
    const text = "[VDC-1-2] 100 % of %7Bcores%7D in /datacenters/0b7c7ea1-9f3d-4f4b-8e1c-0d9a2f6f4f00 \\u00e4 are used";
    expect(redactor(token)(text)).toBe(text);
  });
});

test("a successful answer shows no credential of ours, whole or as its signature, and is left alone otherwise", () => {
  const token = `${jwt({ kid: "k" }, { exp: 1 }).split(".").slice(0, 2).join(".")}.c2lnbmF0dXJlLW9mLXRoZS10b2tlbg`;
  const [, , signature] = token.split(".");
  const redact = answerRedactor([token, undefined, "short"]);
  const answer = JSON.stringify({ message: `failed with ${token}`, name: "a short name", part: signature });
  expect(JSON.parse(redact(answer))).toEqual({
    message: "failed with [redacted]",
    name: "a short name",
    part: "[redacted]",
  });
});

test.each(["Hunter2Sesame9", "password"])(
  "a short password is not shown when it is percent-encoded: %s",
  (password) => {
    const encoded = [...Buffer.from(password)].map((byte) => `%${byte.toString(16)}`).join("");
    const hex = Buffer.from(password).toString("hex");
    expect(redactor(password)(`refused ${encoded}`)).toBe("refused [redacted]");
    expect(redactor(password)(`refused ${encoded} and ${hex}`)).toBe("refused [redacted] and [redacted]");
  },
);
