import type { Fact } from "../fact.ts";

const resources = "test/simulator/flow-logs/flow-log-resources.test.ts";
const objects = "test/simulator/flow-logs/flow-log-objects.test.ts";
const kind = "test/kinds/network/flow-log.test.ts";
const command = "test/cli/flowlogs/command.test.ts";

/** Flow logs. */
export const flowLogs: readonly Fact[] = [
  [232, "of NICs", resources, "is asynchronous like everything else and shows below its NIC"],
  [233, "of network load balancers", resources, "%s have one flow log each, too", "networkloadbalancers"],
  [234, "of application load balancers", resources, "%s have one flow log each, too", "applicationloadbalancers"],
  [235, "of NAT gateways", resources, "%s have one flow log each, too", "natgateways"],
  [236, "three actions", kind, "%s and %s are %s and %s to the platform", "Accepted", "Rejected", "Any"],
  [237, "three directions", kind, "%s and %s are %s and %s to the", "Ingress", "Egress", "Bidirectional"],
  [238, "IPv4 and IPv6", objects, "tell of IPv6 too when the NIC has it"],
  [239, "gzip text in a bucket", objects, "are written before their time when steering asks"],
  [240, "every ten minutes", objects, "come every ten minutes, named by flow log and begin of the interval"],
  [241, "never changed", resources, "%s on a flow log is refused and names the way out"],
  [242, "one for each resource", resources, "is refused a second time on the same NIC, naming the first"],
  [243, "made again instead", resources, "is refused a second time on the same NIC, naming the first, until that is"],
  [244, "14 fields", "test/cli/flowlogs/records.test.ts", "is read as it was written, however it is spaced and cut"],
  [245, "ACCEPT or REJECT by the firewall", objects, "follow the rules of its firewall"],
  [246, "OK or SKIPDATA", objects, "say now and then that some were skipped"],
  [
    247,
    "fetched with access keys",
    command,
    "prints the records of all objects in the order of their keys, with signed",
  ],
];
