/** Types of calls and replies, and the options of the transport. */
import type { LookupFunction } from "node:net";
import type { Clock } from "../../runtime/clock.ts";
import type { Proxies } from "../addresses/proxies.ts";
import type { Priority } from "../pace/pacer.ts";

export interface PlatformCall {
  method: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Absolute. */
  url: string;
  /** A GET that creates something: it is sent at most once, like other writes. */
  makes?: true;
  /** The answer may have a new key. An error after which that may exist is not quoted: nothing could remove the key from it. */
  makesKey?: true;
  /** Sent with the connection's username and password instead of its token. */
  withPassword?: true;
  /** The answer is text, such as XML or a zone file, and is not parsed. Default: JSON. */
  answers?: "text";
  /** The API of the call, for the metrics. Default "core". */
  product?: string;
  /** The object of a write, for the log. */
  object?: string;
  /** Sent as JSON; left out when undefined. */
  body?: unknown;
  /** Sent unchanged instead of `body`; the content type is in `headers`. */
  bytes?: Uint8Array;
  /** Added to the connection's headers; an `authorization` here replaces the connection's own. */
  headers?: Record<string, string>;
  /** Keys in `headers`, and what is made of them. They are removed from the answer, as the connection's own credentials are. */
  keys?: readonly string[];
  /** Default "normal". */
  priority?: Priority;
  /**
   * Default 30,000, counted from `send`, including the wait for its turn and retries. After the deadline no byte of a write
   * leaves, which recovery relies on. Nothing is sent when no time is left.
   */
  deadlineMs?: number;
  /**
   * How long it may wait for its turn. Default 2,000, because a worker waits for it. A call that cannot leave by then is
   * rejected at once, with the time after which to retry. A read that no worker waits for may wait longer, and that time does
   * not count against its deadline.
   */
  patienceMs?: number;
  /** The maximum size of the answer, where 4 MiB may not be enough. */
  maxBytes?: number;
  signal?: AbortSignal;
  /** Called right before the request is sent. If it throws, nothing is sent, and the caller gets the error. */
  guard?: () => void;
}

export interface Reply {
  status: number;
  /** Names in lower case. */
  headers: Record<string, string>;
  /** Parsed JSON, or the text that the call asked for; undefined when the answer was empty. */
  body: unknown;
  /** The memory that the answer takes: its size, or more if it has many small values. */
  bytes?: number;
  /** The asynchronous request that the Location header names. */
  request?: { id: string; url: string };
  etag?: string;
}

/** Called for each attempt, answered or failed. `waited` is the time spent on pacing, which is not part of `seconds`. */
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

/** The methods of a pino logger that are used. */
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
  /** The connection of this Account was closed; its calls are no longer observed. */
  closed?: (account: string) => void;
  userAgent?: string;
  /** Patterns of the allowed endpoints (see `AllowedEndpoints`). Without it, any endpoint and address is allowed. */
  allowEndpoints?: readonly string[];
  /** CA certificates (PEM) that are trusted in addition to Node's defaults. */
  ca?: string;
  /** Proxies to the platform. A proxy resolves the name of the endpoint itself. */
  proxies?: Proxies;
  /** The memory limit for answers to all Accounts together. Default: a quarter of the heap. */
  memoryBytes?: number;
  /** Resolves host names. Default: the system's resolver. */
  lookup?: LookupFunction;
}
