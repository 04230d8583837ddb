import { z } from "zod";
import { coreRows } from "./core.ts";
import { list as listed, type Row } from "./row.ts";

const { list, get, plain } = coreRows("compute");
const DC = "/datacenters/{datacenter_id}";
const SRV = `${DC}/servers/{server_id}`;
const NIC = `${SRV}/nics/{nic_id}`;
const NLB = `${DC}/networkloadbalancers`;
const ALB = `${DC}/applicationloadbalancers`;

export const compute: readonly Row[] = [
  list(
    "list_datacenters",
    "/datacenters",
    "Start here for anything in compute: all virtual datacenters with location and state. Most other tools need a datacenter_id from it.",
  ),
  get(
    "get_datacenter",
    DC,
    "One datacenter. With depth 3 its servers, volumes and LANs in one answer; for a large one use list_servers instead.",
  ),
  list(
    "list_servers",
    `${DC}/servers`,
    "Servers of a datacenter with cores, RAM, type and power state (vmState). Then get_server, list_server_volumes or list_nics.",
  ),
  get("get_server", SRV, "One server. With depth 3 its volumes and NICs with addresses too."),
  list(
    "list_server_volumes",
    `${SRV}/volumes`,
    "Volumes attached to a server. For all volumes of the datacenter use list_volumes.",
  ),
  list("list_server_cdroms", `${SRV}/cdroms`, "CD-ROM images attached to a server."),
  list("list_server_gpus", `${SRV}/gpus`, "GPUs of a server; empty for servers without any."),
  get("get_server_gpu", `${SRV}/gpus/{gpu_id}`, "One GPU of a server: vendor, model and state."),
  plain(
    "get_server_remote_console",
    `${SRV}/remoteconsole`,
    "Tells whether a server has a remote console, and where. The access token is removed from the address: open the console in the platform's own web interface.",
    z.looseObject({ url: z.string() }),
  ),
  list(
    "list_volumes",
    `${DC}/volumes`,
    "Volumes of a datacenter with size, type and the server they boot (bootServer). One without a server may be unused.",
  ),
  get("get_volume", `${DC}/volumes/{volume_id}`, "One volume: size, type, image, bus and where it is attached."),
  list(
    "list_nics",
    `${SRV}/nics`,
    "NICs of a server with MAC, addresses, LAN and firewall switch. Then list_firewall_rules.",
  ),
  get("get_nic", NIC, "One NIC. With depth 2 its firewall rules and flow log."),
  list(
    "list_lans",
    `${DC}/lans`,
    "LANs of a datacenter: number, name, public or private, IPv6 block. Then list_lan_nics.",
  ),
  get("get_lan", `${DC}/lans/{lan_id}`, "One LAN by its number in the datacenter."),
  list(
    "list_lan_nics",
    `${DC}/lans/{lan_id}/nics`,
    "NICs in a LAN: use it to see who shares a network, or why a LAN cannot be deleted.",
  ),
  list(
    "list_firewall_rules",
    `${NIC}/firewallrules`,
    "Firewall rules of a NIC. They count only while firewallActive of the NIC is true (get_nic).",
  ),
  get(
    "get_firewall_rule",
    `${NIC}/firewallrules/{firewallrule_id}`,
    "One firewall rule: protocol, ports, addresses and direction.",
  ),
  list(
    "list_ip_blocks",
    "/ipblocks",
    "Reserved public addresses of the contract with location and users (ipConsumers). One without users costs money for nothing.",
  ),
  get("get_ip_block", "/ipblocks/{ipblock_id}", "One IP block: its addresses and the NICs or gateways that use them."),
  list(
    "list_loadbalancers",
    `${DC}/loadbalancers`,
    "Classic load balancers of a datacenter. Newer ones: list_network_loadbalancers, list_application_loadbalancers.",
  ),
  get(
    "get_loadbalancer",
    `${DC}/loadbalancers/{loadbalancer_id}`,
    "One classic load balancer. Then list_loadbalancer_nics.",
  ),
  list(
    "list_loadbalancer_nics",
    `${DC}/loadbalancers/{loadbalancer_id}/balancednics`,
    "NICs behind a classic load balancer.",
  ),
  list(
    "list_network_loadbalancers",
    NLB,
    "Network (TCP) load balancers of a datacenter. Then list_nlb_forwarding_rules.",
  ),
  get(
    "get_network_loadbalancer",
    `${NLB}/{network_loadbalancer_id}`,
    "One network load balancer: listener and target LANs, addresses.",
  ),
  list(
    "list_nlb_forwarding_rules",
    `${NLB}/{network_loadbalancer_id}/forwardingrules`,
    "Forwarding rules of a network load balancer: listener, algorithm, targets and health checks.",
  ),
  list(
    "list_application_loadbalancers",
    ALB,
    "Application (HTTP) load balancers of a datacenter. Then list_alb_forwarding_rules.",
  ),
  get(
    "get_application_loadbalancer",
    `${ALB}/{application_loadbalancer_id}`,
    "One application load balancer: listener and target LANs, addresses.",
  ),
  list(
    "list_alb_forwarding_rules",
    `${ALB}/{application_loadbalancer_id}/forwardingrules`,
    "Forwarding rules of an application load balancer: listener, certificates and HTTP rules. Their targets: get_target_group.",
  ),
  list(
    "list_nat_gateways",
    `${DC}/natgateways`,
    "NAT gateways of a datacenter: public addresses and LANs. Then list_nat_gateway_rules.",
  ),
  get("get_nat_gateway", `${DC}/natgateways/{nat_gateway_id}`, "One NAT gateway."),
  list(
    "list_nat_gateway_rules",
    `${DC}/natgateways/{nat_gateway_id}/rules`,
    "SNAT rules of a NAT gateway: which subnet leaves by which address.",
  ),
  list(
    "list_security_groups",
    `${DC}/securitygroups`,
    "Security groups of a datacenter. Then list_security_group_rules.",
  ),
  get(
    "get_security_group",
    `${DC}/securitygroups/{security_group_id}`,
    "One security group. With depth 2 its rules and members.",
  ),
  list("list_security_group_rules", `${DC}/securitygroups/{security_group_id}/rules`, "Rules of a security group."),
  get(
    "get_security_group_rule",
    `${DC}/securitygroups/{security_group_id}/rules/{rule_id}`,
    "One rule of a security group.",
  ),
  list(
    "list_target_groups",
    "/targetgroups",
    "Target groups of the contract: where application load balancers and ScalingGroups send traffic.",
  ),
  get("get_target_group", "/targetgroups/{target_group_id}", "One target group: targets, algorithm and health checks."),
  list("list_private_cross_connects", "/pccs", "Private cross connects, which join LANs of several datacenters."),
  get(
    "get_private_cross_connect",
    "/pccs/{pcc_id}",
    "One cross connect with its LANs (peers) and datacenters that could join.",
  ),
  list("list_snapshots", "/snapshots", "Snapshots of the contract with size, location and age."),
  get("get_snapshot", "/snapshots/{snapshot_id}", "One snapshot."),
  list(
    "list_images",
    "/images",
    "Images to start volumes from, public ones and your own. Large: set filters, for example {imageAliases: ubuntu} or {location: de/fra}.",
  ),
  list("list_templates", "/templates", "Templates of Cube servers: cores, RAM and storage of each size."),
  get("get_template", "/templates/{template_id}", "One template of Cube servers."),
  list(
    "list_locations",
    "/locations",
    "Locations with their CPU families and image aliases. Use it to check what a new datacenter or server can have.",
  ),
  get(
    "get_contract",
    "/contracts",
    "Contracts of the token with resource limits and what is used of them. Use it when something fails for a quota.",
    { depth: 1, result: listed },
  ),
  list(
    "list_requests",
    "/requests",
    "Writes that the platform was asked for, newest first: method, URL, body and user. Set filters such as {method: DELETE} or {requestStatus: FAILED}. Then get_request_status.",
  ),
  get("get_request", "/requests/{request_id}", "One request: what was asked for and by whom."),
  get(
    "get_request_status",
    "/requests/{request_id}/status",
    "Whether a request is done, and why it failed. Use it with the id in status.request of an object.",
  ),
];
