import { describe, expect, it } from "vitest";
import { z } from "zod";
import { type Answer, items, platformForFile, refusal, resource, serverBody } from "../platform.ts";
import { groupBody, groups } from "../scaling.ts";

const platform = await platformForFile();

describe("a plain user", async () => {
  const datacenter = await platform.datacenter();
  const person = await platform.user("plain@example.org");
  const as = { authorization: `Bearer ${person.token}` };
  const own = resource(
    await platform.core("POST", "/datacenters", { properties: { name: "own", location: "de/fra" } }, as),
  ).id;
  await platform.advance(60);
  const seen = async () => items(await platform.core("GET", "/datacenters", undefined, as)).map(({ id }) => id);
  const shareId = datacenter.split("/").at(-1);

  it("sees what he has made, and the owner and administrators see all", async () => {
    expect(await seen()).toEqual([own]);
    refusal(await platform.core("GET", datacenter, undefined, as), 404, "309");
    const { token } = await platform.user("chief@example.org", { role: "administrator" });
    for (const authorization of [`Bearer ${token}`, `Bearer ${platform.ready.token}`]) {
      expect(await platform.core("GET", `/datacenters/${own}`, undefined, { authorization })).toMatchObject({
        status: 200,
      });
    }
  });

  it("sees what a group of his shares, with all in it, and changes it if the share says so", async () => {
    const group = `/um/groups/${resource(await platform.core("POST", "/um/groups", { properties: { name: "g" } })).id}`;
    await platform.core("POST", `${group}/users`, { id: person.userId });
    await platform.core("POST", `${group}/shares/${shareId}`, { properties: {} });
    await platform.done("POST", `${datacenter}/servers`, serverBody());
    expect((await seen()).toSorted()).toEqual([own, shareId].toSorted());
    expect(items(await platform.core("GET", `${datacenter}/servers`, undefined, as))).toHaveLength(1);
    const rename = () => platform.core("PATCH", datacenter, { name: "renamed" }, as);
    refusal(await rename(), 403, "451");
    refusal(await platform.core("POST", `${datacenter}/servers`, serverBody(), as), 403, "451");
    expect(resource(await platform.core("GET", datacenter)).properties.name).toBe("prod");
    await platform.core("PUT", `${group}/shares/${shareId}`, { properties: { editPrivilege: true } });
    expect(await rename()).toMatchObject({ status: 202 });
    await platform.advance(60);
    await platform.core("DELETE", `${group}/shares/${shareId}`);
    expect(await seen()).toEqual([own]);
  });

  it("finds his own requests only", async () => {
    const makers = (answer: Answer) =>
      items(answer).map((each) => z.looseObject({ metadata: z.looseObject({ createdBy: z.string() }) }).parse(each));
    const own = makers(await platform.core("GET", "/requests?depth=1", undefined, as));
    expect(new Set(own.map(({ metadata }) => metadata.createdBy))).toEqual(new Set(["plain@example.org"]));
    expect(makers(await platform.core("GET", "/requests?depth=1")).length).toBeGreaterThan(own.length);
  });

  it("cannot build on what he does not see", async () => {
    const volume = await platform.made(`${datacenter}/volumes`, {
      properties: { name: "data", size: 5, licenceType: "LINUX" },
    });
    const taken = await platform.done("POST", `${volume}/create-snapshot`, { properties: { name: "s" } });
    const image = resource(taken).id;
    const properties = { name: "copy", size: 5, image };
    const answer = await platform.core("POST", `/datacenters/${own}/volumes`, { properties }, as);
    expect(refusal(answer, 422, "100")).toContain("does not exist");
  });

  it("sees his own scaling group, and the servers that the platform makes for it", async () => {
    const group = groupBody(`/datacenters/${own}`);
    const made = await platform.call("POST", groups, group, as);
    expect(made).toMatchObject({ status: 201 });
    await platform.advance(15);
    expect(items(await platform.call("GET", `${groups}/${resource(made).id}/servers`, undefined, as))).toHaveLength(2);
    expect(items(await platform.call("GET", groups, undefined, as))).toHaveLength(1);
  });
});
