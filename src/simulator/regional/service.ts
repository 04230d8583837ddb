import type { Call, Method, Reply, Route } from "../http/exchange.ts";
import { errorCode, missing, refusal, servicePayload } from "../http/refusal.ts";
import type { PrivilegeFlag } from "../identity/privilege-flags.ts";
import { requirePrivilege } from "../identity/privileges.ts";
import type { World } from "../world.ts";

/** A product that the platform gives a host name of its own in each region. */
export interface Service {
  /** Stands for that host name here. */
  path: string;
  /** The slugs of the regions that have it. */
  regions: ReadonlySet<string>;
  /** What its callers need; absent: every user may call. */
  privilege?: PrivilegeFlag;
}

/** The address of a service as the ready line tells it: whoever uses it fills in the region. */
export const serviceEndpoint = (api: string, { path }: Service) => `${api}/${path}/{region}`;

/** The address of something of a service in one region. */
export const serviceHref = (origin: string, { path }: Service, region: string, rest: string) =>
  `${origin}/${path}/${region}/${rest}`;

/** A call to a service in a region that has it, by a user with the right to. */
export interface RegionalCall extends Call {
  region: string;
}

/** What a route of a service does; `prepare` as in a route. */
export interface RegionalHandler {
  handle(call: RegionalCall): Reply;
  prepare?: Route["prepare"];
}

/** A route of a service below its region: 404 for an unknown region, 401 without a bearer token, 403 without the right. */
export function serviceRoute(
  world: World,
  { path: service, regions, privilege }: Service,
  method: Method,
  path: string,
  { handle, prepare }: RegionalHandler,
): Route {
  return {
    method,
    template: `/${service}/{region}${path}`,
    access: "user",
    payload: servicePayload(service),
    ...(prepare !== undefined && { prepare }),
    handle(call) {
      const { region = "" } = call.params;
      if (!regions.has(region)) throw missing();
      if (call.caller.tokenId === null) {
        throw refusal(401, errorCode.unauthorized, "Basic credentials are not taken here: send a bearer token", {
          "WWW-Authenticate": "Bearer",
        });
      }
      if (privilege !== undefined) requirePrivilege(world, call, privilege);
      return handle({ ...call, region });
    },
  };
}
