import {
  FirewallrulePropertiesProtocolEnum,
  NetworkInterfacesApi,
  SecurityGroupsApi,
  ServersApi,
} from "@ionos-cloud/sdk-nodejs";
import { describe, expect, it } from "vitest";
import { newDatacenter } from "../ground.ts";
import { idOf, sdkForFile } from "../sdk.ts";

const sdk = await sdkForFile();
const groups = new SecurityGroupsApi(sdk.configuration);
const datacenterId = await newDatacenter(sdk);

const tcp = { protocol: FirewallrulePropertiesProtocolEnum.Tcp };

describe("the life of", () => {
  it("a security group", () =>
    sdk.live({
      create: (name) => groups.datacentersSecuritygroupsPost({ datacenterId, securityGroup: { properties: { name } } }),
      find: (securityGroupId) => groups.datacentersSecuritygroupsFindById({ datacenterId, securityGroupId }),
      put: (securityGroupId, name) =>
        groups.datacentersSecuritygroupsPut({
          datacenterId,
          securityGroupId,
          securityGroup: { properties: { name } },
        }),
      patch: (securityGroupId, name) =>
        groups.datacentersSecuritygroupsPatch({ datacenterId, securityGroupId, securityGroup: { name } }),
      remove: (securityGroupId) => groups.datacentersSecuritygroupsDelete({ datacenterId, securityGroupId }),
    }));

  it("a rule of a security group", async () => {
    const securityGroup = { properties: { name: "web" } };
    const group = groups.datacentersSecuritygroupsPost({ datacenterId, securityGroup });
    const at = { datacenterId, securityGroupId: await sdk.made(group) };
    const rule = (name: string) => ({ properties: { name, ...tcp } });
    await sdk.live({
      create: (name) => groups.datacentersSecuritygroupsFirewallrulesPost({ ...at, firewallRule: rule(name) }),
      find: (ruleId) => groups.datacentersSecuritygroupsRulesFindById({ ...at, ruleId }),
      put: (ruleId, name) => groups.datacentersSecuritygroupsRulesPut({ ...at, ruleId, rule: rule(name) }),
      patch: (ruleId, name) => groups.datacentersSecuritygroupsRulesPatch({ ...at, ruleId, rule: { name } }),
      remove: (ruleId) => groups.datacentersSecuritygroupsFirewallrulesDelete({ ...at, ruleId }),
    });
  });
});

it("security groups are assigned to servers and NICs", async () => {
  const server = { properties: { name: "web", cores: 1, ram: 1024 } };
  const serverId = await sdk.made(new ServersApi(sdk.configuration).datacentersServersPost({ datacenterId, server }));
  const nics = new NetworkInterfacesApi(sdk.configuration);
  const nic = { properties: { lan: 1 } };
  const nicId = await sdk.made(nics.datacentersServersNicsPost({ datacenterId, serverId, nic }));
  const securityGroup = {
    properties: { name: "web", description: "all from outside" },
    entities: { rules: { items: [{ properties: tcp }] } },
  };
  const made = await sdk.done(groups.datacentersSecuritygroupsPost({ datacenterId, securityGroup }));
  expect(made.entities?.rules?.items).toMatchObject([{ type: "firewall-rule", properties: tcp }]);
  const securitygroups = { ids: [idOf(made)] };
  await sdk.done(groups.datacentersServersSecuritygroupsPut({ datacenterId, serverId, securitygroups }));
  await sdk.done(groups.datacentersServersNicsSecuritygroupsPut({ datacenterId, serverId, nicId, securitygroups }));
  const at = { datacenterId, securityGroupId: idOf(made), depth: 2 };
  const { entities } = (await groups.datacentersSecuritygroupsFindById(at)).data;
  expect(entities?.servers?.items?.map(idOf)).toEqual([serverId]);
  expect(entities?.nics?.items?.map(idOf)).toEqual([nicId]);
});
