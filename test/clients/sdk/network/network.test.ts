import {
  FirewallRulesApi,
  FirewallrulePropertiesProtocolEnum,
  FlowLogsApi,
  IPBlocksApi,
  LANsApi,
  NetworkInterfacesApi,
  PrivateCrossConnectsApi,
  ServersApi,
} from "@ionos-cloud/sdk-nodejs";
import { describe, expect, it } from "vitest";
import { flowLog, newDatacenter } from "../ground.ts";
import { expectRefusal, idOf, known, sdkForFile } from "../sdk.ts";

const sdk = await sdkForFile();
const servers = new ServersApi(sdk.configuration);
const nics = new NetworkInterfacesApi(sdk.configuration);
const lans = new LANsApi(sdk.configuration);
const firewall = new FirewallRulesApi(sdk.configuration);
const flowLogs = new FlowLogsApi(sdk.configuration);
const blocks = new IPBlocksApi(sdk.configuration);
const crossConnects = new PrivateCrossConnectsApi(sdk.configuration);
const datacenterId = await newDatacenter(sdk);
const web = { properties: { name: "web", cores: 1, ram: 1024 } };
const serverId = await sdk.made(servers.datacentersServersPost({ datacenterId, server: web }));

const newNic = (lan: number) =>
  sdk.made(nics.datacentersServersNicsPost({ datacenterId, serverId, nic: { properties: { lan } } }));
const nicId = await newNic(1);

const tcp = { protocol: FirewallrulePropertiesProtocolEnum.Tcp };

describe("the life of", () => {
  it("a LAN", () =>
    sdk.live({
      create: (name) => lans.datacentersLansPost({ datacenterId, lan: { properties: { name } } }),
      find: (lanId) => lans.datacentersLansFindById({ datacenterId, lanId }),
      put: (lanId, name) => lans.datacentersLansPut({ datacenterId, lanId, lan: { properties: { name } } }),
      patch: (lanId, name) => lans.datacentersLansPatch({ datacenterId, lanId, lan: { name } }),
      remove: (lanId) => lans.datacentersLansDelete({ datacenterId, lanId }),
    }));

  it("a NIC", () => {
    const at = { datacenterId, serverId };
    return sdk.live({
      create: (name) => nics.datacentersServersNicsPost({ ...at, nic: { properties: { name, lan: 1 } } }),
      find: (id) => nics.datacentersServersNicsFindById({ ...at, nicId: id }),
      put: (id, name) => nics.datacentersServersNicsPut({ ...at, nicId: id, nic: { properties: { name, lan: 1 } } }),
      patch: (id, name) => nics.datacentersServersNicsPatch({ ...at, nicId: id, nic: { name, lan: 1 } }),
      remove: (id) => nics.datacentersServersNicsDelete({ ...at, nicId: id }),
    });
  });

  it("a firewall rule", () => {
    const at = { datacenterId, serverId, nicId };
    const rule = (name: string) => ({ properties: { name, ...tcp, portRangeStart: 22, portRangeEnd: 22 } });
    return sdk.live({
      create: (name) => firewall.datacentersServersNicsFirewallrulesPost({ ...at, firewallrule: rule(name) }),
      find: (firewallruleId) => firewall.datacentersServersNicsFirewallrulesFindById({ ...at, firewallruleId }),
      put: (firewallruleId, name) =>
        firewall.datacentersServersNicsFirewallrulesPut({ ...at, firewallruleId, firewallrule: rule(name) }),
      patch: (firewallruleId, name) =>
        firewall.datacentersServersNicsFirewallrulesPatch({ ...at, firewallruleId, firewallrule: { name } }),
      remove: (firewallruleId) => firewall.datacentersServersNicsFirewallrulesDelete({ ...at, firewallruleId }),
    });
  });

  it("a flow log of a NIC", () => {
    const at = { datacenterId, serverId, nicId };
    return sdk.live({
      create: (name) => flowLogs.datacentersServersNicsFlowlogsPost({ ...at, flowlog: flowLog(name) }),
      find: (flowlogId) => flowLogs.datacentersServersNicsFlowlogsFindById({ ...at, flowlogId }),
      remove: (flowlogId) => flowLogs.datacentersServersNicsFlowlogsDelete({ ...at, flowlogId }),
    });
  });

  it("an IP block", () => {
    const place = { location: "de/fra", size: 2 };
    return sdk.live({
      create: (name) => blocks.ipblocksPost({ ipblock: { properties: { name, ...place } } }),
      find: (ipblockId) => blocks.ipblocksFindById({ ipblockId }),
      put: (ipblockId, name) => blocks.ipblocksPut({ ipblockId, ipblock: { properties: { name, ...place } } }),
      patch: (ipblockId, name) => blocks.ipblocksPatch({ ipblockId, ipblock: { name, ...place } }),
      remove: (ipblockId) => blocks.ipblocksDelete({ ipblockId }),
    });
  });

  it("a cross connect", () =>
    sdk.live({
      create: (name) => crossConnects.pccsPost({ pcc: { properties: { name } } }),
      find: (pccId) => crossConnects.pccsFindById({ pccId }),
      patch: (pccId, name) => crossConnects.pccsPatch({ pccId, pcc: { name } }),
      remove: (pccId) => crossConnects.pccsDelete({ pccId }),
    }));
});

describe("related resources", () => {
  it("a NIC has an address of an IP block, which names it", async () => {
    const ipblock = { properties: { location: "de/fra", size: 1 } };
    const block = await sdk.done(blocks.ipblocksPost({ ipblock }));
    const nic = { properties: { lan: 1, ips: known(block.properties.ips) } };
    const consumer = await sdk.made(nics.datacentersServersNicsPost({ datacenterId, serverId, nic }));
    const { properties } = (await blocks.ipblocksFindById({ ipblockId: idOf(block) })).data;
    expect(properties.ipConsumers).toMatchObject([{ nicId: consumer, serverId, datacenterId }]);
  });

  it("a NIC moves to another LAN", async () => {
    const moving = await newNic(1);
    const lanId = await sdk.made(lans.datacentersLansPost({ datacenterId, lan: { properties: { name: "back" } } }));
    const nic = (await nics.datacentersServersNicsFindById({ datacenterId, serverId, nicId: moving })).data;
    await sdk.done(lans.datacentersLansNicsPost({ datacenterId, lanId, nic }));
    const { data } = await lans.datacentersLansNicsFindById({ datacenterId, lanId, nicId: moving });
    expect(data.properties.lan).toBe(Number(lanId));
  });

  it("a LAN that has NICs stays", async () => {
    const deletion = lans.datacentersLansDelete({ datacenterId, lanId: "1" });
    await expectRefusal(deletion, 422, "Cannot delete lan which contains nics");
  });

  it("LANs of two datacenters meet in a cross connect", async () => {
    const pccId = await sdk.made(crossConnects.pccsPost({ pcc: { properties: { name: "bridge" } } }));
    const other = await newDatacenter(sdk);
    for (const each of [datacenterId, other]) {
      await sdk.done(lans.datacentersLansPost({ datacenterId: each, lan: { properties: { pcc: pccId } } }));
    }
    const { properties } = (await crossConnects.pccsFindById({ pccId })).data;
    expect(properties.peers?.map((peer) => peer.datacenterId)).toEqual([datacenterId, other]);
    await expectRefusal(crossConnects.pccsDelete({ pccId }), 422);
  });

  it("a flow log never changes", async () => {
    const at = { datacenterId, serverId, nicId };
    const log = flowLogs.datacentersServersNicsFlowlogsPost({ ...at, flowlog: flowLog("one") });
    const flowlogId = await sdk.made(log);
    const patch = flowLogs.datacentersServersNicsFlowlogsPatch({
      ...at,
      flowlogId,
      flowlog: flowLog("two").properties,
    });
    await expectRefusal(patch, 422, "cannot be changed");
    const put = flowLogs.datacentersServersNicsFlowlogsPut({ ...at, flowlogId, flowlog: flowLog("two") });
    await expectRefusal(put, 422, "cannot be changed");
  });
});
