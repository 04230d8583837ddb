import {
  BackupUnitsApi,
  ContractResourcesApi,
  DataCentersApi,
  IPBlocksApi,
  UserManagementApi,
  UserS3KeysApi,
} from "@ionos-cloud/sdk-nodejs";
import { describe, expect, it } from "vitest";
import { expectRefusal, idOf, known, sdkForFile, seen } from "./sdk.ts";

const sdk = await sdkForFile();
const management = new UserManagementApi(sdk.configuration);
const keys = new UserS3KeysApi(sdk.configuration);

const person = (email: string) => ({ firstname: "Ada", lastname: "Lovelace", email, administrator: false });
const password = "verySecret1";

async function newUser(email: string): Promise<string> {
  const { status, data } = await management.umUsersPost({ user: { properties: { ...person(email), password } } });
  expect(status).toBe(201);
  return idOf(data);
}

const newGroup = async (properties: object = {}) =>
  idOf((await management.umGroupsPost({ group: { properties: { name: "developers", ...properties } } })).data);

describe("users and groups", () => {
  it("the life of a user", async () => {
    const userId = await newUser("ada@example.org");
    const { properties } = (await management.umUsersFindById({ userId })).data;
    expect(properties).toMatchObject({ ...person("ada@example.org"), active: true });
    expect(properties).not.toHaveProperty("password");
    const user = { properties: { ...person("countess@example.org"), administrator: true } };
    expect(await seen(management.umUsersPut({ userId, user }))).toMatchObject({ status: 200, data: user });
    expect((await management.umUsersDelete({ userId })).status).toBe(200);
    await expectRefusal(management.umUsersFindById({ userId }), 404);
  });

  it("the life of a group", async () => {
    const groupId = await newGroup({ createFlowLog: true });
    const found = (await management.umGroupsFindById({ groupId })).data;
    expect(found.properties).toMatchObject({ name: "developers", createFlowLog: true, reserveIp: false });
    const group = { properties: { name: "network", reserveIp: true } };
    expect(await seen(management.umGroupsPut({ groupId, group }))).toMatchObject({ status: 200, data: group });
    expect((await management.umGroupsDelete({ groupId })).status).toBe(200);
    await expectRefusal(management.umGroupsFindById({ groupId }), 404);
  });

  it("a user joins a group and leaves it", async () => {
    const groupId = await newGroup();
    const userId = await newUser("joins@example.org");
    expect((await management.umGroupsUsersPost({ groupId, user: { id: userId } })).data.id).toBe(userId);
    expect((await management.umGroupsUsersGet({ groupId })).data.items?.map(idOf)).toEqual([userId]);
    expect((await management.umUsersGroupsGet({ userId })).data.items?.map(idOf)).toEqual([groupId]);
    const { entities } = (await management.umUsersFindById({ userId, depth: 2 })).data;
    expect(entities?.groups?.items?.map(idOf)).toEqual([groupId]);
    await management.umGroupsUsersDelete({ groupId, userId });
    expect((await management.umGroupsUsersGet({ groupId })).data.items).toEqual([]);
  });

  it("a resource is shared with a group", async () => {
    const groupId = await newGroup();
    const datacenter = { properties: { name: "shared", location: "de/fra" } };
    const datacenters = new DataCentersApi(sdk.configuration);
    const share = { groupId, resourceId: await sdk.made(datacenters.datacentersPost({ datacenter })) };
    const resource = { properties: { editPrivilege: true } };
    const shared = await seen(management.umGroupsSharesPost({ ...share, resource }));
    expect(shared).toMatchObject({ status: 201, data: { properties: { editPrivilege: true, sharePrivilege: false } } });
    const changed = { properties: { editPrivilege: false, sharePrivilege: true } };
    await management.umGroupsSharesPut({ ...share, resource: changed });
    expect((await management.umGroupsSharesFindByResourceId(share)).data).toMatchObject(changed);
    expect((await management.umGroupsResourcesGet({ groupId })).data.items?.map(idOf)).toEqual([share.resourceId]);
    await management.umGroupsSharesDelete(share);
    await expectRefusal(management.umGroupsSharesFindByResourceId(share), 404);
  });

  it("a user may do what a group allows, and nothing else", async () => {
    const userId = await newUser("limited@example.org");
    const own = sdk.configured({ username: "limited@example.org", password });
    const ipblock = { properties: { location: "de/fra", size: 1 } };
    const reserve = () => new IPBlocksApi(own).ipblocksPost({ ipblock });
    await expectRefusal(reserve(), 403);
    const groupId = await newGroup({ reserveIp: true });
    await management.umGroupsUsersPost({ groupId, user: { id: userId } });
    expect((await reserve()).status).toBe(202);
  });
});

describe("the life of", () => {
  it("an S3 key", async () => {
    const userId = await newUser("keys@example.org");
    const { data } = await keys.umUsersS3keysPost({ userId });
    expect(data.properties).toEqual({ secretKey: expect.any(String), active: true });
    const at = { userId, keyId: idOf(data) };
    const s3Key = { properties: { active: false } };
    expect((await keys.umUsersS3keysPut({ ...at, s3Key })).data).toMatchObject(s3Key);
    expect((await keys.umUsersS3keysFindByKeyId(at)).data).toMatchObject(s3Key);
    await keys.umUsersS3keysDelete(at);
    await expectRefusal(keys.umUsersS3keysFindByKeyId(at), 404);
  });

  it("a backup unit", async () => {
    const units = new BackupUnitsApi(sdk.configuration);
    const unit = { name: "nightly", email: "backup@example.org" };
    const post = units.backupunitsPost({ backupUnit: { properties: { ...unit, password } } });
    const backupunitId = await sdk.made(post);
    const { data } = await units.backupunitsFindById({ backupunitId });
    expect(data.properties).toEqual(unit);
    const patch = { ...unit, email: "patched@example.org" };
    await sdk.done(units.backupunitsPatch({ backupunitId, backupUnit: patch }));
    expect((await units.backupunitsFindById({ backupunitId })).data.properties).toEqual(patch);
    const put = { ...unit, email: "replaced@example.org" };
    await sdk.done(units.backupunitsPut({ backupunitId, backupUnit: { properties: put } }));
    expect((await units.backupunitsFindById({ backupunitId })).data.properties).toEqual(put);
    await sdk.done(units.backupunitsDelete({ backupunitId }));
    await expectRefusal(units.backupunitsFindById({ backupunitId }), 404);
  });
});

it("the contract says what is reserved", async () => {
  const contracts = new ContractResourcesApi(sdk.configuration);
  const reserved = async () => {
    const { data } = await contracts.contractsGet({ depth: 1 });
    return known(data.items?.[0]?.properties?.resourceLimits).reservedIpsOnContract;
  };
  const before = await reserved();
  const ipblock = { properties: { location: "de/fra", size: 3 } };
  await sdk.done(new IPBlocksApi(sdk.configuration).ipblocksPost({ ipblock }));
  expect(await reserved()).toBe(before + 3);
});
