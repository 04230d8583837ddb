import { z } from "zod";
import { uuidOfName } from "../chance.ts";
import type { Call, Forms } from "../http/exchange.ts";
import { timestamp } from "../time.ts";

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

/** An entry on the wire: the nested form of the public interface, and the four fields of the description beside it. */
export function sourceOf(
  entry: Entry,
  { contractNumber, forms }: { contractNumber: number; forms: Forms },
  { effects }: Pick<Call, "effects">,
) {
  const time = timestamp(entry.at + effects.skew);
  const [first] = entry.resources;
  return {
    ...(forms.described && {
      time,
      user: entry.username,
      action: first?.action ?? entry.method,
      resource: first === undefined ? entry.path : [first.type, first.id].filter((word) => word !== "").join("/"),
    }),
    ...(forms.public && nested(entry, contractNumber, time)),
  };
}

function nested(entry: Entry, contractNumber: number, time: string) {
  return {
    meta: {
      time,
      requestId: entry.requestId,
      // One provisioning has one request: its steps have these two in common.
      queueRefId: Number.parseInt(entry.requestId.slice(0, 8), 16),
      transactionId: uuidOfName(entry.requestId),
      auditVersion: 0.1,
    },
    principal: {
      identity: { contractNumber, username: entry.username },
      sourceService: "PUBLIC_REST_V6",
      sourceIP: entry.from,
      serviceHost: entry.host,
    },
    event: {
      type: entry.type,
      status: entry.status,
      message: entry.message,
      param: {
        action: entry.method,
        uri: entry.path,
        initiator: entry.username,
        sourceService: "PUBLIC_REST_V6",
        ...(entry.error !== null && { error: entry.error, errorCode: entry.error.messages[0]?.errorCode ?? "" }),
        ...(entry.type !== "Error" && entry.status === "FAILED" && { errorCode: "Provisioning" }),
      },
      resources: entry.resources.map(({ type, id, action }) => ({ type, id, action: [action] })),
    },
  };
}
