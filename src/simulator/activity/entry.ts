import { uuidOfName } from "../chance.ts";
import type { Call, Forms } from "../http/exchange.ts";
import type { Entry } from "../records/activity.ts";
import { timestamp } from "../time.ts";

/** An entry on the wire: four flat fields in the described form, nested objects in the public one. */
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
      // The steps of one request share these two.
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
