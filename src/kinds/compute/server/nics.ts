import { z } from "zod";
import type { Inputs, Mention, Reference } from "../../desired.ts";
import { address, line, list } from "../../fields/fields.ts";
import { addressMentions, ipv6Address, ipv6Block, oneSpelling } from "../../fields/network/addresses.ts";
import { firewallFields, ruleProperties } from "../../fields/network/firewall.ts";
import { lanFields, lanMentions, lanNumber, lanProblem, lanReferences, lanRule } from "../../fields/network/nic-lan.ts";
import { blockReference, reserved, reservedAddress, reservedProblem } from "../../fields/network/reserved.ts";
import { joined, validations } from "../../fields/rules.ts";

const insideBlock = {
  rule: "!has(self.ipv6Ips) || !has(self.ipv6CidrBlock) || !isCIDR(self.ipv6CidrBlock) || self.ipv6Ips.all(each, !isIP(each) || cidr(self.ipv6CidrBlock).containsIP(each))",
  message: "ipv6Ips must lie in ipv6CidrBlock",
};

export const nic = z
  .object({
    name: line(255).describe("Name of the NIC, unique within the server."),
    ...lanFields,
    dhcp: z.boolean().optional().describe("DHCP is used if true. Default: true; on an adopted Server, left unchanged."),
    ips: list(address().describe("IPv4 address; public ones must be in an IPBlock of the contract."), {
      max: 64,
      unique: "itself",
    })
      .optional()
      .describe("Fixed addresses. Default: chosen by the platform."),
    ipsFrom: list(reserved, { max: 32 })
      .optional()
      .describe("Fixed addresses from IPBlocks, in addition to ips. They are kept when the server is replaced."),
    dhcpv6: z
      .boolean()
      .optional()
      .describe("Whether IPv6 addresses are given by DHCP. If unset, left unchanged; the platform's default is true."),
    ipv6CidrBlock: ipv6Block(80, [], "2001:db8:0:1:1::")
      .optional()
      .describe("IPv6 block of the NIC, a /80 of its LAN's block. Default: chosen by the platform."),
    ipv6Ips: list(ipv6Address().describe("An IPv6 address in the NIC's block."), { max: 50, unique: "itself" })
      .optional()
      .describe("Fixed IPv6 addresses; the LAN needs an IPv6 block. Default: given by the platform."),
    ...firewallFields,
  })
  .meta(validations(joined(lanRule, insideBlock)));
export type Nic = z.output<typeof nic>;

const lanRole = ({ name }: Nic) => `nics[${name}].lanRef`;
const blockRole = ({ name }: Nic, index: number) => `nics[${name}].ipsFrom[${index}]`;

export function nicReferences(nics: readonly Nic[] = []): Reference[] {
  return nics.flatMap((nic) => [
    ...lanReferences(nic, lanRole(nic)),
    ...(nic.ipsFrom ?? []).map(({ ipBlockRef }, index) => blockReference(ipBlockRef, blockRole(nic, index))),
  ]);
}

export const nicMentions = (nics: readonly Nic[] = []): Mention[] =>
  nics.flatMap((nic) => [
    ...lanMentions(nic, `nics[${nic.name}].lan`),
    ...addressMentions(nic.ips, `nics[${nic.name}].ips`),
  ]);

/** The addresses that a NIC takes from IPBlocks; without those that are not known yet. */
const reservations = (nic: Nic, inputs: Pick<Inputs, "refs">): string[] =>
  (nic.ipsFrom ?? []).flatMap((each, at) => reservedAddress(each, blockRole(nic, at), inputs) ?? []);

const defaults = { dhcp: true, firewallActive: false };

/**
 * A NIC as the platform expects it. Without addresses, the platform chooses them. On a Server that Mooring did not
 * create, fields that spec leaves out stay as they are.
 */
export function wantedNic(nic: Nic, inputs: Pick<Inputs, "refs" | "adopted" | "observed">) {
  return nicProperties(inputs.adopted || inputs.observed ? nic : { ...defaults, ...nic }, inputs);
}

function nicProperties(nic: Nic, inputs: Pick<Inputs, "refs">) {
  const ips = [...(nic.ips ?? []), ...reservations(nic, inputs)];
  return {
    name: nic.name,
    lan: lanNumber(nic, lanRole(nic), inputs),
    dhcp: nic.dhcp,
    ips: ips.length > 0 ? ips : undefined,
    dhcpv6: nic.dhcpv6,
    ipv6CidrBlock: oneSpelling(nic.ipv6CidrBlock),
    ipv6Ips: nic.ipv6Ips?.length ? nic.ipv6Ips.map(oneSpelling) : undefined,
    firewallActive: nic.firewallActive,
    firewallType: nic.firewallType,
  };
}

/** The body that creates a NIC, alone or together with its server. */
export const nicBody = (nic: Nic, inputs: Pick<Inputs, "refs">) => ({
  properties: nicProperties({ ...defaults, ...nic }, inputs),
  ...(nic.firewallRules?.length && {
    entities: { firewallrules: { items: nic.firewallRules.map((rule) => ({ properties: ruleProperties(rule) })) } },
  }),
});

/** A conflict between the NICs and the LANs and IPBlocks that they refer to. */
export function nicProblem(nics: readonly Nic[] = [], inputs: Inputs): string | undefined {
  for (const nic of nics) {
    const problem =
      lanProblem(nic, lanRole(nic), inputs, "server") ?? ipv6Problem(nic, inputs) ?? blockProblem(nic, inputs);
    if (problem !== undefined) return problem;
  }
  return duplicateProblem(nics, inputs);
}

const shownLan = z.object({
  id: z.string(),
  public: z.boolean().optional(),
  ipv6CidrBlock: z.string().optional(),
});

function ipv6Problem({ lanRef, ...nic }: Nic, { refs }: Inputs): string | undefined {
  const field = lanRole(nic);
  const lan = shownLan.safeParse(refs[field]?.status).data;
  if (!lanRef || !lan || lan.ipv6CidrBlock !== undefined) return undefined;
  if (nic.ipv6CidrBlock === undefined && !nic.ipv6Ips?.length) return undefined;
  return `${field}: Lan ${lanRef.name} has no IPv6 block: set spec.ipv6 of the Lan, for example to AUTO`;
}

/** Advice about public addresses from DHCP, which are not reserved. Those of an adopted server may be. */
export const addressAdvice = (nics: readonly Nic[], { refs, adopted }: Inputs): string[] =>
  (adopted ? [] : nics)
    .filter(({ dhcp = true, ips = [], ipsFrom = [] }) => dhcp && ips.length + ipsFrom.length === 0)
    .filter((nic) => shownLan.safeParse(refs[lanRole(nic)]?.status).data?.public)
    .map(
      ({ name, lanRef }) =>
        `nics[${name}].dhcp: the address in the public Lan ${lanRef?.name} is not reserved and changes when the server is replaced: to keep it, set ipsFrom to an IPBlock`,
    );

function blockProblem(nic: Nic, inputs: Inputs): string | undefined {
  for (const [at, each] of (nic.ipsFrom ?? []).entries()) {
    const problem = reservedProblem(each, blockRole(nic, at), inputs);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** An address of an IP block may be used once; any other address once per LAN. */
function duplicateProblem(nics: readonly Nic[], inputs: Inputs): string | undefined {
  const seen = new Map<string, string>();
  const blocks = new Set(nics.flatMap((nic) => reservations(nic, inputs)));
  for (const nic of nics) {
    const { lan, ips = [] } = nicProperties(nic, inputs);
    for (const ip of ips) {
      const place = blocks.has(ip) ? ip : `${ip} in ${lan}`;
      const other = seen.get(place);
      if (other !== undefined) return `nics[${nic.name}]: address ${ip} is already used by nics[${other}]`;
      seen.set(place, nic.name);
    }
  }
  return undefined;
}
