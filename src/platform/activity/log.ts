/** The activity log, below /activitylog/v1: who changed what in a contract. */
import { z } from "zod";
import { withoutTrailing } from "../../runtime/text.ts";
import { NotFound, Terminal } from "../answers/errors.ts";
import { exceedsLimit } from "../answers/limits.ts";
import { corePath, coreUrl } from "../products/core-url.ts";
import { checked, type ReadOptions, withQuery } from "../products/paging.ts";

const words = z.string().nullish();
const sourceShape = z.looseObject({
  time: words,
  user: words,
  action: words,
  resource: words,
  meta: z.looseObject({ time: words, requestId: words }).nullish(),
  principal: z.looseObject({ identity: z.looseObject({ username: words }).nullish() }).nullish(),
  event: z
    .looseObject({
      type: words,
      status: words,
      message: words,
      param: z.looseObject({ action: words, uri: words }).nullish(),
      resources: z.array(z.looseObject({ type: words, id: words, action: z.array(z.string()).nullish() })).nullish(),
    })
    .nullish(),
});
const pageShape = z.looseObject({
  hits: z.looseObject({ total: z.int().min(0).nullish(), hits: z.array(z.looseObject({ _source: sourceShape })) }),
});
const contractsShape = z.array(z.looseObject({ id: z.int() }));
const coreContractsShape = z.looseObject({
  items: z.array(z.looseObject({ properties: z.looseObject({ contractNumber: z.int().optional() }).optional() })),
});

/** An entry as the platform writes it, in either of two forms. Each form lacks some fields of the other. */
export type ActivitySource = z.output<typeof sourceShape>;

/** Whole days in UTC, both included; without an end, up to now. */
export interface Days {
  start: string;
  end?: string;
}

export const activityPageSize = 1_000;
const FEWEST = 50;

/** The part of a connection that reading the log needs. */
export interface Getter {
  readonly contractNumber: number | undefined;
  send(call: { method: "GET"; url: string; product: string } & ReadOptions): Promise<{ body: unknown; bytes?: number }>;
}

const activityUrl = (api: string, path: string) =>
  `${withoutTrailing(api, "/").replace(new RegExp(`${corePath}$`), "")}/activitylog/v1${path}`;

/** Some platforms do not list contracts. */
function unlessMissing(error: unknown): undefined {
  if (!(error instanceof NotFound)) throw error;
}

async function coreContract(connection: Getter, api: string, options: ReadOptions): Promise<number | undefined> {
  const url = withQuery(coreUrl(api, "/contracts"), { depth: "1" });
  const { body } = await connection.send({ method: "GET", url, product: "core", ...options });
  return checked(coreContractsShape, body, url).items[0]?.properties?.contractNumber;
}

/** The contract whose log is read: the contract of the credentials, else the first that the platform lists. */
export async function activityContract(connection: Getter, api: string, options: ReadOptions): Promise<number> {
  const url = activityUrl(api, "/contracts");
  const named = await connection
    .send({ method: "GET", url, product: "activitylog", ...options })
    .then(({ body }) => checked(contractsShape, body, url)[0]?.id)
    .catch(unlessMissing);
  const contract = connection.contractNumber ?? named ?? (await coreContract(connection, api, options));
  if (contract !== undefined) return contract;
  throw new Terminal({ call: "GET /activitylog/v1/contracts", status: 200, detail: "the token has no contract" });
}

/** A period in milliseconds since the epoch; the end is exclusive. */
export interface Period {
  from: number;
  to: number;
}

/** A page of the entries of a period. */
export interface ActivityPage {
  sources: ActivitySource[];
  /** The number of entries in the whole period, if the platform reports it. */
  total: number | undefined;
  /** The memory that the page takes, if known. */
  bytes?: number | undefined;
}

/** One page of entries from an offset; smaller if the page would be too large; empty after the last entry. */
export async function activityPage(
  connection: Pick<Getter, "send">,
  api: string,
  page: { contract: number; time: Days | Period; offset: number; limit?: number },
  options: ReadOptions,
): Promise<ActivityPage> {
  const { contract, time, offset, limit = activityPageSize } = page;
  const url = withQuery(activityUrl(api, `/contracts/${contract}`), {
    ...("from" in time ? { dateStart: momentOf(time.from), dateEnd: momentOf(time.to) } : datesOf(time)),
    offset: String(offset),
    limit: String(limit),
  });
  const sending = connection.send({ method: "GET", url, product: "activitylog", ...options });
  const reply = await sending.catch((error: unknown) => {
    if (!exceedsLimit(error) || limit <= FEWEST) throw error;
  });
  if (!reply)
    return activityPage(connection, api, { ...page, limit: Math.max(FEWEST, Math.floor(limit / 4)) }, options);
  const { body, bytes } = reply;
  const { total, hits } = checked(pageShape, body, url).hits;
  return { sources: hits.map(({ _source }) => _source), total: total ?? undefined, bytes };
}

const momentOf = (at: number): string => new Date(at).toISOString();
const datesOf = ({ start, end }: Days) => ({ startDate: start, ...(end !== undefined && { endDate: end }) });
