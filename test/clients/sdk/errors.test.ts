import { Configuration, DataCentersApi, DefaultApi, IPBlocksApi, ServersApi } from "@ionos-cloud/sdk-nodejs";
import { afterEach, describe, expect, it, vi } from "vitest";
import { newDatacenter } from "./ground.ts";
import { expectRefusal, sdkForFile, seen } from "./sdk.ts";

const sdk = await sdkForFile();
const datacenters = new DataCentersApi(sdk.configuration);
afterEach(async () => {
  vi.unstubAllEnvs();
  await sdk.platform.faults();
});

const list = (configuration: Configuration) => new DataCentersApi(configuration).datacentersGet();

describe("the SDK is configured", () => {
  it("with a token, also one that comes later", async () => {
    const { token } = sdk.platform.ready;
    expect((await list(sdk.configured({ apiKey: token }))).status).toBe(200);
    expect((await list(sdk.configured({ apiKey: async () => token }))).status).toBe(200);
  });

  it("with a user name and a password", async () => {
    const { username, password } = sdk.platform.ready;
    expect((await list(sdk.configured({ username, password }))).status).toBe(200);
  });

  it("by the environment", async () => {
    vi.stubEnv("IONOS_API_URL", sdk.basePath);
    vi.stubEnv("IONOS_TOKEN", sdk.platform.ready.token);
    expect((await list(Configuration.fromEnv())).status).toBe(200);
  });

  it("with the number of the contract", async () => {
    const { contractNumber } = sdk.platform.ready;
    expect((await datacenters.datacentersGet({ xContractNumber: contractNumber })).status).toBe(200);
    const other = datacenters.datacentersGet({ xContractNumber: contractNumber + 1 });
    await expectRefusal(other, 403, "X-Contract-Number");
  });

  it("with nothing but the address, to ask what the API is", async () => {
    const { data } = await new DefaultApi(sdk.configured({})).apiInfoGet();
    expect(data).toEqual({ href: sdk.basePath, name: expect.any(String), version: expect.any(String) });
  });
});

describe("a refusal has its status and its reason", () => {
  it.each([
    ["a wrong token", { apiKey: "wrong" }],
    ["a wrong password", { username: "nobody@example.org", password: "wrong" }],
    ["no credentials", {}],
  ])("401 for %s", async (_what, parameters) => {
    await expectRefusal(list(sdk.configured(parameters)), 401);
  });

  it("403 for what a user may not do", async () => {
    const { token } = await sdk.platform.user("limited@example.org", { privileges: [] });
    const ipblocks = new IPBlocksApi(sdk.configured({ apiKey: token }));
    const post = ipblocks.ipblocksPost({ ipblock: { properties: { location: "de/fra", size: 1 } } });
    await expectRefusal(post, 403, "Access denied");
  });

  it("404 for what is not there", async () => {
    const found = datacenters.datacentersFindById({ datacenterId: "not-there" });
    await expectRefusal(found, 404, "Resource does not exist");
  });

  it("422 for a body that is wrong, with a message for every fault", async () => {
    const datacenterId = await newDatacenter(sdk);
    const server = { properties: { name: "web", cores: 99, ram: 1000 } };
    const post = new ServersApi(sdk.configuration).datacentersServersPost({ datacenterId, server });
    const fault = (field: string) => ({ errorCode: "100", message: expect.stringContaining(`properties.${field}]`) });
    const messages = [fault("cores"), fault("ram")];
    expect(await seen(post)).toMatchObject({ status: 422, data: { httpStatus: 422, messages } });
  });

  it("429 when the SDK has tried as often as it does, with the time to wait", async () => {
    await sdk.platform.faults({ route: "GET *", fault: "status", status: 429, retryAfter: 2 });
    const refused = { status: 429, headers: { "retry-after": "2" }, data: { httpStatus: 429 } };
    expect(await seen(list(sdk.configuration))).toMatchObject(refused);
  });
});

it.each([429, 502, 503, 504])("the SDK tries again after %i, and gets its answer", async (status) => {
  await sdk.platform.faults({ route: "GET *", fault: "status", status, retryAfter: 1, count: 2 });
  expect((await list(sdk.configuration)).status).toBe(200);
});
