import { z } from "zod";
import { type Chance, type Counters, uuidOfName } from "../chance.ts";
import { type Call, type Reply, type Route, requestIn } from "../http/exchange.ts";
import type { Identity } from "../identity/identity.ts";
import { type Activity, type Entry, entrySchema, type Settled } from "../records/activity.ts";
import type { RequestRecord } from "../records/requests.ts";
import type { Documents } from "../store/documents.ts";
import type { SimulatedClock } from "../time.ts";
import { actionName, askedModel, minting, namedIn, notedAs, typeName } from "./names.ts";

/** The oldest entries go when there are more. */
export const mostEntries = 100_000;
/** Of reads fewer are kept, in memory only, and apart: they push no change out. */
export const mostReads = 5_000;
const retention = 35 * 86_400_000;

export interface ActivityParts {
  documents: Documents;
  counters: Counters;
  chance: Chance;
  clock: SimulatedClock;
  identity: Pick<Identity, "users">;
  /** Keeps the count of one contract from those of the others. */
  scope: string;
}

export function createActivity({ documents, counters, chance, clock, identity, scope }: ActivityParts): Activity {
  const entries = documents.table("activity", entrySchema);
  const nameOf = (userId: string) => identity.users.get(userId)?.username ?? "";

  type Noted = Omit<Entry, "n" | "error"> & Partial<Pick<Entry, "error">>;

  function note(entry: Noted): void {
    const n = counters.next(`${scope}activity`);
    // A slot of a ring: a further entry takes the place of the oldest.
    entries.put(String(n % mostEntries), { error: null, ...entry, n });
  }

  const reads: Entry[] = [];
  let readsSoFar = 0;
  /** All that is kept, for those who read page after page. */
  let sorted: Entry[] | undefined;
  entries.watch(() => {
    sorted = undefined;
  });

  function noteRead(entry: Omit<Noted, "requestId">): void {
    const n = readsSoFar++;
    sorted = undefined;
    reads[n % mostReads] = { error: null, requestId: uuidOfName(`${scope}read/${n}`), ...entry, n };
  }

  const hostOf = (origin: string) => origin.replace(/^https?:\/\//, "");
  const ofCall = ({ at, caller, from, origin, method, path }: Call) => ({
    at,
    username: caller.user.username,
    from,
    host: hostOf(origin),
    method,
    path,
  });

  /** What an answer names, else what the path does. */
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

  /** What has ended while a call is answered; undefined: none is. */
  let endedMeanwhile: Settled[] | undefined;

  function noteEnd({ method, collection, type, id, by, failure }: Settled): void {
    const path = method === "POST" ? collection : `${collection}/${id}`;
    note({
      at: clock.now(),
      username: nameOf(by),
      from: "",
      host: "",
      method,
      path,
      type: "Provision",
      status: failure === null ? "DONE" : "FAILED",
      message: failure ?? "Provisioning has ended",
      requestId: chance.uuid("activity-request"),
      resources: [{ type, id, action: actionName(method, path, type) }],
    });
  }

  function noteCall(call: Call, route: Route, reply: Reply): void {
    const request = requestIn(reply);
    const noted = notedAs(route);
    if (noted === undefined || (reply.status === 202 && request !== undefined)) return;
    if (noted === "read") {
      const resources = resourcesOf(call, route, reply);
      noteRead({ ...ofCall(call), type: "Read", status: "DONE", message: "Request has been answered", resources });
      return;
    }
    note({
      ...ofCall(call),
      type: route.template === minting ? "GenerateToken" : "RequestAccepted",
      status: goesOn(route, reply) ? "QUEUED" : "DONE",
      message: "Request has been accepted",
      requestId: request ?? chance.uuid("activity-request"),
      resources: resourcesOf(call, route, reply),
    });
  }

  return {
    accepted(call, record) {
      note({
        ...ofCall(call),
        type: "RequestAccepted",
        status: "QUEUED",
        message: "Request has been accepted",
        requestId: record.id,
        resources: targetsOf(record),
      });
    },
    ended(record, failure) {
      const step = {
        at: record.dueAt,
        username: nameOf(record.createdBy),
        from: "",
        host: "",
        method: record.method,
        path: pathOf(record),
        message: failure ?? record.message,
        requestId: record.id,
        resources: targetsOf(record),
      };
      if (failure === null) note({ ...step, type: "Provision", status: "DONE" });
      note({ ...step, type: "RequestStatusUpdate", status: failure === null ? "DONE" : "FAILED" });
    },
    settled(what) {
      if (endedMeanwhile === undefined) noteEnd(what);
      else endedMeanwhile.push(what);
    },
    called(call, route, work) {
      const ends: Settled[] = [];
      endedMeanwhile = ends;
      try {
        const reply = work();
        noteCall(call, route, reply);
        for (const each of ends) noteEnd(each);
        return reply;
      } finally {
        endedMeanwhile = undefined;
      }
    },
    refused(call, route, { status, messages }) {
      const noted = notedAs(route);
      if (noted === undefined) return;
      const message = `Request was refused with ${status}`;
      // The platform's words may quote the body: the name of the field says enough.
      const withField = (text: string) => [/^\[[\w().-]+\]/.exec(text)?.[0] ?? [], message].flat().join(" ");
      const refused = {
        ...ofCall(call),
        status: "FAILED" as const,
        message,
        resources: resourcesOf(call, route),
        error: {
          httpStatus: status,
          messages: messages.map((each) => ({ errorCode: each.errorCode, message: withField(each.message) })),
        },
      };
      if (noted === "read") noteRead({ ...refused, type: "Read" });
      else note({ ...refused, type: "Error", requestId: chance.uuid("activity-request") });
    },
    login({ user, succeeded, at, from, origin, method, path }) {
      note({
        at,
        username: user.username,
        from,
        host: hostOf(origin),
        method,
        path,
        type: "Login",
        status: succeeded ? "DONE" : "FAILED",
        message: succeeded ? "Logged in by password" : "The credentials are not valid",
        requestId: chance.uuid("activity-request"),
        resources: [{ type: "user", id: user.id, action: "auth.user.login" }],
      });
    },
    fill(count, from, to) {
      for (let nth = 0; nth < count; nth++) {
        const id = chance.uuid("activity-request");
        note({
          at: Math.floor(from + ((to - from) * nth) / count),
          username: "somebody@simulator.example",
          from: "192.0.2.1",
          host: "",
          method: "POST",
          path: "/cloudapi/v6/datacenters",
          type: "RequestAccepted",
          status: "DONE",
          message: "Request has been accepted",
          requestId: id,
          resources: [{ type: "datacenter", id, action: "vr.datacenter.create" }],
        });
      }
    },
    read(from, to) {
      const oldest = Math.max(from, clock.now() - retention);
      sorted ??= [...entries.values(), ...reads].sort((a, b) => a.at - b.at || a.n - b.n);
      return sorted.filter(({ at }) => at >= oldest && at < to);
    },
  };
}

/** Newer services, which word their refusals themselves, go on provisioning after 201; a scaling group goes after its 204. */
const goesOn = ({ payload }: Route, { status }: Reply) =>
  status === 202 || status === 204 || (status === 201 && payload !== undefined);

const pathOf = ({ url }: RequestRecord) => new URL(url).pathname;

const targetsOf = (record: RequestRecord): Entry["resources"] =>
  record.targets.map(({ id, type }) => ({
    type: typeName(type),
    id,
    action: actionName(record.method, pathOf(record), typeName(type)),
  }));
