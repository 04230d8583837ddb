import type { ActivitySource } from "./log.ts";

/** One entry of the activity log, from either of the platform's two forms. */
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
  /** The original entry. */
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

/** Whether the entry is only a read access. */
export const isRead = ({ action }: Pick<Entry, "action">): boolean => /(^|\.)(read|list|get)$/.test(action);

/** Parses `server/<id>`, the only identification in one of the forms. */
function named({ resource }: ActivitySource): Entry["resources"] {
  const [type = "", id = "", ...rest] = resource?.split("/") ?? [];
  return type === "" || id === "" || rest.length > 0 ? [] : [{ type, id }];
}

/** Entries have no id: two entries with equal content are the same. */
export const entryIdentity = (source: ActivitySource): string => JSON.stringify(source);
