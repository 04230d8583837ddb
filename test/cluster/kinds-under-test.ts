import { datacenter, server } from "./objects.ts";

/** What the contract of policies needs to know of a kind to hold it to its promises. */
export interface Subject {
  kind: string;
  /** A manifest of the kind; `spec` is merged into a valid one. */
  manifest(name: string, spec?: object): object;
  /** Its collection in the simulator's state. */
  collection: string;
  /** Where the platform has it, given the id of the datacenter that exists already. */
  path(datacenterId: string): string;
  /** A body that creates one behind Mooring's back. */
  body(name: string): object;
  /** The parts of spec that name its place and nothing else. */
  identity: object;
  /** A change that the platform can make, and one that it cannot. */
  change: object;
  fixedChange: object;
  holdsData: boolean;
}

export const subjects: Subject[] = [
  {
    kind: "datacenter",
    manifest: datacenter,
    collection: "datacenters",
    path: () => "/cloudapi/v6/datacenters",
    body: (name) => ({ properties: { name, location: "de/txl" } }),
    identity: {},
    change: { description: "changed" },
    fixedChange: { location: "de/fra" },
    holdsData: false,
  },
  {
    kind: "server",
    manifest: server,
    collection: "servers",
    path: (datacenterId) => `/cloudapi/v6/datacenters/${datacenterId}/servers`,
    body: (name) => ({
      properties: { name, cores: 2, ram: 2048 },
      entities: {
        volumes: {
          items: [{ properties: { name: "os", size: 10, type: "SSD Standard", imageAlias: "ubuntu:latest" } }],
        },
        nics: { items: [{ properties: { name: "public", lan: 1, dhcp: true, firewallActive: false } }] },
      },
    }),
    identity: { datacenterRef: { name: "dc" } },
    change: { cores: 4 },
    fixedChange: { availabilityZone: "ZONE_1" },
    holdsData: true,
  },
];
