import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { type Landscape, landscape } from "../landscape.ts";
import { datacenter, server, volume } from "../objects.ts";

let world: Landscape;
const soon = { timeout: 90_000 };
const ready = '{.status.conditions[?(@.type=="Ready")].message}';
const reason = '{.status.conditions[?(@.type=="Ready")].reason}';
const accountRef = { name: "main" };
const creation = "POST /cloudapi/v6/datacenters/{datacenterId}/volumes";
const log = "GET /cloudapi/v6/requests*";
const account = z.looseObject({ spec: z.looseObject({}) });
const made = z.looseObject({ id: z.string() });

/** The API server's message that refuses these objects. */
const refusalOf = async (...objects: object[]): Promise<string> =>
  world.apply(...objects).then(
    () => "nothing is refused",
    (error) => String(error),
  );
/** The resource with this name on the platform. */
const propertiesOf = async (name: string) =>
  (await world.platform.resources("volumes")).flatMap(({ properties }) =>
    properties?.name === name ? [properties] : [],
  );
/** Calls to the platform with this method since the counters were reset. */
async function callsOf(method: string): Promise<number> {
  const { byRoute } = await world.platform.calls();
  const routes = Object.entries(byRoute).filter(([route]) => route.startsWith(`${method} `));
  return routes.reduce((sum, [, count]) => sum + count, 0);
}

beforeAll(async () => {
  world = await landscape({
    operator: ["--create-deadline", "3s", "--settle", "3s", "--retry", "1s"],
  });
  const { spec } = account.parse(await world.get("account/main"));
  const second = { apiVersion: "mooring.dev/v1alpha1", kind: "Account", metadata: { name: "second" }, spec };
  await world.apply(second);
  await world.untilReady("account/main", "account/second");
});

describe("a refused spec is corrected by apply alone", () => {
  it("the Account and the location of a Datacenter, and both are fixed once it exists", async () => {
    await world.apply(datacenter("dc", { location: "de/xyz" }));
    await world.untilReason("datacenter/dc", "AccountNotFound");
    expect(await world.value("datacenter/dc", ready)).toContain("set spec.accountRef.name");
    await world.apply(datacenter("dc", { location: "de/xyz", accountRef: { name: "second" } }));
    await world.untilReason("datacenter/dc", "Rejected");
    await world.apply(datacenter("dc", { accountRef }));
    await world.untilReady("datacenter/dc");
    expect(await world.platform.resources("datacenters")).toHaveLength(1);

    const moved = await refusalOf(datacenter("dc", { location: "de/fra", accountRef }));
    expect(moved).toContain(
      "location cannot be changed: a datacenter cannot move; keep it, or set replacePolicy: WhenNeeded, which deletes the Datacenter",
    );
    const handed = await refusalOf(datacenter("dc", { accountRef: { name: "second" } }));
    expect(handed).toContain("accountRef cannot be changed");
    expect(handed).toContain("set deletionPolicy: Retain");
  });

  it("the template of a Cube", async () => {
    const cube = (templateName: string) =>
      server("cube", {
        accountRef,
        type: "CUBE",
        templateName,
        cores: undefined,
        ram: undefined,
        nics: undefined,
        bootVolume: { imageAlias: "ubuntu:latest" },
      });
    await world.apply(cube("Basic Cube XXXS"));
    await expect.poll(() => world.value("server/cube", ready), soon).toContain("Basic Cube XS");
    await world.apply(cube("Basic Cube XS"));
    await world.untilReady("server/cube");
    expect(await refusalOf(cube("Basic Cube S"))).toContain(
      "templateName cannot be changed: the size of a Cube is fixed at creation; keep it, or set replacePolicy: WhenNeeded",
    );
    await world.remove("server/cube");
  });

  it("the size and the type of a Volume whose creation got no answer: there is one, and it matches the edited spec", async () => {
    await world.platform.faults({ route: creation, fault: "hang" });
    await world.apply(volume("slow", { accountRef, size: 50 }));
    await expect.poll(() => world.value("volume/slow", reason), soon).toMatch(/PlatformUnavailable|Recovering/);
    await world.apply(volume("slow", { accountRef, size: 20, type: "SSD Standard" }));
    await world.platform.faults();
    await world.untilReady("volume/slow");
    expect(await propertiesOf("slow")).toEqual([expect.objectContaining({ size: 20, type: "SSD Standard" })]);
    expect(await refusalOf(volume("slow", { accountRef, size: 10, type: "SSD Standard" }))).toContain(
      "size cannot be less than on the platform",
    );
    await world.remove("volume/slow");
  });
});

it("a change during the search for its creation is reported, and can be reverted", async () => {
  await world.platform.faults(
    { route: creation, fault: "response-lost" },
    { route: log, fault: "status", status: 503 },
  );
  await world.apply(volume("lost", { accountRef }));
  await expect.poll(() => world.value("volume/lost", reason), soon).toMatch(/PlatformUnavailable|Recovering/);
  await world.apply(volume("lost", { accountRef: { name: "second" }, type: "SSD Standard" }));
  await world.platform.faults();
  await world.untilReason("volume/lost", "ImmutableFieldChanged");
  expect(await world.value("volume/lost", ready)).toMatch(/^accountRef cannot be changed in place.*: change it back$/);
  await world.apply(volume("lost", { accountRef, type: "SSD Standard" }));
  await expect.poll(() => world.value("volume/lost", ready), soon).toMatch(/^type cannot be changed in place/);
  await world.apply(volume("lost", { accountRef }));
  await world.untilReady("volume/lost");
  expect(await propertiesOf("lost")).toEqual([expect.objectContaining({ type: "HDD" })]);
  await world.remove("volume/lost");
});

describe("a volume that is adopted with a type that it does not have", () => {
  const foreign = () => `/cloudapi/v6/datacenters/${home}/volumes`;
  let home = "";
  let id = "";
  const adopting = (spec: object) => ({
    apiVersion: "mooring.dev/v1alpha1",
    kind: "Volume",
    metadata: { name: "taken" },
    spec: { accountRef, datacenterRef: { name: "dc" }, externalId: id, ...spec },
  });
  const wrong = { type: "SSD Premium", size: 5 };
  const reads = async () => (await world.platform.resources("volumes")).find((each) => each.id === id)?.properties;
  beforeAll(async () => {
    home = await world.value("datacenter/dc", "{.status.id}");
    const properties = { name: "production", size: 10, type: "HDD", licenceType: "OTHER" };
    id = made.parse(await world.platform.call("POST", foreign(), { properties })).id;
  });

  it("is not owned: deleting the object leaves it alone", async () => {
    const isThere = async () =>
      (await world.platform.resources("volumes")).some((each) => each.id === id && each.state === "AVAILABLE");
    await expect.poll(isThere, soon).toBe(true);
    const before = await reads();
    await world.platform.resetCalls();
    await world.apply(adopting(wrong));
    await world.untilReason("volume/taken", "NotAdoptable");
    expect(await world.value("volume/taken", ready)).toBe(
      `externalId: Volume ${id} is not adopted: type is HDD on the platform and SSD Premium in spec; size is 10 on the platform and 5 in spec, and the platform cannot change them: correct spec, or remove the fields. Until then the Volume is left as it is, also when its object is deleted`,
    );
    expect(await world.value("volume/taken", "{.status.id}{.metadata.finalizers}")).toBe("");
    await world.remove("volume/taken");
    for (const method of ["POST", "PUT", "PATCH", "DELETE"])
      expect([method, await callsOf(method)]).toEqual([method, 0]);
    expect(await reads()).toEqual(before);
  });

  it("stays so when it was observed before it is to be managed", async () => {
    await world.apply(adopting({ ...wrong, managementPolicy: "Observe" }));
    await world.untilReason("volume/taken", "Observed");
    await world.apply(adopting(wrong));
    await world.untilReason("volume/taken", "NotAdoptable");
    await world.platform.resetCalls();
    await world.remove("volume/taken");
    expect(await callsOf("DELETE")).toBe(0);
    expect(await reads()).toMatchObject({ name: "production" });
  });

  it("is owned once spec is corrected, and keeps what spec does not say", async () => {
    await world.apply(adopting(wrong));
    await world.untilReason("volume/taken", "NotAdoptable");
    await world.apply(adopting({ type: "HDD" }));
    await world.untilReady("volume/taken");
    expect(await world.value("volume/taken", "{.status.id}")).toBe(id);
    expect(await reads()).toMatchObject({ name: "production", size: 10, type: "HDD" });
    expect(await refusalOf(adopting({ type: "SSD Premium" }))).toContain("type cannot be changed");
    await world.apply(adopting({ type: "HDD", size: 20 }));
    await expect.poll(reads, soon).toMatchObject({ name: "production", size: 20 });
  });
});

it("a Datacenter with a retained Volume in it says first how to keep both", async () => {
  await world.patch("volume/taken", { spec: { deletionPolicy: "Retain" } });
  await world.remove("volume/taken");
  await world.platform.resetCalls();
  await world.askToRemove("datacenter/dc");
  await world.untilReason("datacenter/dc", "NotEmpty");
  expect(await world.value("datacenter/dc", ready)).toMatch(
    /^Datacenter still holds volume production\. To keep all of it on the platform, set deletionPolicy: Retain \(with externalId: [-0-9a-f]+ where .*\)\. To delete it, /,
  );
  await world.patch("datacenter/dc", { spec: { deletionPolicy: "Retain" } });
  await world.untilGone("datacenter/dc");
  expect(await callsOf("DELETE")).toBe(0);
});
