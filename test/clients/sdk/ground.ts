import {
  DataCentersApi,
  FlowLogPropertiesActionEnum,
  FlowLogPropertiesDirectionEnum,
  IPBlocksApi,
  LANsApi,
  VolumePropertiesLicenceTypeEnum,
  VolumePropertiesTypeEnum,
} from "@ionos-cloud/sdk-nodejs";
import { known, type Sdk } from "./sdk.ts";

export async function newDatacenter(sdk: Sdk): Promise<string> {
  const datacenter = { properties: { name: "prod", location: "de/fra" } };
  return sdk.made(new DataCentersApi(sdk.configuration).datacentersPost({ datacenter }));
}

/** A datacenter with the LANs 1 and 2, and two reserved addresses of its location. */
export async function buildGround(sdk: Sdk) {
  const datacenterId = await newDatacenter(sdk);
  const lans = new LANsApi(sdk.configuration);
  for (const name of ["front", "back"]) {
    await sdk.made(lans.datacentersLansPost({ datacenterId, lan: { properties: { name } } }));
  }
  const ipblock = { properties: { location: "de/fra", size: 2 } };
  const { properties } = await sdk.done(new IPBlocksApi(sdk.configuration).ipblocksPost({ ipblock }));
  const [first, second] = known(properties.ips);
  return { datacenterId, first: known(first), second: known(second) };
}

export const flowLog = (name: string) => ({
  properties: {
    name,
    action: FlowLogPropertiesActionEnum.All,
    direction: FlowLogPropertiesDirectionEnum.Bidirectional,
    bucket: "flow-logs",
  },
});

export const disk = (name: string) => ({
  properties: {
    name,
    size: 20,
    type: VolumePropertiesTypeEnum.SsdPremium,
    licenceType: VolumePropertiesLicenceTypeEnum.Linux,
  },
});
