import { LabelsApi } from "@ionos-cloud/sdk-nodejs";
import { expect, it } from "vitest";
import { oneOfEverything } from "../../simulator/one-of-everything.ts";
import { expectRefusal, idOf, sdkForFile, seen } from "./sdk.ts";

/** Prefix of the SDK's method names for the labels of each resource type. */
const holders = ["datacenters", "datacentersServers", "datacentersVolumes", "images", "ipblocks", "snapshots"] as const;

const sdk = await sdkForFile();
const api = new LabelsApi(sdk.configuration);
const path = await oneOfEverything(sdk.platform);
const at = {
  datacenterId: path("{datacenter}"),
  serverId: path("{server}"),
  volumeId: path("{volume}"),
  imageId: path("{image}"),
  ipblockId: path("{ipblock}"),
  snapshotId: path("{snapshot}"),
};

it.each(holders)("the life of a label of %s", async (holder) => {
  const label = { properties: { key: "team", value: "blue" } };
  const made = await seen(api[`${holder}LabelsPost`]({ ...at, label }));
  expect(made).toMatchObject({ status: 201, data: { id: "team", type: "label", ...label } });
  const one = { ...at, key: "team" };
  const changed = { properties: { key: "team", value: "green" } };
  const put = await seen(api[`${holder}LabelsPut`]({ ...one, label: changed }));
  expect(put).toMatchObject({ status: 200, data: changed });
  expect((await api[`${holder}LabelsFindByKey`](one)).data).toMatchObject(changed);
  expect((await api[`${holder}LabelsGet`](at)).data.items?.map(idOf)).toContain("team");
  expect((await api[`${holder}LabelsDelete`](one)).status).toBe(200);
  await expectRefusal(api[`${holder}LabelsFindByKey`](one), 404);
});

it("every label is found by its URN, with the resource that it belongs to", async () => {
  const { items = [] } = (await api.labelsGet({ depth: 1 })).data;
  expect(items.map(({ properties }) => properties.resourceType).toSorted()).toEqual([
    "datacenter",
    "image",
    "ipblock",
    "server",
    "snapshot",
    "volume",
  ]);
  for (const each of items) {
    const found = (await api.labelsFindByUrn({ labelurn: idOf(each) })).data;
    expect(found.properties).toEqual(each.properties);
  }
});
