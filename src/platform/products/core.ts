/** The core API, below /cloudapi/v6. Fields that the code relies on are validated; unknown fields are kept. */
import { z } from "zod";
import { Terminal } from "../answers/errors.ts";
import { plainText } from "../answers/plain-text.ts";
import type { Connection } from "../calls/connection.ts";
import type { CollectionSource } from "../collections/reading.ts";
import { corePageSize, coreUrl } from "./core-url.ts";
import { checked, type ReadOptions, withQuery } from "./paging.ts";
import { findDeletions, requestStatus } from "./requests.ts";
import { resourceCollection } from "./resource-collection.ts";

export { coreUrl } from "./core-url.ts";
export { findDeletions, findRequests, type LoggedRequest, type RequestFilter, requestStatus } from "./requests.ts";

/**
 * A collection of the core API, for example "/datacenters/<id>/servers". `depth` is the platform's parameter: 1 returns items
 * with their properties, 2 also those of their children. A single read at the same depth has the same shape.
 */
export function coreCollection(
  connection: Connection,
  api: string,
  path: string,
  options: { depth: number; keep?: ((item: unknown) => unknown) | undefined },
): CollectionSource {
  return {
    ...resourceCollection(connection, coreUrl(api, path), {
      // Indentation makes an answer half as large again.
      query: { depth: String(options.depth), pretty: "false" },
      isBusy: (state) => state === "BUSY",
      pageSize: corePageSize,
      product: "core",
      keep: options.keep,
    }),
    requestStatus: async (named, signal) => requestStatus(connection, requestUrl(api, named), { signal }),
    async deletions(since, signal) {
      const found = await findDeletions(connection, api, path, since - SKEW_MS, { signal });
      return new Map(found.map(({ requestId, status }) => [requestId, { status, targets: [] }]));
    },
  };
}

/** The tolerated clock skew. With a larger skew, requests are read one by one. */
const SKEW_MS = 300_000;

/**
 * The URL of a request's status at our own endpoint. The given URL comes from a header or a stored status, and must not send
 * credentials to a host that the Account does not name.
 */
function requestUrl(api: string, named: string): string {
  const id = /\/requests\/([\w-]+)\/status\/?$/.exec(named)?.[1];
  const detail = "the URL is not the status of a request";
  if (id === undefined) throw new Terminal({ call: "GET /cloudapi/v6/requests", status: 0, detail });
  return coreUrl(api, `/requests/${id}/status`);
}

export interface Contract {
  readonly contractNumber: number;
  readonly owner: string | undefined;
  readonly status: string | undefined;
  /** Limits by the platform's names, and the usage of some of them. */
  readonly limits: Record<string, number>;
  readonly used: Record<string, number>;
}

/** The names in `resourceLimits` that are no limits but tell how much of one is used. */
const usage = /Provisioned$|^reservedIps/;
/** They are written to the status of an Account; the platform has about thirty. */
const mostLimits = 100;

const contractsShape = z.looseObject({
  items: z.array(
    z.looseObject({
      properties: z.looseObject({
        contractNumber: z.number(),
        owner: z.string().nullish(),
        status: z.string().nullish(),
        resourceLimits: z.record(z.string(), z.unknown()).nullish(),
      }),
    }),
  ),
});

/** The contract that the connection acts on; the first one if neither credentials nor token name one. */
export async function readContract(connection: Connection, api: string, options: ReadOptions = {}): Promise<Contract> {
  const url = withQuery(coreUrl(api, "/contracts"), { depth: "1" });
  const { body } = await connection.send({ method: "GET", url, ...options });
  const contracts = checked(contractsShape, body, url).items.map(({ properties }) => properties);
  const wanted = connection.contractNumber;
  const contract =
    wanted === undefined ? contracts[0] : contracts.find(({ contractNumber }) => contractNumber === wanted);
  if (contract === undefined) {
    const detail = wanted === undefined ? "the token has no contract" : `the token has no access to contract ${wanted}`;
    throw new Terminal({ call: "GET /cloudapi/v6/contracts", status: 200, detail });
  }
  const limits = Object.entries(contract.resourceLimits ?? {})
    .filter((entry): entry is [string, number] => typeof entry[1] === "number" && /^\w{1,64}$/.test(entry[0]))
    .slice(0, mostLimits);
  return {
    contractNumber: contract.contractNumber,
    owner: contract.owner == null ? undefined : plainText(contract.owner, 256),
    status: contract.status == null ? undefined : plainText(contract.status, 64),
    limits: Object.fromEntries(limits.filter(([name]) => !usage.test(name))),
    used: Object.fromEntries(limits.filter(([name]) => usage.test(name))),
  };
}
