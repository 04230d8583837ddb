import type { Call, Method, Route } from "../http/exchange.ts";
import { errorCode, missing, refusal, servicePayload } from "../http/refusal.ts";
import { requirePrivilege } from "../identity/privileges.ts";
import { type Stamps, shownStamps } from "../store/shown.ts";
import type { PrivilegeFlag } from "../users.ts";
import type { World } from "../world.ts";

/** A service that has a host name of its own on the platform. */
export interface Host {
  /** The path that replaces the host name here. */
  path: string;
  /** The privilege that callers need; absent: every user may call. */
  privilege?: PrivilegeFlag;
  /** The slugs of the regions that have it, each with its own host name; paths then begin with `{region}`. */
  regions?: ReadonlySet<string>;
}

/** The address of a service in the ready line; clients replace `{region}`. */
export const endpointOf = (api: string, { path, regions }: Host) =>
  `${api}/${path}${regions === undefined ? "" : "/{region}"}`;

/** A route of a service: 404 for an unknown region, 401 without a bearer token, 403 without the privilege. */
export function hostRoute(
  world: World,
  { path: service, privilege, regions }: Host,
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
      if (regions !== undefined && !regions.has(call.params.region ?? "")) throw missing();
      if (call.caller.tokenId === null) {
        throw refusal(401, errorCode.unauthorized, "Basic credentials are not accepted here: send a bearer token", {
          "WWW-Authenticate": "Bearer",
        });
      }
      if (privilege !== undefined) requirePrivilege(world, call, privilege);
      return handle(call);
    },
  };
}

export const stampsOf = (world: World, { effects }: Pick<Call, "effects">, stamps: Stamps) =>
  shownStamps(world, effects.skew, stamps);

export const urnOf = ({ contractNumber }: World, { path }: Host, type: string, id: string) =>
  `urn:ionos:${path}:${contractNumber}::${type}/${id}`;
