import { z } from "zod";
import type { Content, Elsewhere } from "../contents.ts";
import type { Inputs, Mention, ObjectRef, Reference } from "../desired.ts";
import { exactlyOne, lanId, objectRef, uuid } from "../fields/fields.ts";
import { addressMentions } from "../fields/network/addresses.ts";
import { lanProblem } from "../fields/network/nic-lan.ts";

const ADDRESS = "must be an IPv4 address with its prefix length, for example 192.168.1.101/24";

const brokerAddress = z
  .string()
  .max(18)
  .meta({
    "x-kubernetes-validations": [
      { rule: "isCIDR(self) && cidr(self).ip().family() == 4", message: ADDRESS },
      {
        rule: "!isCIDR(self) || (cidr(self).prefixLength() <= 30 && !(cidr(self) == cidr(self).masked()))",
        message: "must be the address of a broker, for example 192.168.1.101/24, not that of its network",
      },
      {
        rule: "!isCIDR(self) || !cidr('10.224.0.0/11').containsIP(cidr(self).ip())",
        message: "must not be inside 10.224.0.0/11, which the platform uses itself",
      },
    ],
  })
  .describe("Address of a broker in CIDR form.");

export const connection = z
  .object({
    datacenterRef: objectRef("Datacenter")
      .optional()
      .describe("The Datacenter. Exactly one of datacenterRef and datacenterId."),
    datacenterId: uuid().optional().describe("Platform id of the datacenter."),
    lanRef: objectRef("Lan").optional().describe("Lan of the brokers. Exactly one of lanRef and lanId."),
    lanId: lanId().optional().describe("Number of the LAN."),
    brokerAddresses: z
      .array(brokerAddress)
      .min(3)
      .max(3)
      .meta({
        "x-kubernetes-list-type": "atomic",
        "x-kubernetes-validations": [
          {
            rule: "self.all(each, self.exists_one(other, other == each))",
            message: "must be three different addresses",
          },
          {
            rule: "!self.all(each, isCIDR(each)) || self.all(each, cidr(each).masked() == cidr(self[0]).masked())",
            message: "must all be in the same network: the brokers are in one LAN",
          },
        ],
      })
      .describe("Addresses of the three brokers in the LAN, in CIDR form, for example 192.168.1.101/24."),
  })
  .meta({
    "x-kubernetes-validations": [exactlyOne("datacenterRef", "datacenterId"), exactlyOne("lanRef", "lanId")],
  });
type Connection = z.output<typeof connection>;

export function connectionReferences({ datacenterRef, datacenterId, lanRef, lanId }: Connection): Reference[] {
  const one = (role: string, kind: string, ref: ObjectRef | undefined, id: string | undefined): Reference => ({
    role,
    kind,
    field: `connection.${role}Ref`,
    target: id !== undefined ? { id } : (ref ?? { name: "" }),
  });
  return [one("datacenter", "Datacenter", datacenterRef, datacenterId), one("lan", "Lan", lanRef, lanId)];
}

export const connectionMentions = (connection: Connection | undefined): Mention[] =>
  addressMentions(
    connection?.brokerAddresses.map((address) => address.replace(/\/\d+$/, "")),
    "connection.brokerAddresses",
  );

/** The field names in spec, by reference or by id. */
export const connectionFields = ({ datacenterId, lanId }: Partial<Connection> = {}) => ({
  datacenter: `connection.datacenter${datacenterId === undefined ? "Ref" : "Id"}`,
  lan: `connection.lan${lanId === undefined ? "Ref" : "Id"}`,
});

export const connectionProblem = ({ lanRef }: Connection, inputs: Inputs): string | undefined =>
  lanProblem({ lanRef }, "lan", inputs, "cluster", { ref: "connection.lanRef", number: "connection.lanId" });

const clusterList = z.looseObject({
  items: z.array(
    z.looseObject({
      id: z.string(),
      properties: z.looseObject({
        name: z.string().nullish(),
        connections: z
          .array(z.looseObject({ datacenterId: z.string().nullish(), lanId: z.string().nullish() }))
          .nullish(),
      }),
    }),
  ),
});

type Place = { datacenter: string | undefined; lan?: string };

/** Clusters whose brokers are in this place. The platform deletes the place all the same, and they are out of reach. */
const clustersAt = (placeOf: (needed: Parameters<Elsewhere["needing"]>[1]) => Place): Elsewhere => ({
  product: "streaming",
  path: "/clusters",
  needing(answer, needed): Content[] {
    const { datacenter, lan } = placeOf(needed);
    const isThere = (each: { datacenterId?: string | null | undefined; lanId?: string | null | undefined }) =>
      each.datacenterId === datacenter && (lan === undefined || each.lanId === lan);
    return clusterList
      .parse(answer)
      .items.filter(({ properties }) => properties.connections?.some(isThere))
      .map(({ id, properties: { name } }) => ({ id, title: `Kafka cluster ${name ?? id}` }));
  },
});

export const clustersInDatacenter = clustersAt(({ id }) => ({ datacenter: id }));
export const clustersInLan = clustersAt(({ id, parents }) => ({ datacenter: parents.datacenter, lan: id }));
