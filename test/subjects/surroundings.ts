import { GROUP, kinds, VERSION } from "../../src/kinds/index.ts";
import { usesAccount } from "../../src/kinds/kind.ts";

/** Names and ids on the platform that a life needs, its neighbours included. */
export interface Ground {
  /** The address of the platform as the operator reaches it. */
  api: string;
  /** The same as workloads reach it, where the operator's calls are watched and theirs must not be. Default: `api`. */
  direct?: string;
  /** Which of several equal lives this is: what they cannot share is named by it. */
  nth: number;
  /** The namespace that a ClusterAccount is for, and is named by; absent where it has an Account of its own. */
  tenant?: string;
}

export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; annotations?: Record<string, string> };
  spec: object;
}

/** The Secret with the platform's token; it is there before everything else. */
export const CREDENTIALS = "token";
/** The same with the name and password of a user, for Accounts whose tokens Mooring makes. */
export const LOGIN = "login";

export const manifest = (
  kind: string,
  name: string,
  spec: object,
  annotations: Record<string, string> = {},
): Manifest => ({
  apiVersion: `${GROUP}/${VERSION}`,
  kind,
  metadata: { name, annotations },
  spec,
});

/** All products are reached on the same way. */
export const accountSpec = ({ api }: Ground) => ({
  endpoints: {
    api,
    monitoring: `${api}/monitoring/{region}`,
    logging: `${api}/logging/{region}`,
    streaming: `${api}/streaming/{region}`,
    inference: `${api}/inference`,
  },
  region: "de/txl",
  credentialsSecretRef: { name: CREDENTIALS },
});
/** For one namespace and all kinds, also those that have to be named. */
export const clusterAccountSpec = (ground: Ground) => ({
  ...accountSpec(ground),
  namespaces: { selector: { matchLabels: { "kubernetes.io/metadata.name": ground.tenant ?? "" } } },
  kinds: kinds.filter(usesAccount).map(({ kind }) => kind),
  default: true,
});
export const account = (ground: Ground) =>
  ground.tenant === undefined
    ? manifest("Account", "main", accountSpec(ground))
    : manifest("ClusterAccount", ground.tenant, clusterAccountSpec(ground));

export const inDatacenter = { datacenterRef: { name: "dc" } };
export const home = manifest("Datacenter", "dc", { location: "de/txl" });
/** For what moves. */
export const elsewhere = manifest("Datacenter", "other", { location: "de/txl" });
export const moved = { spec: { datacenterRef: { name: "other" } }, shows: {} };

export const image = { imageAlias: "ubuntu:latest" };
export const bootVolume = { size: 10, type: "SSD Standard", ...image };

const hostName = (nth: number) => `host-${nth}`;
export const hostRef = (nth: number) => ({ serverRef: { name: hostName(nth) } });
/** A server for others to hang on, with one NIC that is called `watched`. */
export const host = (nth: number) =>
  manifest("Server", hostName(nth), {
    ...inDatacenter,
    cores: 1,
    ram: 1024,
    bootVolume,
    nics: [{ name: "watched", lan: 1 }],
  });

/** The tag of what an ActivityLogExport sends to a log pipeline; nobody else uses it. */
export const EXPORTED = "exported";

export const brokerLan = manifest("Lan", "brokers", inDatacenter);
export const inStream = { clusterRef: { name: "stream" } };

/** Paths of the platform. */
export const core = "/cloudapi/v6";
export const inPlace =
  (collection: string) =>
  ({ datacenter }: { datacenter: string }) =>
    `${core}/datacenters/${datacenter}/${collection}`;
export const clusters = "/streaming/de-txl/clusters";
