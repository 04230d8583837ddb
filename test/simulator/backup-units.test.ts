import { describe, expect, it } from "vitest";
import { platformForFile, refusal, resource } from "./platform.ts";

const platform = await platformForFile();

let made = 0;
const unit = (properties: object = {}) => ({
  properties: { name: `unit${made++}`, password: "verySecret1", email: "backup@example.org", ...properties },
});
const post = (body: object) => platform.core("POST", "/backupunits", body);
const ready = () => platform.made("/backupunits", unit());

describe("a backup unit", () => {
  it("is provisioned by a request and never shows its password", async () => {
    const accepted = await post(unit({ name: "nightly" }));
    expect(accepted).toMatchObject({
      status: 202,
      body: {
        type: "backupunit",
        metadata: { state: "BUSY" },
        properties: { name: "nightly", email: "backup@example.org" },
      },
    });
    await platform.advance(5);
    const read = await platform.core("GET", `/backupunits/${resource(accepted).id}`);
    expect(read).toMatchObject({ status: 200, body: { metadata: { state: "AVAILABLE" } } });
    for (const answer of [accepted, read]) expect(resource(answer).properties).not.toHaveProperty("password");
  });

  it.each([
    ["no name", { name: undefined }, "name"],
    ["a name with signs", { name: "my-unit" }, "name"],
    ["no password", { password: undefined }, "password"],
    ["a short password", { password: "short" }, "password"],
    ["no address", { email: undefined }, "email"],
    ["an address that is none", { email: "backup" }, "email"],
  ])("is refused with %s", async (_, properties, field) => {
    expect(refusal(await post(unit(properties)), 422, "100")).toContain(`[(root).properties.${field}]`);
  });

  it("has a name of its own", async () => {
    await platform.done("POST", "/backupunits", unit({ name: "twice" }));
    expect(refusal(await post(unit({ name: "twice" })), 422, "100")).toContain("twice");
  });

  it("takes a new address and a new password, not a new name", async () => {
    const path = await ready();
    await platform.done("PATCH", path, { email: "new@example.org" });
    expect(resource(await platform.core("GET", path)).properties.email).toBe("new@example.org");
    await platform.done("PUT", path, { properties: { password: "verySecret2" } });
    expect(resource(await platform.core("GET", path)).properties).toMatchObject({ email: "new@example.org" });
    expect(refusal(await platform.core("PATCH", path, { name: "renamed" }), 422, "100")).toContain(".name]");
  });

  it("has a console", async () => {
    const path = await ready();
    const { name } = resource(await platform.core("GET", path)).properties;
    expect(await platform.core("GET", `${path}/ssourl`)).toMatchObject({
      status: 200,
      body: { ssoUrl: expect.stringContaining(`${platform.ready.contractNumber}-${name}`) },
    });
  });

  it("is deleted by a request", async () => {
    const path = await ready();
    await platform.done("DELETE", path);
    refusal(await platform.core("GET", path), 404, "309");
  });
});
