import {
  LoadBalancersApi,
  NetworkInterfacesApi,
  NetworkLoadBalancerForwardingRulePropertiesAlgorithmEnum,
  NetworkLoadBalancerForwardingRulePropertiesProtocolEnum,
  NetworkLoadBalancersApi,
  ServersApi,
} from "@ionos-cloud/sdk-nodejs";
import { describe, expect, it } from "vitest";
import { buildGround, flowLog } from "../ground.ts";
import { expectRefusal, idOf, sdkForFile } from "../sdk.ts";

const sdk = await sdkForFile();
const api = new NetworkLoadBalancersApi(sdk.configuration);
const classic = new LoadBalancersApi(sdk.configuration);
const ground = await buildGround(sdk);
const { datacenterId } = ground;

const balancer = (name: string, ip: string) => ({ name, listenerLan: 1, targetLan: 2, ips: [ip] });
const minimal = { properties: balancer("nlb", ground.first) };
const at = {
  datacenterId,
  networkLoadBalancerId: await sdk.made(
    api.datacentersNetworkloadbalancersPost({ datacenterId, networkLoadBalancer: minimal }),
  ),
};

const rule = (name: string) => ({
  name,
  algorithm: NetworkLoadBalancerForwardingRulePropertiesAlgorithmEnum.RoundRobin,
  protocol: NetworkLoadBalancerForwardingRulePropertiesProtocolEnum.Tcp,
  listenerIp: ground.first,
  listenerPort: 80,
  targets: [{ ip: "10.2.0.11", port: 8080, weight: 1 }],
});

describe("the life of", () => {
  it("a load balancer", () =>
    sdk.live({
      create: (name) =>
        api.datacentersNetworkloadbalancersPost({
          datacenterId,
          networkLoadBalancer: { properties: balancer(name, ground.second) },
        }),
      find: (id) =>
        api.datacentersNetworkloadbalancersFindByNetworkLoadBalancerId({ datacenterId, networkLoadBalancerId: id }),
      put: (id, name) =>
        api.datacentersNetworkloadbalancersPut({
          datacenterId,
          networkLoadBalancerId: id,
          networkLoadBalancer: { properties: balancer(name, ground.second) },
        }),
      patch: (id, name) =>
        api.datacentersNetworkloadbalancersPatch({
          datacenterId,
          networkLoadBalancerId: id,
          networkLoadBalancerProperties: balancer(name, ground.second),
        }),
      remove: (id) => api.datacentersNetworkloadbalancersDelete({ datacenterId, networkLoadBalancerId: id }),
    }));

  it("a forwarding rule", () =>
    sdk.live({
      create: (name) =>
        api.datacentersNetworkloadbalancersForwardingrulesPost({
          ...at,
          networkLoadBalancerForwardingRule: { properties: rule(name) },
        }),
      find: (forwardingRuleId) =>
        api.datacentersNetworkloadbalancersForwardingrulesFindByForwardingRuleId({ ...at, forwardingRuleId }),
      put: (forwardingRuleId, name) =>
        api.datacentersNetworkloadbalancersForwardingrulesPut({
          ...at,
          forwardingRuleId,
          networkLoadBalancerForwardingRule: { properties: rule(name) },
        }),
      patch: (forwardingRuleId, name) =>
        api.datacentersNetworkloadbalancersForwardingrulesPatch({
          ...at,
          forwardingRuleId,
          networkLoadBalancerForwardingRuleProperties: rule(name),
        }),
      remove: (forwardingRuleId) =>
        api.datacentersNetworkloadbalancersForwardingrulesDelete({ ...at, forwardingRuleId }),
    }));

  it("a flow log", () =>
    sdk.live({
      create: (name) =>
        api.datacentersNetworkloadbalancersFlowlogsPost({ ...at, networkLoadBalancerFlowLog: flowLog(name) }),
      find: (flowLogId) => api.datacentersNetworkloadbalancersFlowlogsFindByFlowLogId({ ...at, flowLogId }),
      remove: (flowLogId) => api.datacentersNetworkloadbalancersFlowlogsDelete({ ...at, flowLogId }),
    }));

  it("a classic load balancer", () =>
    sdk.live({
      create: (name) => classic.datacentersLoadbalancersPost({ datacenterId, loadbalancer: { properties: { name } } }),
      find: (loadbalancerId) => classic.datacentersLoadbalancersFindById({ datacenterId, loadbalancerId }),
      put: (loadbalancerId, name) =>
        classic.datacentersLoadbalancersPut({ datacenterId, loadbalancerId, loadbalancer: { properties: { name } } }),
      patch: (loadbalancerId, name) =>
        classic.datacentersLoadbalancersPatch({ datacenterId, loadbalancerId, loadbalancer: { name } }),
      remove: (loadbalancerId) => classic.datacentersLoadbalancersDelete({ datacenterId, loadbalancerId }),
    }));
});

it("a flow log never changes", async () => {
  const networkLoadBalancerFlowLog = flowLog("one");
  const post = api.datacentersNetworkloadbalancersFlowlogsPost({ ...at, networkLoadBalancerFlowLog });
  const flowLogId = await sdk.made(post);
  const { properties: networkLoadBalancerFlowLogProperties } = flowLog("two");
  const patch = { ...at, flowLogId, networkLoadBalancerFlowLogProperties };
  const changed = api.datacentersNetworkloadbalancersFlowlogsPatch(patch);
  await expectRefusal(changed, 422, "cannot be changed");
  const put = { ...at, flowLogId, networkLoadBalancerFlowLog: flowLog("two") };
  const replaced = api.datacentersNetworkloadbalancersFlowlogsPut(put);
  await expectRefusal(replaced, 422, "cannot be changed");
});

it("a rule listens only on an address of its load balancer", async () => {
  const networkLoadBalancerForwardingRule = { properties: { ...rule("stray"), listenerIp: ground.second } };
  const post = api.datacentersNetworkloadbalancersForwardingrulesPost({ ...at, networkLoadBalancerForwardingRule });
  await expectRefusal(post, 422, "listenerIp");
});

it("a classic load balancer takes NICs in and lets them go", async () => {
  const server = { properties: { name: "web", cores: 1, ram: 1024 } };
  const serverId = await sdk.made(new ServersApi(sdk.configuration).datacentersServersPost({ datacenterId, server }));
  const nics = new NetworkInterfacesApi(sdk.configuration);
  const added = nics.datacentersServersNicsPost({ datacenterId, serverId, nic: { properties: { lan: 1 } } });
  const nic = await sdk.done(added);
  const loadbalancer = { properties: { name: "classic" } };
  const loadbalancerId = await sdk.made(classic.datacentersLoadbalancersPost({ datacenterId, loadbalancer }));
  const balanced = { datacenterId, loadbalancerId, nicId: idOf(nic) };
  await sdk.done(classic.datacentersLoadbalancersBalancednicsPost({ ...balanced, nic }));
  expect((await classic.datacentersLoadbalancersBalancednicsFindByNicId(balanced)).data.id).toBe(nic.id);
  await sdk.done(classic.datacentersLoadbalancersBalancednicsDelete(balanced));
  expect((await classic.datacentersLoadbalancersBalancednicsGet(balanced)).data.items).toEqual([]);
});
