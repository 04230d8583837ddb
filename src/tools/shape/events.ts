import { z } from "zod";
import { type Entry, isRead } from "../../platform/activity/entry.ts";

const text = z.string().nullish();
const source = z.looseObject({
  time: text,
  user: text,
  meta: z.looseObject({ time: text, requestId: text, queueRefId: z.unknown().optional() }).nullish(),
  principal: z
    .looseObject({
      identity: z.looseObject({ username: text }).nullish(),
      sourceService: text,
      sourceIP: text,
    })
    .nullish(),
  event: z
    .looseObject({
      type: text,
      status: text,
      message: text,
      param: z
        .looseObject({
          action: text,
          uri: text,
          initiator: text,
          sourceService: text,
          errorCode: text,
          error: z
            .looseObject({ httpStatus: z.number().nullish(), messages: z.array(z.unknown()).nullish() })
            .nullish(),
        })
        .nullish(),
      resources: z.array(z.looseObject({ type: text, id: text, action: z.array(z.string()).nullish() })).nullish(),
    })
    .nullish(),
});
export interface Wanted {
  user?: string | undefined;
  event_types?: string[] | undefined;
  include_status_updates?: boolean | undefined;
  include_reads?: boolean | undefined;
}

/** An entry of the activity log in a flat form, without empty fields. */
export function eventOf(entry: unknown) {
  const { meta, principal, event, ...top } = source.parse(entry);
  const { param, resources } = event ?? {};
  return {
    time: top.time ?? meta?.time,
    type: event?.type,
    action: param?.action,
    status: event?.status,
    message: event?.message,
    uri: param?.uri,
    request_id: meta?.requestId,
    queue_ref_id: meta?.queueRefId,
    user: principal?.identity?.username ?? top.user,
    service: principal?.sourceService,
    source_ip: principal?.sourceIP,
    initiator: param?.initiator,
    param_service: param?.sourceService,
    error_code: param?.errorCode,
    error: param?.error && { http_status: param.error.httpStatus, messages: param.error.messages ?? [] },
    resources: resources?.map(({ type, id, action }) => ({ type, id, action: action ?? [] })),
  };
}

/** Whether an entry matches. A type that is named explicitly always matches. */
export function isEventWanted(entry: Pick<Entry, "event" | "user" | "action">, wanted: Wanted): boolean {
  const { user, event_types: types = [], include_status_updates, include_reads } = wanted;
  if (user !== undefined && !entry.user.toLowerCase().includes(user.toLowerCase())) return false;
  if (types.length > 0) return types.includes(entry.event);
  if (!include_reads && isRead(entry)) return false;
  return include_status_updates === true || entry.event !== "RequestStatusUpdate";
}
