import { z } from "zod";

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
const page = z.looseObject({
  hits: z.looseObject({ total: z.number().nullish(), hits: z.array(z.looseObject({ _source: source })) }),
});

export interface Wanted {
  user?: string | undefined;
  event_types?: string[] | undefined;
  include_status_updates?: boolean | undefined;
}

/** Entries of the activity log in one flat form, without what says nothing. */
export function events(answer: unknown, wanted: Wanted): unknown {
  const { total, hits } = page.parse(answer).hits;
  const all = hits.map(({ _source: { meta, principal, event, ...top } }) => {
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
  });
  const isAbout = (user: string | null | undefined) => user?.toLowerCase().includes(wanted.user?.toLowerCase() ?? "");
  return {
    events: all.filter(
      ({ type, user }) =>
        (wanted.include_status_updates || wanted.event_types?.length || type !== "RequestStatusUpdate") &&
        (!wanted.event_types?.length || wanted.event_types.some((each) => each === type)) &&
        (wanted.user === undefined || isAbout(user)),
    ),
    total: total ?? hits.length,
  };
}
