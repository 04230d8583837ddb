import { describe, expect, it } from "vitest";
import { alb, dc, labelled, nat, nic, nlb, oneOfEverything, pool, srv } from "../one-of-everything.ts";
import { platformForFile, refusal } from "../platform.ts";

/** A collection and its items. */
const both = (collection: string, param: string, type: string): [string, object][] => [
  [collection, { type: "collection", items: expect.any(Array) }],
  [`${collection}/{${param}}`, { type }],
];
const collection = (path: string): [string, object][] => [[path, { type: "collection", items: expect.any(Array) }]];

/** Every path of the core API that answers GET, with its answer. */
const paths: [string, object][] = [
  ["/", { name: expect.any(String), version: expect.any(String), href: expect.any(String) }],
  ...both("/datacenters", "datacenter", "datacenter"),
  ...both(`${dc}/servers`, "server", "server"),
  [`${srv}/remoteconsole`, { url: expect.any(String) }],
  [`${srv}/token`, { token: expect.any(String) }],
  ...both(`${srv}/volumes`, "volume", "volume"),
  ...both(`${srv}/cdroms`, "cdrom", "image"),
  ...both(`${srv}/gpus`, "gpu", "gpu"),
  ...both(`${srv}/nics`, "nic", "nic"),
  ...both(`${nic}/firewallrules`, "firewallRule", "firewall-rule"),
  ...both(`${nic}/flowlogs`, "nicFlowLog", "flow-log"),
  ...both(`${dc}/volumes`, "volume", "volume"),
  ...both(`${dc}/lans`, "lan", "lan"),
  ...both(`${dc}/lans/{lan}/nics`, "nic", "nic"),
  ...both(`${dc}/loadbalancers`, "loadBalancer", "loadbalancer"),
  ...both(`${dc}/loadbalancers/{loadBalancer}/balancednics`, "nic", "nic"),
  ...both(`${dc}/networkloadbalancers`, "nlb", "networkloadbalancer"),
  ...both(`${nlb}/forwardingrules`, "nlbRule", "forwarding-rule"),
  ...both(`${nlb}/flowlogs`, "nlbFlowLog", "flow-log"),
  ...both(`${dc}/applicationloadbalancers`, "alb", "applicationloadbalancer"),
  ...both(`${alb}/forwardingrules`, "albRule", "forwarding-rule"),
  ...both(`${alb}/flowlogs`, "albFlowLog", "flow-log"),
  ...both(`${dc}/natgateways`, "nat", "natgateway"),
  ...both(`${nat}/rules`, "natRule", "natgateway-rule"),
  ...both(`${nat}/flowlogs`, "natFlowLog", "flow-log"),
  ...both(`${dc}/securitygroups`, "securityGroup", "security-group"),
  ...both(`${dc}/securitygroups/{securityGroup}/rules`, "securityRule", "firewall-rule"),
  ...both("/ipblocks", "ipblock", "ipblock"),
  ...both("/snapshots", "snapshot", "snapshot"),
  ...both("/images", "image", "image"),
  ...both("/templates", "template", "template"),
  ...collection("/locations"),
  ...both("/locations/{region}", "site", "location"),
  ...both("/targetgroups", "targetGroup", "target-group"),
  ...both("/pccs", "pcc", "pcc"),
  ...both("/labels", "labelUrn", "label"),
  ...labelled.flatMap((path) => both(`${path}/labels`, "label", "label")),
  ...collection("/contracts"),
  ...both("/requests", "request", "request"),
  ["/requests/{request}/status", { type: "request-status" }],
  ...both("/backupunits", "backupUnit", "backupunit"),
  ["/backupunits/{backupUnit}/ssourl", { ssoUrl: expect.any(String) }],
  ...both("/k8s", "cluster", "k8s"),
  ["/k8s/versions", expect.arrayContaining([expect.any(String)])],
  ["/k8s/versions/default", expect.any(String)],
  ["/k8s/{cluster}/kubeconfig", { kind: "Config" }],
  ...both("/k8s/{cluster}/nodepools", "pool", "nodepool"),
  ...both(`${pool}/nodes`, "node", "node"),
  ...both("/um/users", "user", "user"),
  ...collection("/um/users/{user}/groups"),
  ...collection("/um/users/{user}/owns"),
  ["/um/users/{user}/s3ssourl", { ssoUrl: expect.any(String) }],
  ...both("/um/users/{user}/s3keys", "s3Key", "s3key"),
  ...both("/um/groups", "group", "group"),
  ...collection("/um/groups/{group}/users"),
  ...both("/um/groups/{group}/shares", "datacenter", "resource"),
  ...collection("/um/groups/{group}/resources"),
  ...collection("/um/resources"),
  ...collection("/um/resources/{resourceType}"),
  ["/um/resources/{resourceType}/{datacenter}", { type: "datacenter" }],
];

/** Only servers of type GPU have GPUs, and the platform does not offer that type here. */
const neverThere = `${srv}/gpus/{gpu}`;

const platform = await platformForFile();
const at = await oneOfEverything(platform);

it("the core API has 112 paths to read", () => {
  expect(new Set(paths.map(([path]) => path)).size).toBe(112);
  expect(paths).toHaveLength(112);
});

describe("with one of everything", () => {
  it.each(paths.filter(([path]) => path !== neverThere))("%s answers", async (path, body) => {
    expect(await platform.core("GET", at(path))).toMatchObject({ status: 200, body });
  });

  it.each(paths.filter(([path]) => path !== "/"))("%s asks for credentials", async (path) => {
    refusal(await platform.core("GET", at(path), undefined, { authorization: null }), 401, "315");
  });

  it.each(paths.filter(([path]) => path.includes("{")))("%s does not know an unknown id", async (path) => {
    const unknown = path.slice(0, path.lastIndexOf("{")) + path.slice(path.lastIndexOf("{")).replace(/\{\w+\}/, "x-0");
    refusal(await platform.core("GET", at(unknown)), 404, "309");
  });
});
