import type { Call, Method, Reply, Route } from "../http/exchange.ts";
import { errorCode, missing, refusal, servicePayload } from "../http/refusal.ts";
import { requirePrivilege } from "../identity/privileges.ts";
import { type Stamps, shownStamps } from "../store/shown.ts";
import type { PrivilegeFlag } from "../users.ts";
import type { World } from "../world.ts";

/** A product that the platform gives a host name of its own. */
export interface Host {
  /** Stands for that host name here. */
  path: string;
  /** What its callers need; absent: every user may call. */
  privilege?: PrivilegeFlag;
}

/** A product with such a host name in each region. */
export interface Service extends Host {
  /** The slugs of the regions that have it. */
  regions: ReadonlySet<string>;
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

/** A route of a product: 401 without a bearer token, 403 without the right. */
export function hostRoute(
  world: World,
  { path: service, privilege }: Host,
  method: Method,
  path: string,
  { handle, ...rest }: Pick<Route, "handle" | "prepare" | "mostBytes">,
): Route {
  return {
    method,
    template: `/${service}${path}`,
    access: "user",
    payload: servicePayload(service),
    ...rest,
    handle(call) {
      if (call.caller.tokenId === null) {
        throw refusal(401, errorCode.unauthorized, "Basic credentials are not taken here: send a bearer token", {
          "WWW-Authenticate": "Bearer",
        });
      }
      if (privilege !== undefined) requirePrivilege(world, call, privilege);
      return handle(call);
    },
  };
}

/** The same below a region: 404 for an unknown one, before anything else. */
export function serviceRoute(
  world: World,
  service: Service,
  method: Method,
  path: string,
  { handle, prepare }: RegionalHandler,
): Route {
  const { regions } = service;
  const regional = (call: Call) => handle({ ...call, region: call.params.region ?? "" });
  const prepared = prepare === undefined ? {} : { prepare };
  const route = hostRoute(world, service, method, `/{region}${path}`, { handle: regional, ...prepared });
  return {
    ...route,
    handle(call) {
      if (!regions.has(call.params.region ?? "")) throw missing();
      return route.handle(call);
    },
  };
}

export const stampsOf = (world: World, { effects }: Pick<Call, "effects">, stamps: Stamps) =>
  shownStamps(world, effects.skew, stamps);

export const urnOf = ({ contractNumber }: World, { path }: Host, type: string, id: string) =>
  `urn:ionos:${path}:${contractNumber}::${type}/${id}`;
