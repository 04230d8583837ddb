import { NotFound, Retry } from "../../../src/platform/answers/errors.ts";
import type { Connection, PlatformCall, Reply } from "../../../src/platform/calls/transport.ts";
import { API } from "./fixtures.ts";

export { API };

const BASE = "/cloudapi/v6";

export interface Logged {
  id: string;
  at: string;
  method: string;
  path: string;
  body: string;
  status: string;
  targets: string[];
  /** Not in the log before that, by the platform's clock. */
  loggedAt?: number;
  /** The platform's word for a target; left out where a test does not care. */
  type?: string;
  user: string;
}

export interface FakeItem {
  state: string;
  properties: object;
  user: string;
  /** The collection that shows it; every one when absent. */
  path?: string;
  /** When it was made, as the platform shows it. */
  born?: string;
  entities?: object;
  /** Not shown before that, by the platform's clock. */
  visibleAt?: number;
}

/** How long things take, where a test wants them to take time. */
export interface Pace {
  made?: (item: FakeItem, logged: Logged, remove: () => void) => void;
  /** A deletion that was accepted; without it, what is deleted is gone at once. */
  removing?: (item: FakeItem, logged: Logged, remove: () => void) => void;
}

type Making = Partial<Logged & { visible: boolean; state: string; visibleAt: number; entities: object }>;

/** The resources and the log of requests, as the core API shows them. The test decides the fate of each call. */
export function fakePlatform(contract: number | undefined = 1) {
  const items = new Map<string, FakeItem>();
  const log: Logged[] = [];
  const calls: PlatformCall[] = [];
  let now = () => Date.UTC(2026, 0, 1);
  /** Called when a call arrives; may throw instead of letting it pass. */
  let before: (call: PlatformCall) => void = () => {};
  /** Called when it was executed; may throw, as if the answer were lost. */
  let after: (call: PlatformCall) => void = () => {};
  let pace: Pace = {};

  const date = () => new Date(now()).toISOString().replace(".000Z", "Z");
  const keyOf = (path: string, id: string) => (path.endsWith("/lans") ? `${path}/${id}` : id);
  const isShown = ({ visibleAt = 0 }: FakeItem) => now() >= visibleAt;
  const missing = (path: string) => new NotFound({ call: `GET ${path}`, status: 404 });
  /** Numbers are those of their datacenter; every other id stands for itself. */
  function find(path: string, id: string): { key: string; item: FakeItem } {
    const key = [keyOf(path, id), id].find((each) => items.has(each));
    const item = key === undefined ? undefined : items.get(key);
    if (key === undefined || !item || !isShown(item)) throw missing(`${path}/${id}`);
    return { key, item };
  }
  function wire(key: string, { state, properties, user, born, path, entities }: FakeItem): object {
    const id = key.slice(key.lastIndexOf("/") + 1);
    const parts = (name: string) => {
      const inside = [...items].filter(([, item]) => item.path === `${path}/${id}/${name}`);
      return { items: inside.map(([each, item]) => wire(each, item)) };
    };
    const deep = path?.endsWith("/servers") ? { volumes: parts("volumes"), nics: parts("nics") } : undefined;
    return {
      id,
      metadata: { state, createdByUserId: user, createdDate: born ?? "2026-01-01T00:00:00Z" },
      properties,
      ...((entities ?? deep) && { entities: entities ?? deep }),
    };
  }
  const requestOf = ({ id, at, method, path, body, status, targets, type, user }: Logged) => ({
    id,
    metadata: {
      createdDate: at,
      createdBy: user,
      createdByUserId: user,
      requestStatus: { metadata: { status, targets: targets.map((target) => ({ target: { id: target, type } })) } },
    },
    properties: { method, url: `${API}${BASE}${path}`, body },
  });
  const note = (more: Partial<Logged> & Pick<Logged, "path" | "body">): Logged => {
    const logged = {
      id: `req-${log.length}`,
      at: date(),
      method: "POST",
      status: "DONE",
      targets: [],
      user: "u1",
      ...more,
    };
    log.push(logged);
    return logged;
  };

  /** Resources that lists do not show. */
  let hidden: readonly string[] = [];

  /** Puts a resource there together with the request that made it. */
  function make(name: string, body: unknown, more: Making = {}): string {
    const { visible = true, state = "AVAILABLE", user = "u1", visibleAt, entities, path, targets, ...rest } = more;
    const id = targets?.[0] ?? (path?.endsWith("/lans") ? freeNumber(path) : `dc-${name}-${log.length}`);
    const properties: object = Object(Reflect.get(Object(body), "properties"));
    const logged = note({
      path: path ?? "/datacenters",
      body: JSON.stringify(body),
      targets: targets ?? [id],
      user,
      ...rest,
    });
    const item = { state, properties, user, born: logged.at };
    const shown = { ...(path !== undefined && { path }), ...(visibleAt !== undefined && { visibleAt }) };
    if (visible) items.set(keyOf(path ?? "", id), { ...item, ...shown, ...(entities && { entities }) });
    return id;
  }
  function freeNumber(path: string): string {
    let number = 1;
    while (items.has(`${path}/${number}`)) number++;
    return String(number);
  }

  function read(path: string, id: string | undefined, query = new URLSearchParams()): unknown {
    if (id !== undefined) {
      const { key, item } = find(path, id);
      return wire(key, item);
    }
    const at = now();
    // An item without a path is inside of nothing.
    const isTop = path.split("/").length === 2;
    const isShown = ([key, { visibleAt = 0, path: own = isTop ? path : undefined }]: [string, FakeItem]) =>
      at >= visibleAt && own === path && !hidden.includes(key);
    const here = items.entries().filter(isShown);
    const [offset, limit] = [Number(query.get("offset")), Number(query.get("limit") ?? 1000)];
    const page = here.drop(offset).take(limit);
    return { limit, items: [...page.map(([key, item]) => wire(key, item))] };
  }

  /** Executes a write, and says what it made or changed. */
  function write({ method, body }: PlatformCall, path: string, id: string | undefined): unknown {
    if (method === "POST" && id === undefined) {
      const name = String(Reflect.get(Object(body), "properties")?.name ?? "x");
      const id = make(name, body, path === "/datacenters" ? {} : { path });
      const key = items.has(keyOf(path, id)) ? keyOf(path, id) : id;
      const item = items.get(key);
      const logged = log.at(-1);
      if (!item || !logged) throw missing(path);
      pace.made?.(item, logged, () => items.delete(key));
      return wire(key, item);
    }
    const logged = { method, body: body === undefined ? "" : JSON.stringify(body) };
    if (method === "POST") return void note({ ...logged, path: `${path}/${id}` });
    const { key, item } = find(path, id ?? "");
    const noted = note({ ...logged, path: `${path}/${id}`, targets: [id ?? ""] });
    if (method === "DELETE") {
      const remove = () => void (items.get(key) === item && items.delete(key));
      if (!pace.removing) return remove();
      return pace.removing(item, noted, remove);
    }
    item.properties = { ...item.properties, ...Object(Reflect.get(Object(body), "properties") ?? body) };
    return wire(key, item);
  }

  function execute(call: PlatformCall): unknown {
    const { pathname, searchParams } = new URL(call.url);
    if (pathname.startsWith("/activitylog/")) return { hits: { total: 0, hits: [] } };
    // Every product has its version below its name.
    const whole = pathname.replace(/^\/[^/]+\/[^/]+/, "");
    const segments = whole.split("/").slice(1);
    const isMember = segments.length % 2 === 0;
    const id = isMember ? segments.at(-1) : undefined;
    const path = isMember ? whole.slice(0, whole.lastIndexOf("/")) : whole;
    const [collection, request] = segments;
    if (collection === "contracts") return { items: [{ id: "c", properties: { contractNumber: contract ?? 1 } }] };
    if (collection === "requests" && request === undefined) {
      return { items: log.filter(({ loggedAt = 0 }) => now() >= loggedAt).map(requestOf) };
    }
    if (collection === "requests") {
      const logged = log.find((each) => each.id === request);
      if (!logged) throw missing(whole);
      return requestOf(logged).metadata.requestStatus;
    }
    return call.method === "GET" ? read(path, id, searchParams) : write(call, path, id);
  }

  const connectionOf = (id: string, contractNumber = contract): Connection => ({
    id,
    async send(call): Promise<Reply> {
      if ((call.deadlineMs ?? 1) <= 0) throw new Retry({ call: `${call.method} ${call.url}`, status: 0 }, "no");
      call.guard?.();
      calls.push(call);
      before(call);
      const body = execute(call);
      const made = log.at(-1);
      after(call);
      const request = call.method !== "GET" && made ? { id: made.id, url: `/requests/${made.id}/status` } : undefined;
      return { status: 200, headers: {}, body, ...(request && { request }) };
    },
    setCredentials: () => {},
    identity: { userId: "u1" },
    contractNumber,
    close: async () => {},
  });

  return {
    items,
    log,
    calls,
    make,
    execute,
    connectionOf,
    /** Sets the platform's own clock; without one it stands still. */
    setClock(next: typeof now) {
      now = next;
    },
    setPace(next: Pace) {
      pace = next;
    },
    beforeEach(next: typeof before) {
      before = next;
    },
    afterEach(next: typeof after) {
      after = next;
    },
    /** Somebody deletes what is there, by its id, with a request of their own. */
    /** Lists no longer show these resources, and all others again. */
    hideInLists(...ids: string[]): void {
      hidden = ids;
    },
    removeByHand(id: string, { user = "somebody", ...more }: Partial<Logged> = {}): void {
      for (const [key, { path = "/datacenters" }] of items) {
        if (key !== id && !key.endsWith(`/${id}`)) continue;
        items.delete(key);
        note({ method: "DELETE", path: `${path}/${id}`, body: "", targets: [id], user, ...more });
      }
    },
    sent: (method: PlatformCall["method"]) => calls.filter((call) => call.method === method),
    /** Writes so far, as method and path. */
    writes: () =>
      calls.filter(({ method }) => method !== "GET").map(({ method, url }) => `${method} ${new URL(url).pathname}`),
  };
}
export type FakePlatform = ReturnType<typeof fakePlatform>;
