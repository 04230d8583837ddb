import { afterEach, describe, expect, it } from "vitest";
import { createTransport, type Transport } from "../../../src/platform/calls/transport.ts";
import { findRequests } from "../../../src/platform/products/requests.ts";
import { resourceCollection } from "../../../src/platform/products/resource-collection.ts";
import { fakeClock } from "../../fake-clock.ts";
import { answer, scriptedServer } from "../scripted-server.ts";

const id = "72e73b81-8551-4e74-b398-fc63b39994af";
const UPPER = id.toUpperCase();

const transports: Transport[] = [];
afterEach(async () => {
  for (const transport of transports.splice(0)) await transport.close();
});
function connect() {
  const transport = createTransport({ clock: fakeClock(), random: () => 0 });
  transports.push(transport);
  return transport.connect("ns/account", { token: "token" });
}
const datacenter = (of: string, more: object = {}) => ({ id: of, properties: { name: "dc", ...more } });

describe("an id that the platform writes in upper case", () => {
  it("is the same member, in a list and alone", async () => {
    await using server = await scriptedServer(answer(200, { items: [datacenter(UPPER), datacenter(id)] }));
    const source = resourceCollection(connect(), `${server.url}/datacenters`, {
      query: {},
      isBusy: () => false,
      product: "core",
    });
    const ids = async () => (await source.list(AbortSignal.timeout(10_000), "normal")).map((item) => item.id);
    expect(await ids()).toEqual([id]);
    server.script = answer(200, datacenter(UPPER));
    expect(await source.get?.(id, AbortSignal.timeout(10_000))).toMatchObject({ id, raw: { id } });
  });

  it("is found wherever it stands, also in a large answer, and no text that people choose is changed", async () => {
    const body = (as: string) => ({
      metadata: { createdByUserId: as, targets: [{ target: { id: as } }] },
      properties: {
        name: UPPER,
        description: UPPER,
        bootVolume: { id: as },
        image: as,
        dhcp: [as],
        text: `at ${UPPER}`,
      },
      entities: { items: [{ id: as, properties: { key: UPPER, value: UPPER } }, "x".repeat(100_000)] },
    });
    await using server = await scriptedServer(answer(200, body(UPPER)));
    expect((await connect().send({ method: "GET", url: server.url })).body).toEqual(body(id));
  });

  it("is the same in the paths of the request log", async () => {
    const logged = {
      id: UPPER,
      metadata: { createdDate: "2026-01-01T00:00:00Z", requestStatus: { metadata: { status: "DONE", targets: [] } } },
      properties: { method: "POST", url: `https://host/cloudapi/v6/datacenters/${UPPER}/lans?depth=1`, body: UPPER },
    };
    const status = { metadata: { status: "DONE", targets: [{ target: { id: UPPER } }] } };
    await using server = await scriptedServer((arrived, ...rest) =>
      answer(200, arrived.url.includes("/status") ? status : { items: [logged] })(arrived, ...rest),
    );
    const filter = { method: "POST", url: `/datacenters/${id}/lans`, createdAfter: 0 };
    expect(await findRequests(connect(), server.url, filter)).toMatchObject([{ id, targets: [{ id }] }]);
  });
});
