import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { items, type Platform, platformForFile, refusal, resource, startPlatform } from "../../platform.ts";

const platform = await platformForFile();

let people = 0;
async function newUser() {
  const { token, userId } = await platform.user(`keys-${people++}@example.org`);
  return { path: `/um/users/${userId}/s3keys`, as: { authorization: `Bearer ${token}` } };
}

const ownerKeys = async (on: Platform) => {
  const [owner] = items(await on.core("GET", "/um/users?depth=1&filter.email=owner"));
  return items(await on.core("GET", `/um/users/${owner?.id}/s3keys?depth=1`));
};

describe("an S3 key", () => {
  it("is made without a body, active, and its secret can be read again", async () => {
    const { path, as } = await newUser();
    const made = await platform.core("POST", path, undefined, as);
    expect(made).toMatchObject({
      status: 201,
      body: {
        id: expect.stringMatching(/^[0-9a-f]{20}$/),
        type: "s3key",
        metadata: { createdDate: expect.any(String) },
        properties: { secretKey: expect.stringMatching(/^\S{40}$/), active: true },
      },
    });
    const { id, properties } = resource(made);
    expect(resource(await platform.core("GET", `${path}/${id}`, undefined, as)).properties).toEqual(properties);
  });

  it("is one of at most five of a user", async () => {
    const { path, as } = await newUser();
    for (let made = 0; made < 5; made += 1) {
      expect((await platform.core("POST", path, undefined, as)).status).toBe(201);
    }
    expect(refusal(await platform.core("POST", path, undefined, as), 422, "200")).toContain("5 S3 keys");
    const [first] = items(await platform.core("GET", path, undefined, as));
    await platform.core("DELETE", `${path}/${first?.id}`, undefined, as);
    expect((await platform.core("POST", path, undefined, as)).status).toBe(201);
  });

  it("is seen by its user and by administrators, not by other users", async () => {
    const { path, as } = await newUser();
    const other = await newUser();
    const { id } = resource(await platform.core("POST", path, undefined, as));
    expect((await platform.core("GET", `${path}/${id}`)).status).toBe(200);
    refusal(await platform.core("GET", `${path}/${id}`, undefined, other.as), 403, "451");
    refusal(await platform.core("DELETE", `${path}/${id}`, undefined, other.as), 403, "451");
  });

  it("is not in the state that the steering shows", async () => {
    const { path, as } = await newUser();
    const { properties } = resource(await platform.core("POST", path, undefined, as));
    expect(JSON.stringify(await platform.steer("GET", "state"))).not.toContain(String(properties.secretKey));
  });
});

describe("the owner's S3 key", () => {
  it("is there from the start", async () => {
    expect(await ownerKeys(platform)).toMatchObject([{ type: "s3key", properties: { active: true } }]);
  });

  it("is the same after a restart", async () => {
    const data = mkdtempSync(join(tmpdir(), "mooring-s3-keys-"));
    try {
      const earlier = await startPlatform({ data });
      const keys = await ownerKeys(earlier);
      await earlier.close();
      const later = await startPlatform({ data });
      expect(await ownerKeys(later)).toMatchObject(keys.map(({ id, properties }) => ({ id, properties })));
      expect(keys).toHaveLength(1);
      await later.close();
    } finally {
      rmSync(data, { recursive: true });
    }
  });
});
