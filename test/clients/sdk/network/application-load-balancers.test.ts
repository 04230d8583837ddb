import {
  ApplicationLoadBalancerForwardingRulePropertiesProtocolEnum,
  ApplicationLoadBalancerHttpRuleConditionConditionEnum,
  ApplicationLoadBalancerHttpRuleConditionTypeEnum,
  ApplicationLoadBalancerHttpRuleTypeEnum,
  ApplicationLoadBalancersApi,
  TargetGroupHttpHealthCheckMatchTypeEnum,
  TargetGroupPropertiesAlgorithmEnum,
  TargetGroupPropertiesProtocolEnum,
  TargetGroupsApi,
} from "@ionos-cloud/sdk-nodejs";
import { describe, expect, it } from "vitest";
import { buildGround, flowLog } from "../ground.ts";
import { expectRefusal, sdkForFile } from "../sdk.ts";

const sdk = await sdkForFile();
const api = new ApplicationLoadBalancersApi(sdk.configuration);
const targetGroups = new TargetGroupsApi(sdk.configuration);
const ground = await buildGround(sdk);
const { datacenterId } = ground;

const balancer = (name: string, ip: string) => ({ name, listenerLan: 1, targetLan: 2, ips: [ip] });
const minimal = { properties: balancer("alb", ground.first) };
const at = {
  datacenterId,
  applicationLoadBalancerId: await sdk.made(
    api.datacentersApplicationloadbalancersPost({ datacenterId, applicationLoadBalancer: minimal }),
  ),
};

const rule = (name: string) => ({
  name,
  protocol: ApplicationLoadBalancerForwardingRulePropertiesProtocolEnum.Http,
  listenerIp: ground.first,
  listenerPort: 80,
});

const targetGroup = (name: string) => ({
  name,
  algorithm: TargetGroupPropertiesAlgorithmEnum.RoundRobin,
  protocol: TargetGroupPropertiesProtocolEnum.Http,
  targets: [{ ip: "10.2.0.11", port: 8080, weight: 1 }],
});

describe("the life of", () => {
  it("a load balancer", () =>
    sdk.live({
      create: (name) =>
        api.datacentersApplicationloadbalancersPost({
          datacenterId,
          applicationLoadBalancer: { properties: balancer(name, ground.second) },
        }),
      find: (id) =>
        api.datacentersApplicationloadbalancersFindByApplicationLoadBalancerId({
          datacenterId,
          applicationLoadBalancerId: id,
        }),
      put: (id, name) =>
        api.datacentersApplicationloadbalancersPut({
          datacenterId,
          applicationLoadBalancerId: id,
          applicationLoadBalancer: { properties: balancer(name, ground.second) },
        }),
      patch: (id, name) =>
        api.datacentersApplicationloadbalancersPatch({
          datacenterId,
          applicationLoadBalancerId: id,
          applicationLoadBalancerProperties: balancer(name, ground.second),
        }),
      remove: (id) => api.datacentersApplicationloadbalancersDelete({ datacenterId, applicationLoadBalancerId: id }),
    }));

  it("a forwarding rule", () =>
    sdk.live({
      create: (name) =>
        api.datacentersApplicationloadbalancersForwardingrulesPost({
          ...at,
          applicationLoadBalancerForwardingRule: { properties: rule(name) },
        }),
      find: (forwardingRuleId) =>
        api.datacentersApplicationloadbalancersForwardingrulesFindByForwardingRuleId({ ...at, forwardingRuleId }),
      put: (forwardingRuleId, name) =>
        api.datacentersApplicationloadbalancersForwardingrulesPut({
          ...at,
          forwardingRuleId,
          applicationLoadBalancerForwardingRule: { properties: rule(name) },
        }),
      patch: (forwardingRuleId, name) =>
        api.datacentersApplicationloadbalancersForwardingrulesPatch({
          ...at,
          forwardingRuleId,
          applicationLoadBalancerForwardingRuleProperties: rule(name),
        }),
      remove: (forwardingRuleId) =>
        api.datacentersApplicationloadbalancersForwardingrulesDelete({ ...at, forwardingRuleId }),
    }));

  it("a flow log", () =>
    sdk.live({
      create: (name) =>
        api.datacentersApplicationloadbalancersFlowlogsPost({ ...at, applicationLoadBalancerFlowLog: flowLog(name) }),
      find: (flowLogId) => api.datacentersApplicationloadbalancersFlowlogsFindByFlowLogId({ ...at, flowLogId }),
      remove: (flowLogId) => api.datacentersApplicationloadbalancersFlowlogsDelete({ ...at, flowLogId }),
    }));

  it("a target group", () =>
    sdk.live({
      create: (name) => targetGroups.targetgroupsPost({ targetGroup: { properties: targetGroup(name) } }),
      find: (targetGroupId) => targetGroups.targetgroupsFindByTargetGroupId({ targetGroupId }),
      put: (targetGroupId, name) =>
        targetGroups.targetgroupsPut({ targetGroupId, targetGroup: { properties: targetGroup(name) } }),
      patch: (targetGroupId, name) =>
        targetGroups.targetgroupsPatch({ targetGroupId, targetGroupProperties: targetGroup(name) }),
      remove: (targetGroupId) => targetGroups.targetGroupsDelete({ targetGroupId }),
    }));
});

it("a rule forwards to a target group, which stays as long as the rule does", async () => {
  const httpHealthCheck = { matchType: TargetGroupHttpHealthCheckMatchTypeEnum.StatusCode, response: "200" };
  const properties = { ...targetGroup("web"), httpHealthCheck };
  const targetGroupId = await sdk.made(targetGroups.targetgroupsPost({ targetGroup: { properties } }));
  const forward = {
    name: "api",
    type: ApplicationLoadBalancerHttpRuleTypeEnum.Forward,
    targetGroup: targetGroupId,
    conditions: [
      {
        type: ApplicationLoadBalancerHttpRuleConditionTypeEnum.Path,
        condition: ApplicationLoadBalancerHttpRuleConditionConditionEnum.StartsWith,
        value: "/api",
      },
    ],
  };
  const applicationLoadBalancerForwardingRule = { properties: { ...rule("http"), httpRules: [forward] } };
  const post = { ...at, applicationLoadBalancerForwardingRule };
  const made = await sdk.done(api.datacentersApplicationloadbalancersForwardingrulesPost(post));
  expect(made.properties.httpRules).toMatchObject([forward]);
  await expectRefusal(targetGroups.targetGroupsDelete({ targetGroupId }), 422, "target group");
});
