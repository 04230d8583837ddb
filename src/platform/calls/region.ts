import { PlatformError, Retry } from "../answers/errors.ts";
import { routeOf } from "./route.ts";

/** Products whose address usually has the region in it. */
const REGIONAL: ReadonlySet<string> = new Set(["monitoring", "logging", "streaming"]);

/** The detail for an endpoint that cannot be reached: the same text for every cause. */
export function unreachable({ origin }: URL, product = ""): string {
  const wayOut = REGIONAL.has(product) ? ": check spec.region of the Account, and the network" : "";
  return `the endpoint ${origin} cannot be reached${wayOut}`;
}

/**
 * A regional product has its own collections in every region. 404 there is about the address, and shows nothing about
 * resources. A path with an id is about the resource with this id.
 */
export function refusedBy({ origin, pathname }: URL, product = "", error: PlatformError): PlatformError {
  if (error.status !== 404 || !REGIONAL.has(product) || routeOf(pathname).includes("{id}")) return error;
  const { call, status, requestId, executed } = error;
  const detail = `${origin} does not serve this: check spec.region of the Account`;
  return new Retry({ call, status, requestId, detail, cause: error }, executed);
}

/** Whether the answer to a product's own list shows that its address is wrong: 404, or a host without an address. */
export const isWrongAddress = (error: unknown): boolean =>
  error instanceof PlatformError && (error.status === 404 || isUnresolved(error));

const isUnresolved = (error: unknown): boolean =>
  Object(error).code === "ENOTFOUND" || (Object(error).cause !== undefined && isUnresolved(Object(error).cause));
