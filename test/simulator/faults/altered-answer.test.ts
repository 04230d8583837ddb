import { afterEach, describe, expect, it } from "vitest";
import { items, platformForFile, resource } from "../platform.ts";

const platform = await platformForFile();
const datacenter = await platform.datacenter();
afterEach(() => platform.faults());

describe("altered-answer", () => {
  const route = "GET /cloudapi/v6/datacenters*";

  it("changes and leaves out fields of a resource and of each item of a list, and nothing on the platform", async () => {
    const lie = { set: { "properties.version": "2", "nowhere.at.all": 1 }, remove: ["metadata"] };
    await platform.faults({ route, fault: "altered-answer", ...lie });
    const [listed] = items(await platform.core("GET", "/datacenters?depth=1"));
    for (const seen of [listed, (await platform.core("GET", datacenter)).body]) {
      expect(seen).toMatchObject({ properties: { version: "2" } });
      expect(seen).not.toHaveProperty("metadata");
      expect(seen).not.toHaveProperty("nowhere");
    }
    await platform.faults();
    expect(resource(await platform.core("GET", datacenter)).properties.version).toEqual(expect.any(Number));
  });

  it("concerns only the resource of its id, where it names one", async () => {
    const { id } = resource(await platform.core("GET", datacenter));
    const seen = async () => (await platform.core("GET", datacenter)).body;
    await platform.faults({ route, fault: "altered-answer", id: "another", remove: ["properties"] });
    expect(await seen()).toHaveProperty("properties");
    await platform.faults({ route, fault: "altered-answer", id, remove: ["properties"] });
    expect(await seen()).not.toHaveProperty("properties");
  });
});
