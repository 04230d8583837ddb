import type { ActivitySource } from "./log.ts";

/** One entry of the activity log, the same for both forms that the platform has for it. */
export interface Entry {
  /** Milliseconds since the epoch. */
  time: number;
  user: string;
  /** `vr.server.create`. */
  action: string;
  /** `server/<id>`. */
  resource: string;
  event: string;
  status: string;
  message: string;
  requestId: string;
  uri: string;
  resources: { type: string; id: string }[];
  /** As the platform sent it. */
  source: ActivitySource;
}

/** Undefined for an entry without a time. */
export function entryOf(source: ActivitySource): Entry | undefined {
  const { meta, principal, event } = source;
  const time = Date.parse(source.time ?? meta?.time ?? "");
  if (Number.isNaN(time)) return undefined;
  const resources = event?.resources?.map(({ type, id }) => ({ type: type ?? "", id: id ?? "" })) ?? named(source);
  const [first] = resources;
  return {
    time,
    user: source.user ?? principal?.identity?.username ?? "",
    action: source.action ?? event?.resources?.[0]?.action?.[0] ?? event?.param?.action ?? "",
    resource: source.resource ?? (first ? `${first.type}/${first.id}` : ""),
    event: event?.type ?? "",
    status: event?.status ?? "",
    message: event?.message ?? "",
    requestId: meta?.requestId ?? "",
    uri: event?.param?.uri ?? "",
    resources,
    source,
  };
}

/** Whether somebody only looked at something. */
export const isRead = ({ action }: Pick<Entry, "action">): boolean => /(^|\.)(read|list|get)$/.test(action);

/** What `server/<id>` names, in the form that has nothing else. */
function named({ resource }: ActivitySource): Entry["resources"] {
  const [type = "", id = "", ...rest] = resource?.split("/") ?? [];
  return type === "" || id === "" || rest.length > 0 ? [] : [{ type, id }];
}

/** Entries have no id: two that say the same are one. */
export const identityOf = (source: ActivitySource): string => JSON.stringify(source);
