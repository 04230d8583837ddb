import { z } from "zod";
import { hashText } from "../../runtime/hash.ts";
import { createSlot } from "../../runtime/memo.ts";
import { withoutTrailing } from "../../runtime/text.ts";
import { NotFound } from "../answers/errors.ts";
import { plainText } from "../answers/plain-text.ts";
import { withLowerUuids } from "../answers/uuids.ts";
import type { Connection } from "../calls/connection.ts";
import { type RequestState, resourceId } from "../collections/reading.ts";
import { corePageSize, corePath, coreUrl } from "./core-url.ts";
import { checked, inTime, type ReadOptions, readPages } from "./paging.ts";

const statusShape = z.looseObject({
  metadata: z.looseObject({
    status: z.string(),
    message: z.string().nullish(),
    targets: z
      .array(
        z.looseObject({
          target: z.looseObject({ id: resourceId, type: z.string().nullish() }),
          status: z.string().nullish(),
        }),
      )
      .nullish(),
  }),
});

/** Reads the state of a request, at the URL from the Location header of the write. */
export async function requestStatus(
  connection: Connection,
  url: string,
  options: ReadOptions = {},
): Promise<RequestState> {
  const { body } = await connection.send({ method: "GET", url, ...options });
  const { status, message, targets } = checked(statusShape, body, url).metadata;
  return {
    // QUEUED and RUNNING, which the platform also uses, both mean in progress.
    status: status === "DONE" || status === "FAILED" ? status : "BUSY",
    ...(message != null && message !== "" && { message: plainText(message) }),
    targets: (targets ?? []).map(({ target, status: each }) => ({
      id: target.id,
      ...(target.type != null && { type: target.type }),
      ...(each != null && { status: each }),
    })),
  };
}

/** A write in the platform's request log. */
export interface LoggedRequest {
  readonly id: string;
  readonly method: string;
  /** The URL in the log, usually absolute. */
  readonly url: string;
  /** The URL of its status; absent where a write is complete when it is answered. */
  readonly statusUrl?: string;
  /** The request body. */
  readonly body: string;
  /** Milliseconds since the epoch, by the platform's clock. */
  readonly createdAt: number;
  /** The user's name and id. */
  readonly createdBy?: string;
  readonly createdByUserId?: string;
  readonly status?: string;
  /** The resources that the request created or changed. */
  readonly targets: readonly { readonly id: string; readonly type?: string }[];
}

/** The oldest first. One without a time that can be read comes before all others. */
export const inOrder = (requests: readonly LoggedRequest[]): LoggedRequest[] =>
  requests.toSorted((a, b) => timeOf(a) - timeOf(b) || a.id.localeCompare(b.id));

const timeOf = ({ createdAt }: LoggedRequest): number => (Number.isFinite(createdAt) ? createdAt : 0);

/** Many searches may share one listing: each body in it is hashed once. */
const hashes = createSlot<LoggedRequest, { hash: string | undefined }>();

/** The hash of a logged body, or of the part of it that `echo` returns. */
export function hashOfBody(logged: LoggedRequest, echo?: (body: unknown) => unknown): string | undefined {
  const known = hashes.get(logged) ?? { hash: hashText(logged.body, echo) };
  hashes.set(logged, known);
  return known.hash;
}

export interface RequestFilter {
  method: string;
  /** The path below /cloudapi/v6, matched exactly: "/datacenters/<id>/servers". */
  url: string;
  /** Milliseconds since the epoch, by the platform's clock: the caller allows for skew. */
  createdAfter: number;
}

const requestShape = z.looseObject({
  id: resourceId,
  metadata: z.looseObject({
    createdDate: z.string(),
    createdBy: z.string().nullish(),
    createdByUserId: z.string().nullish(),
    requestStatus: z
      .looseObject({
        metadata: z
          .looseObject({
            status: z.string().nullish(),
            targets: z
              .array(z.looseObject({ target: z.looseObject({ id: resourceId, type: z.string().nullish() }) }))
              .nullish(),
          })
          .nullish(),
      })
      .nullish(),
  }),
  properties: z.looseObject({ method: z.string(), url: z.string(), body: z.string().nullish() }),
});

/**
 * Searches the request log for writes of one method to one path, with their bodies and targets. The platform's filters match
 * parts of a value, so results are matched again here. If the list has no targets, they are read for each match.
 */
export async function findRequests(
  connection: Connection,
  api: string,
  filter: RequestFilter,
  options: ReadOptions = {},
): Promise<LoggedRequest[]> {
  return readLog(
    connection,
    api,
    filter,
    options,
    (logged) => pathBelowBase(logged.url) === withLowerUuids(trimmed(filter.url)),
  );
}

/** Whether a request may be as young as this. One whose date cannot be read may be of any age. */
export const mayBeSince =
  (time: number) =>
  ({ createdAt }: Pick<LoggedRequest, "createdAt">): boolean =>
    !(createdAt < time);

/** All writes of one method since a time whose path contains `filter.url` and for which `isIncluded` is true, with their targets. */
function readLog(
  connection: Connection,
  api: string,
  filter: RequestFilter,
  options: ReadOptions,
  isIncluded: (logged: LoggedRequest) => boolean,
): Promise<LoggedRequest[]> {
  const { method, createdAfter } = filter;
  const url = coreUrl(api, "/requests");
  const query = {
    depth: "2",
    "filter.method": method,
    "filter.url": filter.url,
    "filter.createdAfter": logDate(createdAfter),
  };
  const read = (raw: unknown) => loggedRequest(checked(requestShape, raw, url), url);
  const matchesFilter = (logged: LoggedRequest) =>
    logged.method.toUpperCase() === method.toUpperCase() && mayBeSince(createdAfter)(logged) && isIncluded(logged);
  return inTime(connection, options, async (timed) => {
    const found = await readPages(connection, url, query, { items: corePageSize }, timed, read);
    return await Promise.all(found.filter(matchesFilter).map((logged) => withTargets(connection, logged, timed)));
  });
}

function loggedRequest({ id, metadata, properties }: z.output<typeof requestShape>, log: string): LoggedRequest {
  const state = metadata.requestStatus?.metadata;
  return {
    id,
    method: properties.method,
    url: properties.url,
    statusUrl: `${log}/${encodeURIComponent(id)}/status`,
    body: properties.body ?? "",
    createdAt: Date.parse(metadata.createdDate),
    ...(metadata.createdBy != null && { createdBy: metadata.createdBy }),
    ...(metadata.createdByUserId != null && { createdByUserId: metadata.createdByUserId }),
    ...(state?.status != null && { status: state.status }),
    targets: (state?.targets ?? []).map(({ target }) => ({
      id: target.id,
      ...(target.type != null && { type: target.type }),
    })),
  };
}

const trimmed = (path: string): string => withoutTrailing(path, "/");

/** "https://host/cloudapi/v6/datacenters/?depth=1" → "/datacenters". */
function pathBelowBase(url: string): string {
  const [whole = ""] = withLowerUuids(url)
    .replace(/^[a-z]+:\/\/[^/]*/i, "")
    .split(/[?#]/, 1);
  const path = trimmed(whole);
  return path.startsWith(`${corePath}/`) ? path.slice(corePath.length) : path;
}

/** A deletion in a log of the platform. */
export interface Deletion {
  readonly requestId: string;
  /** The deleted resource: "/datacenters/<id>/servers/<id>"; "" where the log does not have it. */
  readonly path: string;
  /** `UNKNOWN` where the log does not show whether or how it ended. */
  readonly status: "BUSY" | "DONE" | "FAILED" | "UNKNOWN";
  /** Milliseconds since the epoch, by the platform's clock. */
  readonly at: number;
  /** The user name. */
  readonly by?: string;
  /** Ids of the resources that are deleted with it. */
  readonly targets: readonly string[];
}

/** The deletions of members of a collection, and of its parents, from the request log. */
export async function findDeletions(
  connection: Connection,
  api: string,
  collection: string,
  createdAfter: number,
  options: ReadOptions = {},
): Promise<(Deletion & Pick<RequestState, "status">)[]> {
  const root = withLowerUuids(collection).split("/").slice(0, 3).join("/");
  const filter = { method: "DELETE", url: root, createdAfter };
  const isInside = ({ url }: LoggedRequest) => `${pathBelowBase(url)}/`.startsWith(`${root}/`);
  const found = await readLog(connection, api, filter, options, isInside);
  return found.map(({ id, url, createdAt, createdBy, status, targets }) => ({
    requestId: id,
    path: pathBelowBase(url),
    status: status === "DONE" || status === "FAILED" ? status : "BUSY",
    at: createdAt,
    ...(createdBy !== undefined && createdBy !== "" && { by: plainText(createdBy, 256) }),
    targets: targets.map((target) => target.id),
  }));
}

async function withTargets(
  connection: Connection,
  logged: LoggedRequest,
  options: ReadOptions,
): Promise<LoggedRequest> {
  if (logged.targets.length > 0 || logged.statusUrl === undefined) return logged;
  try {
    const { status, targets } = await requestStatus(connection, logged.statusUrl, options);
    return { ...logged, status, targets };
  } catch (error) {
    // The log may show a request before its status exists.
    if (error instanceof NotFound) return logged;
    throw error;
  }
}

/** "yyyy-MM-dd HH:mm:ss", a little earlier: the exact comparison is done here. */
function logDate(time: number): string {
  return new Date(time - 1_000).toISOString().slice(0, 19).replace("T", " ");
}

/** Where a resource is, as far as logs of deletions tell. */
export interface Whereabouts {
  id: string;
  /** When the platform created it, where that belongs to its identity. */
  born?: string | undefined;
  /** The path of its collection. */
  collection: string;
  /** Ids of the parents whose deletion also deletes it. */
  within: readonly string[];
  /** Its id is a number that the platform gives to another resource later. */
  reusesIds: boolean;
}

/** The deletion of a resource among these: one that is done, else one that is under way, else any. */
export function matchingDeletion(where: Whereabouts, deletions: readonly Deletion[]): Deletion | undefined {
  const about = deletions.filter((deletion) => concerns(where, deletion));
  const telling = (["DONE", "BUSY", "UNKNOWN"] as const).map((word) => about.find(({ status }) => status === word));
  return telling.find((each) => each !== undefined);
}

function concerns({ collection, id, born, within, reusesIds }: Whereabouts, { path, targets, at }: Deletion): boolean {
  const own = `${collection}/${encodeURIComponent(id)}`;
  // A parent is deleted: by the path, or, where the log has none, by its id.
  if (path === "" ? targets.some((target) => within.includes(target)) : own.startsWith(`${path}/`)) return true;
  // The deletion may be that of an earlier resource with the same number.
  if (reusesIds) return path === own && born !== undefined && at >= Date.parse(born);
  // A deletion in another collection by this id only detaches it.
  return path === own || (targets.includes(id) && !path.endsWith(`/${id}`));
}
