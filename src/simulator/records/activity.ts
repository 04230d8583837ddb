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
  /** The address of the caller, and the host that he called; empty for what the platform does by itself. */
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

/** Something whose provisioning has come to its end without a request that could be asked for. */
export interface Settled {
  /** Of the call that has begun it. */
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
 * Who did what in one contract, and what became of it. Everything that changes something is noted, in the transaction of
 * the change; a refused change, too. So are reads, and logins by password. All that writes happens inside a transaction.
 */
export interface Activity {
  /** A write that the platform works on from now on. */
  accepted(call: Call, record: RequestRecord): void;
  ended(record: RequestRecord, failure: string | null): void;
  settled(what: Settled): void;
  /**
   * Answers a call and notes it; what `accepted` has noted is left out. What `settled` tells meanwhile comes
   * after it: nothing ends before it has begun.
   */
  called(call: Call, route: Route, work: () => Reply): Reply;
  refused(call: Call, route: Route, refusal: Refusal): void;
  /** Somebody gave a password, or credentials that are not good. */
  login(attempt: LoginAttempt): void;
  /** So many entries about nothing, evenly over a time: a busy contract. */
  fill(count: number, from: number, to: number): void;
  /** What is kept of a time, oldest first; `to` is not a part of it. */
  read(from: number, to: number): Entry[];
}

export interface LoginAttempt extends Pick<Call, "at" | "from" | "origin" | "method" | "path"> {
  user: Pick<User, "id" | "username">;
  succeeded: boolean;
}
