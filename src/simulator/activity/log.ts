import { z } from "zod";
import { type Chance, type Counters, uuidOfName } from "../chance.ts";
import { type Call, type Reply, type Route, requestIn } from "../http/exchange.ts";
import type { Refusal } from "../http/refusal.ts";
import type { Identity } from "../identity/identity.ts";
import { type Activity, type Entry, entrySchema, type LoginAttempt, type Settled } from "../records/activity.ts";
import type { RequestRecord } from "../records/requests.ts";
import type { Documents } from "../store/documents.ts";
import type { SimulatedClock } from "../time.ts";
import { actionName, askedModel, minting, namedIn, notedAs, typeName } from "./names.ts";
import { createOrdered } from "./ordered.ts";

/** The oldest entries are dropped when there are more. */
export const mostEntries = 100_000;
/** Reads are kept apart, in memory only, so that they replace no change. */
export const mostReads = 20_000;
const retention = 35 * 86_400_000;

export interface ActivityParts {
  documents: Documents;
  counters: Counters;
  chance: Chance;
  clock: SimulatedClock;
  identity: Pick<Identity, "users">;
  /** The prefix of the counter of this contract. */
  scope: string;
}

type Noted = Omit<Entry, "n" | "error"> & Partial<Pick<Entry, "error">>;

/** The entries of a contract: changes are stored, reads are kept in memory. */
function createEntries({ documents, counters, clock, scope }: ActivityParts) {
  const entries = documents.table("activity", entrySchema);
  const reads: Entry[] = [];
  let readsSoFar = 0;
  const ordered = createOrdered();
  const replace = (before: Entry | undefined, after: Entry | undefined) => {
    if (before !== undefined) ordered.remove(before);
    if (after !== undefined) ordered.add(after);
  };
  entries.watch(replace);
  return {
    note(entry: Noted): void {
      const n = counters.next(`${scope}activity`);
      // A slot of a ring: a further entry takes the place of the oldest.
      entries.put(String(n % mostEntries), { error: null, ...entry, n });
    },
    noteRead(entry: Omit<Noted, "requestId">): void {
      const n = readsSoFar++;
      const read = { error: null, requestId: uuidOfName(`${scope}read/${n}`), ...entry, n };
      replace(reads[n % mostReads], read);
      reads[n % mostReads] = read;
    },
    read: (from: number, to: number) => ordered.between(Math.max(from, clock.now() - retention), to),
  };
}

export function createActivity(parts: ActivityParts): Activity {
  const { chance, clock, identity } = parts;
  const { note, noteRead, read } = createEntries(parts);
  const nameOf = (userId: string) => identity.users.get(userId)?.username ?? "";
  const newRequest = () => chance.uuid("activity-request");
  /** Ends of operations that the running handler has caused; undefined: no handler runs. */
  let settledMeanwhile: Settled[] | undefined;
  const noteSettled = (what: Settled) =>
    note({ ...settledEntry(what), at: clock.now(), username: nameOf(what.by), requestId: newRequest() });

  function noteCall(call: Call, route: Route, reply: Reply): void {
    const request = requestIn(reply);
    const noted = notedAs(route);
    if (noted === undefined || (reply.status === 202 && request !== undefined)) return;
    const resources = resourcesOf(call, route, reply);
    if (noted === "read") {
      noteRead({ ...ofCall(call), type: "Read", status: "DONE", message: "Request has been answered", resources });
      return;
    }
    note({
      ...ofCall(call),
      type: route.template === minting ? "GenerateToken" : "RequestAccepted",
      status: continues(route, reply) ? "QUEUED" : "DONE",
      message: accepted,
      requestId: request ?? newRequest(),
      resources,
    });
  }

  return {
    accepted(call, record) {
      const resources = targetsOf(record);
      note({
        ...ofCall(call),
        type: "RequestAccepted",
        status: "QUEUED",
        message: accepted,
        requestId: record.id,
        resources,
      });
    },
    ended(record, failure) {
      const step = endedEntry(record, nameOf(record.createdBy), failure);
      if (failure === null) note({ ...step, type: "Provision", status: "DONE" });
      note({ ...step, type: "RequestStatusUpdate", status: failure === null ? "DONE" : "FAILED" });
    },
    settled(what) {
      if (settledMeanwhile === undefined) noteSettled(what);
      else settledMeanwhile.push(what);
    },
    called(call, route, work) {
      const settled: Settled[] = [];
      settledMeanwhile = settled;
      try {
        const reply = work();
        noteCall(call, route, reply);
        for (const each of settled) noteSettled(each);
        return reply;
      } finally {
        settledMeanwhile = undefined;
      }
    },
    refused(call, route, refusal) {
      const noted = notedAs(route);
      if (noted === undefined) return;
      const refused = { ...ofCall(call), ...refusedEntry(refusal), resources: resourcesOf(call, route) };
      if (noted === "read") noteRead({ ...refused, type: "Read" });
      else note({ ...refused, type: "Error", requestId: newRequest() });
    },
    login: (attempt) => note({ ...loginEntry(attempt), requestId: newRequest() }),
    fill(count, from, to) {
      for (let nth = 0; nth < count; nth++) {
        note(fillingEntry(Math.floor(from + ((to - from) * nth) / count), newRequest()));
      }
    },
    read,
  };
}

const accepted = "Request has been accepted";

const hostOf = (origin: string) => origin.replace(/^https?:\/\//, "");

const ofCall = ({ at, caller, from, origin, method, path }: Call) => ({
  at,
  username: caller.user.username,
  from,
  host: hostOf(origin),
  method,
  path,
});

/** The resources that an answer names, else those that the path names. */
function resourcesOf(call: Call, { template }: Route, { about = [], body }: Partial<Reply> = {}): Entry["resources"] {
  const { method, path, params } = call;
  if (template.startsWith("/inference/")) return [askedModel(call, about.length > 0 || body !== undefined)];
  const made = z.looseObject({ id: z.string(), type: z.string() }).safeParse(body);
  const one =
    made.success && made.data.type !== "collection"
      ? { type: typeName(made.data.type), id: made.data.id }
      : namedIn(template, params);
  const named = about.length > 0 ? about : [one];
  return named.map(({ type, id }) => ({ type, id, action: actionName(method, path, type) }));
}

/** The end of a provisioning that has no request. */
function settledEntry({ method, collection, type, id, failure }: Settled) {
  const path = method === "POST" ? collection : `${collection}/${id}`;
  return {
    from: "",
    host: "",
    method,
    path,
    type: "Provision" as const,
    status: failure === null ? ("DONE" as const) : ("FAILED" as const),
    message: failure ?? "Provisioning has ended",
    resources: [{ type, id, action: actionName(method, path, type) }],
  };
}

/** The end of a request. */
const endedEntry = (record: RequestRecord, username: string, failure: string | null) => ({
  at: record.dueAt,
  username,
  from: "",
  host: "",
  method: record.method,
  path: pathOf(record),
  message: failure ?? record.message,
  requestId: record.id,
  resources: targetsOf(record),
});

function refusedEntry({ status, messages }: Refusal) {
  const message = `Request was refused with ${status}`;
  // The platform's message may quote the body, so only the name of the field is kept.
  const withField = (text: string) => [/^\[[\w().-]+\]/.exec(text)?.[0] ?? [], message].flat().join(" ");
  return {
    status: "FAILED" as const,
    message,
    error: {
      httpStatus: status,
      messages: messages.map((each) => ({ errorCode: each.errorCode, message: withField(each.message) })),
    },
  };
}

const loginEntry = ({ user, succeeded, at, from, origin, method, path }: LoginAttempt) => ({
  at,
  username: user.username,
  from,
  host: hostOf(origin),
  method,
  path,
  type: "Login" as const,
  status: succeeded ? ("DONE" as const) : ("FAILED" as const),
  message: succeeded ? "Logged in by password" : "The credentials are not valid",
  resources: [{ type: "user", id: user.id, action: "auth.user.login" }],
});

/** An entry for `fill`, as of a busy contract. */
const fillingEntry = (at: number, id: string): Noted => ({
  at,
  username: "somebody@simulator.example",
  from: "192.0.2.1",
  host: "",
  method: "POST",
  path: "/cloudapi/v6/datacenters",
  type: "RequestAccepted",
  status: "DONE",
  message: accepted,
  requestId: id,
  resources: [{ type: "datacenter", id, action: "vr.datacenter.create" }],
});

/**
 * Whether the operation continues after the answer. Newer services, which have their own error payload, provision after
 * a 201; a scaling group is deleted after its 204.
 */
const continues = ({ payload }: Route, { status }: Reply) =>
  status === 202 || status === 204 || (status === 201 && payload !== undefined);

const pathOf = ({ url }: RequestRecord) => new URL(url).pathname;

const targetsOf = (record: RequestRecord): Entry["resources"] =>
  record.targets.map(({ id, type }) => ({
    type: typeName(type),
    id,
    action: actionName(record.method, pathOf(record), typeName(type)),
  }));
