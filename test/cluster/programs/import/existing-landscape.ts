import { setTimeout as delay } from "node:timers/promises";
import {
  Configuration,
  DataCentersApi,
  FlowLogPropertiesActionEnum,
  FlowLogPropertiesDirectionEnum,
  FlowLogsApi,
  ImagesApi,
  IPBlocksApi,
  LANsApi,
  NATGatewaysApi,
  ServersApi,
  TemplatesApi,
  VolumePropertiesLicenceTypeEnum,
  VolumePropertiesTypeEnum,
  VolumesApi,
} from "@ionos-cloud/sdk-nodejs";
import { z } from "zod";
import { idOf, known } from "../../../clients/sdk/sdk.ts";
import { image } from "../../../subjects/surroundings.ts";
import { fillGround, type Ground } from "../../ground.ts";
import { subjects } from "../../kinds-under-test.ts";
import type { Landscape } from "../../landscape.ts";

const state = z.record(z.string(), z.unknown());

/**
 * A landscape without Mooring: one resource of every kind that can be imported, and a Cube. The platform's own SDK makes
 * what it covers.
 */
export async function existingLandscape(world: Landscape): Promise<void> {
  const { platform } = world;
  const isBusy = async () => {
    const { requests: _, ...made } = state.parse(await platform.call("GET", "/_simulator/state"));
    return /"(BUSY|PROVISIONING|DEPLOYING|CREATING)"/.test(JSON.stringify(made));
  };
  const settled = async () => {
    while (await isBusy()) await delay(200);
  };
  const configuration = new Configuration({ apiKey: platform.token, basePath: `${platform.url}/cloudapi/v6` });
  configuration.setMaxWaitTime(0);
  const done = async <Data>(write: Promise<{ data: Data }>): Promise<Data> => {
    const { data } = await write;
    await settled();
    return data;
  };
  const made = async (write: Promise<{ data: { id?: string } }>) => idOf(await done(write));

  const servers = new ServersApi(configuration);
  const volumes = new VolumesApi(configuration);
  const gateways = new NATGatewaysApi(configuration);
  const shop = { properties: { name: "Old Shop", location: "de/txl" } };
  const datacenterId = await made(new DataCentersApi(configuration).datacentersPost({ datacenter: shop }));
  const brokers = { properties: { name: "brokers", _public: false } };
  const lan = await made(new LANsApi(configuration).datacentersLansPost({ datacenterId, lan: brokers }));
  const boot = { name: "host-boot", size: 10, type: VolumePropertiesTypeEnum.SsdStandard, ...image };
  const host = {
    properties: { name: "host", cores: 1, ram: 1024 },
    entities: {
      volumes: { items: [{ properties: boot }] },
      nics: { items: [{ properties: { name: "found", lan: 1 } }] },
    },
  };
  const serverId = await made(servers.datacentersServersPost({ datacenterId, server: host }));
  const disk = { name: "source", size: 10, type: VolumePropertiesTypeEnum.Hdd };
  const source = { properties: { ...disk, licenceType: VolumePropertiesLicenceTypeEnum.Linux } };
  const volumeId = await made(volumes.datacentersVolumesPost({ datacenterId, volume: source }));
  await done(servers.datacentersServersVolumesPost({ datacenterId, serverId, volume: { id: volumeId } }));

  const images = known((await new ImagesApi(configuration).imagesGet({ depth: 1 })).data.items);
  const isCd = ({ properties: { imageType, location } }: (typeof images)[number]) =>
    String(imageType) === "CDROM" && location === "de/txl";
  const cdrom = known(images.find(isCd));
  await done(servers.datacentersServersCdromsPost({ datacenterId, serverId, cdrom }));

  const byHand = { location: "de/txl", size: 1, name: "by-hand" };
  const block = await done(new IPBlocksApi(configuration).ipblocksPost({ ipblock: { properties: byHand } }));
  const snapshot = { properties: { name: "by-hand" } };
  await done(volumes.datacentersVolumesCreateSnapshotPost({ datacenterId, volumeId, snapshot }));
  const flowLog = (name: string) => ({
    properties: {
      name,
      action: FlowLogPropertiesActionEnum.Rejected,
      direction: FlowLogPropertiesDirectionEnum.Ingress,
      bucket: "flow-logs",
    },
  });
  const [nic] = await platform.resources("nics");
  const nicId = nic?.id ?? "";
  const watched = { datacenterId, serverId, nicId, flowlog: flowLog("found") };
  await done(new FlowLogsApi(configuration).datacentersServersNicsFlowlogsPost(watched));
  const natGateway = { properties: { name: "nat", publicIps: known(block.properties.ips) } };
  const natGatewayId = await made(gateways.datacentersNatgatewaysPost({ datacenterId, natGateway }));
  const ofNat = { datacenterId, natGatewayId, natGatewayFlowLog: flowLog("of-nat") };
  await done(gateways.datacentersNatgatewaysFlowlogsPost(ofNat));
  const [template] = known((await new TemplatesApi(configuration).templatesGet({ depth: 1 })).data.items);
  const nvme = { properties: { name: "cube-boot", type: VolumePropertiesTypeEnum.Das, ...image } };
  const cube = { name: "cube", type: "CUBE", templateUuid: idOf(known(template)) };
  const server = { properties: cube, entities: { volumes: { items: [nvme] } } };
  await done(servers.datacentersServersPost({ datacenterId, server }));

  const make = async (kind: string, name: string, within: Ground) => {
    const hands = subjects.find((each) => each.kind.kind === kind)?.hands(world, within, name);
    const id = (await hands?.createByHand()) ?? "";
    await settled();
    return id;
  };
  const there = { datacenter: datacenterId, volume: volumeId, server: serverId, lan, nics: { found: nicId } };
  const ground = await fillGround(there, make);
  for (const kind of ["Server", "ScalingGroup", "MetricPipeline", "LogPipeline", "KafkaTopic"]) {
    await make(kind, "by-hand", ground);
  }
}
