import type { IncomingHttpHeaders } from "node:http";
import type { User } from "../users.ts";
import type { Effects } from "./effects.ts";
import type { Refusal } from "./refusal.ts";

/** Which form of the interface is served, where the platform's description and its public interface differ. */
export const interfaces = ["both", "described", "public"] as const;
export type Interface = (typeof interfaces)[number];

/** The forms that are served. */
export interface Forms {
  readonly described: boolean;
  readonly public: boolean;
}

export const formsOf = (served: Interface): Forms => ({
  described: served !== "public",
  public: served !== "described",
});

export const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;
export type Method = (typeof methods)[number];

/** The caller: the user, the contract and, with a bearer token, the id of the token. */
export interface Caller {
  contractNumber: number;
  user: User;
  tokenId: string | null;
}

/** One call as a handler sees it: matched, authenticated, its body read. */
export interface Call {
  method: Method;
  /** The path as sent, without query. */
  path: string;
  /** Decoded values of the template's `{name}` segments. */
  params: Readonly<Record<string, string>>;
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
  /** The body as text; empty on a route that takes bytes. */
  body: string;
  /** The body as it came, on a route that takes bytes. */
  bytes?: Buffer;
  /** `http://host:port` as the caller addressed us: the root of every href. */
  origin: string;
  caller: Caller;
  /** The address that the call came from. */
  from: string;
  /** The simulated instant of the call: everything it does carries this one. */
  at: number;
  effects: Effects;
}

export interface Reply {
  status: number;
  headers?: Record<string, string>;
  /** Sent as JSON; undefined sends no body. */
  body?: unknown;
  /** Indents the JSON. */
  indent?: boolean;
  /** Sent as it is, as a web page unless the headers name another type. */
  page?: string;
  /** The resources of the call for the activity log, where neither the path nor the body names them. */
  about?: readonly { type: string; id: string }[];
  /** Server-sent events. Each is created after the caller has read the one before, so outside the transaction. */
  events?: Iterable<string>;
}

/** The id of the request that the Location header of an answer names; undefined: none. */
export const requestIn = ({ headers }: Reply): string | undefined =>
  /\/requests\/([^/]+)\/status$/.exec(headers?.Location ?? "")?.[1];

/**
 * `open`: no credentials; `user`: Basic or Bearer; `local`: loopback, no credentials; `steering`: the control
 * endpoints, loopback with the simulator's own token. The last two are no part of the platform: not counted, and
 * without faults.
 */
export type Access = "open" | "user" | "local" | "steering";

export interface Route {
  method: Method;
  /** For example `/cloudapi/v6/datacenters/{datacenterId}`. */
  template: string;
  access: Access;
  /** A body may also be a web form, as older clients send it. */
  takesForm?: boolean;
  /** The body may be of any type, has at most this many bytes, and is given as `bytes`. */
  mostBytes?: number;
  /** The most bytes of a JSON body. Default 1 MiB. */
  mostText?: number;
  /** The error payload of the product; absent: that of the core API. */
  payload?(refusal: Refusal): unknown;
  /** Runs before an admitted call is handled, outside the transaction of the call. */
  prepare?(call: Call): Promise<void>;
  handle(call: Call): Reply;
}
