import { NATGatewaysApi } from "@ionos-cloud/sdk-nodejs";
import { describe, it } from "vitest";
import { buildGround, flowLog } from "../ground.ts";
import { expectRefusal, sdkForFile } from "../sdk.ts";

const sdk = await sdkForFile();
const api = new NATGatewaysApi(sdk.configuration);
const ground = await buildGround(sdk);
const { datacenterId } = ground;

const gateway = (name: string, ip: string) => ({ name, publicIps: [ip], lans: [{ id: 2 }] });
const minimal = { properties: gateway("nat", ground.first) };
const at = {
  datacenterId,
  natGatewayId: await sdk.made(api.datacentersNatgatewaysPost({ datacenterId, natGateway: minimal })),
};
const rule = (name: string) => ({ name, sourceSubnet: "10.2.0.0/16", publicIp: ground.first });

describe("the life of", () => {
  it("a gateway", () =>
    sdk.live({
      create: (name) =>
        api.datacentersNatgatewaysPost({ datacenterId, natGateway: { properties: gateway(name, ground.second) } }),
      find: (natGatewayId) => api.datacentersNatgatewaysFindByNatGatewayId({ datacenterId, natGatewayId }),
      put: (natGatewayId, name) =>
        api.datacentersNatgatewaysPut({
          datacenterId,
          natGatewayId,
          natGateway: { properties: gateway(name, ground.second) },
        }),
      patch: (natGatewayId, name) =>
        api.datacentersNatgatewaysPatch({
          datacenterId,
          natGatewayId,
          natGatewayProperties: gateway(name, ground.second),
        }),
      remove: (natGatewayId) => api.datacentersNatgatewaysDelete({ datacenterId, natGatewayId }),
    }));

  it("a rule", () =>
    sdk.live({
      create: (name) => api.datacentersNatgatewaysRulesPost({ ...at, natGatewayRule: { properties: rule(name) } }),
      find: (natGatewayRuleId) => api.datacentersNatgatewaysRulesFindByNatGatewayRuleId({ ...at, natGatewayRuleId }),
      put: (natGatewayRuleId, name) =>
        api.datacentersNatgatewaysRulesPut({ ...at, natGatewayRuleId, natGatewayRule: { properties: rule(name) } }),
      patch: (natGatewayRuleId, name) =>
        api.datacentersNatgatewaysRulesPatch({ ...at, natGatewayRuleId, natGatewayRuleProperties: rule(name) }),
      remove: (natGatewayRuleId) => api.datacentersNatgatewaysRulesDelete({ ...at, natGatewayRuleId }),
    }));

  it("a flow log", () =>
    sdk.live({
      create: (name) => api.datacentersNatgatewaysFlowlogsPost({ ...at, natGatewayFlowLog: flowLog(name) }),
      find: (flowLogId) => api.datacentersNatgatewaysFlowlogsFindByFlowLogId({ ...at, flowLogId }),
      remove: (flowLogId) => api.datacentersNatgatewaysFlowlogsDelete({ ...at, flowLogId }),
    }));
});

it("a rule uses only an address of its gateway", async () => {
  const natGatewayRule = { properties: { ...rule("stray"), publicIp: ground.second } };
  const post = api.datacentersNatgatewaysRulesPost({ ...at, natGatewayRule });
  await expectRefusal(post, 422, "publicIp");
});
