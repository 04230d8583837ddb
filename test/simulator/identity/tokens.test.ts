import { describe, expect, it } from "vitest";
import { z } from "zod";
import { type Answer, platformForFile, refusal } from "../platform.ts";

const platform = await platformForFile();

const tokenIn = (answer: Answer) => z.object({ token: z.string() }).parse(answer.body).token;
const basic = (username: string, password: string) =>
  `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
const decoded = (token: string) =>
  token
    .split(".")
    .slice(0, 2)
    .map((part): unknown => JSON.parse(Buffer.from(part, "base64url").toString()));

async function newUser(name: string, more: object = {}) {
  const { token } = await platform.user(name, more);
  return { bearer: `Bearer ${token}`, basic: basic(name, "secret-1") };
}

const generate = (authorization: string, query = "") =>
  platform.call("GET", `/auth/v1/tokens/generate${query}`, undefined, { authorization });

describe("generating a token", () => {
  it("answers Basic credentials with a signed JWT that says who, for which contract and until when", async () => {
    const { ready } = platform;
    const token = tokenIn(await generate(basic(ready.username, ready.password)));
    const [header, payload] = decoded(token);
    expect(header).toMatchObject({ typ: "JWT", alg: "RS256", kid: expect.stringMatching(/^[0-9a-f-]{36}$/) });
    const claims = z.object({ iat: z.number(), exp: z.number() }).parse(payload);
    expect(claims.exp - claims.iat).toBe(31536000);
    expect(payload).toMatchObject({
      iss: "ionoscloud",
      identity: { contractNumber: ready.contractNumber, role: "owner", privileges: expect.any(Array) },
    });
    const used = await platform.core("GET", "/datacenters", undefined, { authorization: `Bearer ${token}` });
    expect(used.status).toBe(200);
  });

  it("answers a bearer token as well", async () => {
    const user = await newUser("bearer@example.org");
    expect((await generate(user.bearer)).status).toBe(200);
  });

  it.each([3600, 14400, 86400, 604800, 2592000, 5184000, 7776000, 15552000, 31536000])(
    "takes a lifetime of %i seconds",
    async (ttl) => {
      const user = await newUser(`ttl-${ttl}@example.org`);
      const claims = decoded(tokenIn(await generate(user.basic, `?ttl=${ttl}`)))[1];
      const { iat, exp } = z.object({ iat: z.number(), exp: z.number() }).parse(claims);
      expect(exp - iat).toBe(ttl);
    },
  );

  it.each(["60", "3601", "0", "-1", "soon", ""])("refuses the lifetime %o", async (ttl) => {
    const { username, password } = platform.ready;
    expect(refusal(await generate(basic(username, password), `?ttl=${ttl}`), 422, "100")).toContain("[ttl]");
  });

  it("refuses the 101st token of a user, and gives one again after a deletion", async () => {
    const user = await newUser("many@example.org");
    for (let made = 1; made < 100; made += 1) expect((await generate(user.basic)).status).toBe(200);
    refusal(await generate(user.basic), 422, "200");
    await platform.call("DELETE", "/auth/v1/tokens?criteria=CURRENT", undefined, { authorization: user.bearer });
    expect((await generate(user.basic)).status).toBe(200);
  });

  it("counts expired tokens until they are deleted", async () => {
    const user = await newUser("forgetful@example.org");
    for (let made = 1; made < 100; made += 1) expect((await generate(user.basic, "?ttl=3600")).status).toBe(200);
    await platform.advance(3601);
    refusal(await generate(user.basic), 422, "200");
    await platform.call("DELETE", "/auth/v1/tokens?criteria=EXPIRED", undefined, { authorization: user.bearer });
    expect((await generate(user.basic)).status).toBe(200);
  });

  it("refuses Basic credentials of an account with two-factor authentication", async () => {
    const user = await newUser("careful@example.org", { twoFactor: true });
    refusal(await generate(user.basic), 401, "315");
    const read = (authorization: string) => platform.core("GET", "/datacenters", undefined, { authorization });
    refusal(await read(user.basic), 401, "315");
    expect((await read(user.bearer)).status).toBe(200);
  });
});

describe("listing and deleting tokens", () => {
  const tokens = async (authorization: string) => {
    const answer = await platform.call("GET", "/auth/v1/tokens", undefined, { authorization });
    const shape = z.object({ id: z.string(), href: z.string(), createdDate: z.string(), expirationDate: z.string() });
    return z.object({ tokens: z.array(shape.strict()) }).parse(answer.body).tokens;
  };

  it("shows the own tokens without their values", async () => {
    const user = await newUser("lists@example.org");
    await generate(user.basic, "?ttl=3600");
    const [first, second, ...rest] = await tokens(user.bearer);
    expect(rest).toEqual([]);
    expect(first?.href).toBe(`${platform.ready.endpoints.api}/auth/v1/tokens/${first?.id}`);
    expect(Date.parse(second?.expirationDate ?? "") - Date.parse(second?.createdDate ?? "")).toBe(3600_000);
    const one = await platform.call("GET", `/auth/v1/tokens/${first?.id}`, undefined, { authorization: user.bearer });
    expect(one).toMatchObject({ status: 200, body: first });
  });

  it("hides the tokens of others", async () => {
    const user = await newUser("hidden@example.org");
    const [token] = await tokens(user.bearer);
    refusal(await platform.call("GET", `/auth/v1/tokens/${token?.id}`), 404, "309");
    refusal(await platform.call("DELETE", `/auth/v1/tokens/${token?.id}`), 404, "309");
  });

  it("makes a deleted token useless at once", async () => {
    const user = await newUser("deletes@example.org");
    const [token] = await tokens(user.bearer);
    const deleted = await platform.call("DELETE", `/auth/v1/tokens/${token?.id}`, undefined, {
      authorization: user.basic,
    });
    expect(deleted).toMatchObject({ status: 200, body: { success: true } });
    refusal(await platform.core("GET", "/datacenters", undefined, { authorization: user.bearer }), 401, "315");
  });

  it("deletes by criteria: the current one, the expired ones, all", async () => {
    const user = await newUser("criteria@example.org");
    const remove = (criteria: string, authorization = user.basic) =>
      platform.call("DELETE", `/auth/v1/tokens${criteria}`, undefined, { authorization });
    const short = `Bearer ${tokenIn(await generate(user.basic, "?ttl=3600"))}`;
    await platform.advance(3601);
    refusal(await platform.core("GET", "/datacenters", undefined, { authorization: short }), 401, "315");
    expect(await tokens(user.bearer)).toHaveLength(2);
    expect(await remove("?criteria=EXPIRED")).toMatchObject({ status: 200, body: { success: true } });
    expect(await tokens(user.bearer)).toHaveLength(1);
    refusal(await remove("?criteria=CURRENT"), 422, "100");
    refusal(await remove(""), 422, "100");
    refusal(await remove("?criteria=SOME"), 422, "100");
    expect((await remove("?criteria=ALL")).status).toBe(200);
    expect(await tokens(user.basic)).toEqual([]);
  });
});

describe("authentication", () => {
  const read = (authorization: string | null, headers?: Record<string, string>) =>
    platform.core("GET", "/datacenters", undefined, { authorization, ...(headers && { headers }) });

  it.each([
    ["nothing", null],
    ["an unknown scheme", "Digest abc"],
    ["no token", "Bearer"],
    ["garbage", "Bearer a.b.c"],
    ["two words", "Bearer a b"],
    ["a wrong password", basic("owner@simulator.example", "wrong")],
    ["an unknown user", basic("nobody@example.org", "wrong")],
    ["no colon", `Basic ${Buffer.from("owner").toString("base64")}`],
  ])("refuses %s with 401", async (_, authorization) => {
    refusal(await read(authorization), 401, "315");
  });

  it("refuses a token whose content was changed", async () => {
    const [head, , signature] = platform.ready.token.split(".");
    const forged = Buffer.from(JSON.stringify({ identity: { role: "owner" } })).toString("base64url");
    refusal(await read(`Bearer ${head}.${forged}.${signature}`), 401, "315");
  });

  it.each([
    ["the core API", "/cloudapi/v6/datacenters"],
    ["the activity log", `/activitylog/v1/contracts/${platform.ready.contractNumber}`],
  ])("takes Basic credentials on %s", async (_, path) => {
    const { username, password } = platform.ready;
    const as = (authorization: string) => platform.call("GET", path, undefined, { authorization });
    expect((await as(basic(username, password))).status).toBe(200);
    refusal(await as(basic(username, "wrong")), 401, "315");
  });

  it("answers the API info without credentials", async () => {
    const info = await platform.core("GET", "/", undefined, { authorization: null });
    expect(info).toMatchObject({ status: 200, body: { href: expect.any(String), name: expect.any(String) } });
  });

  it("takes the own contract number and refuses another with 403", async () => {
    const { token, contractNumber } = platform.ready;
    expect((await read(`Bearer ${token}`, { "X-Contract-Number": String(contractNumber) })).status).toBe(200);
    refusal(await read(`Bearer ${token}`, { "X-Contract-Number": "1" }), 403, "451");
  });
});
