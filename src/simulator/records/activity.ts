import { z } from "zod";
import type { Call, Method, Reply, Route } from "../http/exchange.ts";
import type { Refusal } from "../http/refusal.ts";
import type { User } from "../users.ts";
import type { RequestRecord } from "./requests.ts";

export const entrySchema = z.object({
  /** Counts up over the life of the contract. */
  n: z.number(),
  at: z.number(),
  type: z.enum(["RequestAccepted", "Provision", "RequestStatusUpdate", "GenerateToken", "Error", "Read", "Login"]),
  status: z.enum(["QUEUED", "DONE", "FAILED"]),
  message: z.string(),
  requestId: z.string(),
  username: z.string(),
  /** The address of the caller and the host that was called; empty for work of the platform itself. */
  from: z.string(),
  host: z.string(),
  method: z.string(),
  /** The path without its query: no part of a query or a body gets into the log. */
  path: z.string(),
  resources: z.array(z.object({ type: z.string(), id: z.string(), action: z.string() })),
  error: z
    .object({
      httpStatus: z.number(),
      messages: z.array(z.object({ errorCode: z.string(), message: z.string() })),
    })
    .nullable(),
});

/** One line of the activity log. */
export type Entry = Readonly<z.infer<typeof entrySchema>>;

/** The end of a provisioning that has no request. */
export interface Settled {
  /** Of the call that started it. */
  method: Method;
  /** The path of the collection that it is in. */
  collection: string;
  type: string;
  id: string;
  /** User id. */
  by: string;
  failure: string | null;
}

/**
 * The log of one contract: changes, refused changes, reads, and logins by password, each with its outcome. A change is
 * noted in its own transaction. Every method that writes runs inside a transaction.
 */
export interface Activity {
  /** A write that the platform works on from now on. */
  accepted(call: Call, record: RequestRecord): void;
  ended(record: RequestRecord, failure: string | null): void;
  settled(what: Settled): void;
  /**
   * Runs the handler of a call and adds its entry, unless `accepted` has. Entries of `settled` that the handler causes
   * are added after it, so that no operation ends before it begins.
   */
  called(call: Call, route: Route, work: () => Reply): Reply;
  refused(call: Call, route: Route, refusal: Refusal): void;
  /** A login by password, or with invalid credentials. */
  login(attempt: LoginAttempt): void;
  /** Adds entries evenly over a time, as of a busy contract. */
  fill(count: number, from: number, to: number): void;
  /** The entries from `from` to before `to`, oldest first. */
  read(from: number, to: number): Entry[];
}

export interface LoginAttempt extends Pick<Call, "at" | "from" | "origin" | "method" | "path"> {
  user: Pick<User, "id" | "username">;
  succeeded: boolean;
}
