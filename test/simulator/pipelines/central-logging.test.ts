import { describe, expect, it } from "vitest";
import { serviceFor } from "../pipelines.ts";
import { items, platformForFile, refusal, resource } from "../platform.ts";

const platform = await platformForFile();

const body = (enabled: unknown) => ({ properties: { enabled } });

describe.each(["logging", "monitoring"] as const)("the central switch of %s", (service) => {
  const central = (region = "de-txl") => serviceFor(platform, service, region);
  const only = async (region?: string) => {
    const [item, ...others] = items(await central(region).call("GET", "/central"));
    expect(others).toEqual([]);
    return resource({ status: 200, headers: new Headers(), body: item });
  };

  it("is there from the start, off, in the list and in the older shape", async () => {
    const { id, href } = await only("de-fra");
    const list = await central("de-fra").call("GET", "/central");
    const shown = {
      metadata: { grafanaEndpoint: `${platform.ready.endpoints.api}/dashboards/de-fra` },
      ...body(false),
    };
    expect(list.body).toMatchObject({ type: "collection", items: [{ id, type: "central", ...shown }], ...shown });
    expect(href).toBe(`${central("de-fra").url}/central/${id}`);
    expect(await central("de-fra").call("GET", `/central/${id}`)).toMatchObject({
      status: 200,
      body: { id, ...shown },
    });
  });

  it("is switched without its id and with it", async () => {
    const { id } = await only();
    const by = { lastModifiedBy: platform.ready.username };
    const on = await central().call("PUT", "/central", body(true));
    expect(on).toMatchObject({ status: 200, body: { id, ...body(true), metadata: by } });
    expect(await only()).toMatchObject(body(true));
    const off = await central().call("PUT", `/central/${id}`, body(false));
    expect(off).toMatchObject({ status: 200, body: { id, ...body(false) } });
    expect(await only()).toMatchObject(body(false));
  });

  it("is one per region", async () => {
    await central("gb-bhx").call("PUT", "/central", body(true));
    const [here, there] = [await only("gb-bhx"), await only("us-mci")];
    expect([here, there]).toMatchObject([body(true), body(false)]);
    expect(here.id).not.toBe(there.id);
    refusal(await central("us-mci").call("PUT", `/central/${here.id}`, body(true)), 404, `paas-${service}-309`);
    refusal(await central("us-mci").call("GET", `/central/${here.id}`), 404, `paas-${service}-309`);
  });

  it.each([undefined, "yes", 1, null])("does not take %o for a switch", async (enabled) => {
    const answer = await central().call("PUT", "/central", body(enabled));
    expect(refusal(answer, 422, `paas-${service}-100`)).toContain("[(root).properties.enabled]");
  });

  it("is switched by owner, administrators and users with the privilege, and by nobody else", async () => {
    const own = service === "logging" ? "accessAndManageLogging" : "accessAndManageMonitoring";
    const other = service === "logging" ? "accessAndManageMonitoring" : "accessAndManageLogging";
    const as = async (name: string, more: object) => {
      const { token } = await platform.user(`${name}-${service}@example.org`, { privileges: [], ...more });
      return central().call("PUT", "/central", body(true), { authorization: `Bearer ${token}` });
    };
    expect(await as("administrator", { role: "administrator" })).toMatchObject({ status: 200 });
    expect(await as("privileged", { privileges: [own] })).toMatchObject({ status: 200 });
    refusal(await as("foreign", { privileges: [other] }), 403, `paas-${service}-451`);
    refusal(await as("nobody", {}), 403, `paas-${service}-451`);
  });

  it("stands in the state", async () => {
    await central("es-vit").call("PUT", "/central", body(true));
    const { id } = await only("es-vit");
    const product = service === "logging" ? "logs" : "metrics";
    expect(await platform.steer("GET", "state")).toMatchObject({
      centrals: expect.arrayContaining([{ id, type: "central", product, region: "es-vit", ...body(true) }]),
    });
  });
});
