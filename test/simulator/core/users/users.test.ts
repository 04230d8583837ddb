import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { items, platformForFile, refusal, resource, startPlatform } from "../../platform.ts";

const platform = await platformForFile();
const owner = String(items(await platform.core("GET", "/um/users?depth=1&filter.email=owner"))[0]?.id);

const person = (email: string, properties: object = {}) => ({
  properties: { firstname: "Ada", lastname: "Lovelace", email, password: "verySecret1", ...properties },
});
const post = (body: object) => platform.core("POST", "/um/users", body);
const basic = (email: string, password = "verySecret1") => ({
  authorization: `Basic ${Buffer.from(`${email}:${password}`).toString("base64")}`,
});
async function added(email: string, properties: object = {}) {
  const { id } = resource(await post(person(email, properties)));
  return { id, path: `/um/users/${id}`, as: basic(email) };
}

describe("adding a user", () => {
  it("is done at once and shows everything but the password", async () => {
    const answer = await post(person("ada@example.org", { administrator: true }));
    expect(answer).toMatchObject({
      status: 201,
      body: {
        type: "user",
        metadata: { createdBy: "owner@simulator.example", createdByUserId: owner },
        properties: {
          firstname: "Ada",
          lastname: "Lovelace",
          email: "ada@example.org",
          administrator: true,
          forceSecAuth: false,
          secAuthActive: false,
          s3CanonicalUserId: expect.stringMatching(/^[0-9a-f]{32}$/),
          active: true,
        },
      },
    });
    expect(resource(answer).metadata).not.toHaveProperty("state");
    const read = await platform.core("GET", `/um/users/${resource(answer).id}`);
    expect(JSON.stringify([answer.body, read.body])).not.toContain("verySecret1");
  });

  it("lets him log in and mint tokens", async () => {
    const { id, path, as } = await added("login@example.org");
    const minted = await platform.call("GET", "/auth/v1/tokens/generate", undefined, as);
    const { token } = z.object({ token: z.string() }).parse(minted.body);
    const bearer = { authorization: `Bearer ${token}` };
    expect(await platform.core("GET", path, undefined, bearer)).toMatchObject({ status: 200, body: { id } });
  });

  it.each([
    ["no first name", { firstname: undefined }, "firstname"],
    ["no last name", { lastname: undefined }, "lastname"],
    ["no address", { email: undefined }, "email"],
    ["an address that is none", { email: "ada" }, "email"],
    ["no password", { password: undefined }, "password"],
    ["a short password", { password: "short" }, "password"],
  ])("refuses %s", async (_, properties, field) => {
    const answer = await post(person("refused@example.org", properties));
    expect(refusal(answer, 422, "100")).toContain(`[(root).properties.${field}]`);
  });

  it("refuses an address that another user has", async () => {
    await added("taken@example.org");
    expect(refusal(await post(person("taken@example.org")), 422, "100")).toContain("taken@example.org");
  });
});

describe("changing a user", () => {
  it("replaces address and password for the next login", async () => {
    const { path, as } = await added("old@example.org");
    const changed = person("new@example.org", { password: "verySecret2" });
    expect(await platform.core("PUT", path, changed)).toMatchObject({
      status: 200,
      body: { properties: { email: "new@example.org" } },
    });
    refusal(await platform.core("GET", path, undefined, as), 401, "315");
    expect(await platform.core("GET", path, undefined, basic("new@example.org", "verySecret2"))).toMatchObject({
      status: 200,
    });
  });

  it("keeps the password when the body has none", async () => {
    const { path, as } = await added("keeps@example.org");
    await platform.core("PUT", path, person("keeps@example.org", { password: undefined, lastname: "Byron" }));
    expect(await platform.core("GET", path, undefined, as)).toMatchObject({
      body: { properties: { lastname: "Byron" } },
    });
  });

  it("locks an inactive user out, with password and token, until he is active again", async () => {
    const { path, as } = await added("inactive@example.org");
    const minted = await platform.call("GET", "/auth/v1/tokens/generate", undefined, as);
    const { token } = z.object({ token: z.string() }).parse(minted.body);
    const bearer = { authorization: `Bearer ${token}` };
    await platform.core("PUT", path, person("inactive@example.org", { active: false }));
    refusal(await platform.core("GET", path, undefined, as), 401, "315");
    refusal(await platform.core("GET", path, undefined, bearer), 401, "315");
    await platform.core("PUT", path, person("inactive@example.org", { active: true }));
    expect((await platform.core("GET", path, undefined, bearer)).status).toBe(200);
  });

  it("makes a user administrator and takes it back", async () => {
    const { path, as } = await added("rises@example.org");
    refusal(await platform.core("GET", "/um/users", undefined, as), 403, "451");
    await platform.core("PUT", path, person("rises@example.org", { administrator: true }));
    expect((await platform.core("GET", "/um/users", undefined, as)).status).toBe(200);
    await platform.core("PUT", path, person("rises@example.org", { administrator: false }));
    refusal(await platform.core("GET", "/um/users", undefined, as), 403, "451");
  });

  it.each([{ administrator: false }, { active: false }])("leaves the owner what he is: %o", async (properties) => {
    refusal(await platform.core("PUT", `/um/users/${owner}`, person(platform.ready.username, properties)), 422, "100");
  });
});

describe("deleting a user", () => {
  it("ends his login and his tokens", async () => {
    const { path, as } = await added("leaves@example.org");
    const minted = await platform.call("GET", "/auth/v1/tokens/generate", undefined, as);
    const { token } = z.object({ token: z.string() }).parse(minted.body);
    expect(await platform.core("DELETE", path)).toMatchObject({ status: 200 });
    refusal(await platform.core("GET", path), 404, "309");
    refusal(await platform.core("GET", path, undefined, as), 401, "315");
    refusal(await platform.core("GET", path, undefined, { authorization: `Bearer ${token}` }), 401, "315");
  });

  it("frees his address", async () => {
    const { path } = await added("again@example.org");
    await platform.core("DELETE", path);
    expect((await post(person("again@example.org"))).status).toBe(201);
  });

  it("is refused for the owner", async () => {
    refusal(await platform.core("DELETE", `/um/users/${owner}`), 403, "451");
  });
});

describe("a user without administrator rights", () => {
  it("reads himself, his groups and what he owns", async () => {
    const { path, as } = await added("self@example.org");
    for (const below of ["", "/groups", "/owns", "/s3keys", "/s3ssourl"]) {
      expect(await platform.core("GET", `${path}${below}`, undefined, as), below).toMatchObject({ status: 200 });
    }
  });

  it.each([
    ["GET", "/um/users"],
    ["GET", "/um/users/{owner}"],
    ["GET", "/um/users/{owner}/s3keys"],
    ["POST", "/um/users/{owner}/s3keys"],
    ["POST", "/um/users"],
    ["PUT", "/um/users/{self}"],
    ["DELETE", "/um/users/{self}"],
    ["GET", "/um/groups"],
    ["POST", "/um/groups"],
    ["GET", "/um/resources"],
  ])("is refused %s %s", async (method, template) => {
    const { id, path, as } = await added(`plain-${method}-${template.replaceAll(/\W/g, "-")}@example.org`);
    const target = template.replace("{owner}", owner).replace("{self}", id);
    refusal(
      await platform.core(method, target, method === "GET" ? undefined : person("x@example.org"), as),
      403,
      "451",
    );
    expect((await platform.core("GET", path)).status).toBe(200);
  });
});

it("shows what a user owns", async () => {
  const { path, as } = await added("owns@example.org", { administrator: true });
  const body = { properties: { name: "mine", location: "de/fra" } };
  const { id } = resource(await platform.core("POST", "/datacenters", body, as));
  expect(items(await platform.core("GET", `${path}/owns`))).toEqual([]);
  await platform.advance(5);
  expect(items(await platform.core("GET", `${path}/owns?depth=1`))).toMatchObject([
    { id, type: "datacenter", properties: { name: "mine" } },
  ]);
});

const snapshotShape = z.looseObject({
  documents: z.array(z.looseObject({ table: z.string(), key: z.string(), value: z.unknown() })),
});

it("finds the accounts of a data directory from before users were resources", async () => {
  const data = mkdtempSync(join(tmpdir(), "mooring-users-"));
  try {
    await (await startPlatform({ data })).close();
    const file = join(data, "snapshot.json");
    const snapshot = snapshotShape.parse(JSON.parse(readFileSync(file, "utf8")));
    const documents = snapshot.documents
      .filter(({ key }) => !key.startsWith("um/"))
      .map((each) => (each.table === "users" ? { ...each, value: withoutNews(each.value) } : each));
    writeFileSync(file, JSON.stringify({ ...snapshot, documents }));
    const later = await startPlatform({ data });
    expect(items(await later.core("GET", "/um/users?depth=1"))).toMatchObject([
      { properties: { email: later.ready.username, administrator: true, active: true } },
    ]);
    await later.close();
  } finally {
    rmSync(data, { recursive: true });
  }
});

/** A stored account without these properties, from an older version. */
const withoutNews = (account: unknown) => ({
  ...z.looseObject({}).parse(account),
  active: undefined,
  privileges: undefined,
});
