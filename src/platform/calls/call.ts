/** What goes over a connection, and who may watch it. */
import type { LookupFunction } from "node:net";
import type { Clock } from "../../runtime/clock.ts";
import type { Proxies } from "../addresses/proxies.ts";
import type { Priority } from "../pace/pacer.ts";

export interface PlatformCall {
  method: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Absolute. */
  url: string;
  /** A GET that makes something: it is sent at most once, as other writes are. */
  makes?: true;
  /** Sent with the connection's username and password instead of its token. */
  withPassword?: true;
  /** The answer is text, such as XML or a zone file, and is not parsed. Default: JSON. */
  answers?: "text";
  /** The API that it belongs to, for the metrics. Default "core". */
  product?: string;
  /** The object that a write is for, for the log. */
  object?: string;
  /** Sent as JSON; left out when undefined. */
  body?: unknown;
  /** Sent as they are, instead of a body; what they are is in `headers`. */
  bytes?: Uint8Array;
  /** Added to those of the connection; an `authorization` here replaces the connection's own. */
  headers?: Record<string, string>;
  /** Default "normal". */
  priority?: Priority;
  /**
   * Default 30,000, counted from `send`, waiting for its turn and sending it again included: after it no byte of a write
   * leaves any more, which recovery relies on; without any time left nothing is sent.
   */
  deadlineMs?: number;
  /**
   * How long it may wait for its turn: 2,000 by default, because somebody waits who has other work. What cannot leave by
   * then is refused at once, and told when to come back. A read that keeps nobody may wait for longer, and that does not
   * count for its deadline.
   */
  patienceMs?: number;
  /** The largest answer that is taken, where one of 4 MiB may not be enough. */
  maxBytes?: number;
  signal?: AbortSignal;
  /** Called at the last moment before the request leaves; what it throws reaches the caller, and nothing was sent. */
  guard?: () => void;
}

export interface Reply {
  status: number;
  /** Names in lower case. */
  headers: Record<string, string>;
  /** Parsed JSON, or the text that the call asked for; undefined when the answer was empty. */
  body: unknown;
  /** What the answer takes in memory: its size, or more, when it has many small values. */
  bytes?: number;
  /** The asynchronous request that the Location header names. */
  request?: { id: string; url: string };
  etag?: string;
}

/** One answered or failed attempt. `waited` is the time spent on pacing, not part of `seconds`. */
export type CallObserver = (call: {
  account: string;
  product: string;
  method: string;
  /** The path with ids replaced by {id}. */
  route: string;
  status: number | "error";
  seconds: number;
  waited: number;
}) => void;

/** What is used of a pino logger. */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

export interface TransportOptions {
  clock: Clock;
  random?: () => number;
  log?: Log;
  observe?: CallObserver;
  /** The connection of this Account was closed; no call of it is observed any more. */
  closed?: (account: string) => void;
  userAgent?: string;
  /** Patterns of the endpoints that may be called (see `AllowedEndpoints`). Without it, any may, at any address. */
  allowEndpoints?: readonly string[];
  /** Certificates, PEM, that are trusted besides those that Node trusts by itself. */
  ca?: string;
  /** Where connections lead through a proxy, that one resolves the name of the endpoint. */
  proxies?: Proxies;
  /** What answers may take in memory, those of all Accounts together; a quarter of the heap unless given. */
  memoryBytes?: number;
  /** How names are resolved; by the system unless given. */
  lookup?: LookupFunction;
}
