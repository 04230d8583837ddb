import { NotFound, Retry } from "../../src/platform/errors.ts";
import type { Connection, PlatformCall, Reply } from "../../src/platform/transport.ts";

export const API = "http://platform.test";
const BASE = "/cloudapi/v6";

interface Logged {
  id: string;
  at: string;
  path: string;
  body: string;
  status: string;
  targets: string[];
  /** The platform's word for a target; left out where a test does not care. */
  type?: string;
  user: string;
}

/** Datacenters, or what is in one, and the log of requests, as the core API shows them; what a call meets is in the test's hands. */
export function fakePlatform(contract: number | undefined = 1) {
  const items = new Map<string, { state: string; properties: object; user: string }>();
  const log: Logged[] = [];
  const calls: PlatformCall[] = [];
  /** Called when a call arrives; may throw instead of letting it pass. */
  let before: (call: PlatformCall) => void = () => {};
  /** Called when it was executed; may throw, as if the answer were lost. */
  let after: (call: PlatformCall) => void = () => {};

  const shown = (id: string) => {
    const item = items.get(id);
    if (!item) throw new NotFound({ call: `GET /datacenters/${id}`, status: 404 });
    const metadata = { state: item.state, createdByUserId: item.user, createdDate: "2026-01-01T00:00:00Z" };
    return { id, metadata, properties: item.properties };
  };
  const requestOf = ({ id, at, path, body, status, targets, type, user }: Logged) => ({
    id,
    metadata: {
      createdDate: at,
      createdByUserId: user,
      requestStatus: { metadata: { status, targets: targets.map((target) => ({ target: { id: target, type } })) } },
    },
    properties: { method: "POST", url: `${API}${BASE}${path}`, body },
  });

  function answer({ method, url, body }: PlatformCall): unknown {
    const { pathname, searchParams } = new URL(url);
    const path = pathname.slice(BASE.length);
    const [collection, ...rest] = path.split("/").slice(1);
    const id = rest.length % 2 === 1 ? rest.at(-1) : undefined;
    if (collection === "contracts") return { items: [{ id: "c", properties: { contractNumber: contract ?? 1 } }] };
    if (collection === "requests" && rest.length === 0) return { items: log.map(requestOf) };
    if (collection === "requests") {
      const logged = log.find((each) => each.id === rest[0]);
      if (!logged) throw new NotFound({ call: `GET ${path}`, status: 404 });
      return requestOf(logged).metadata.requestStatus;
    }
    if (method === "POST") return shown(make(String(Reflect.get(Object(body), "properties")?.name ?? "x"), body));
    if (id !== undefined) return shown(id);
    const [offset, limit] = [Number(searchParams.get("offset")), Number(searchParams.get("limit") ?? 1000)];
    return { limit, items: [...items.keys().drop(offset).take(limit)].map(shown) };
  }

  /** Puts a datacenter there together with the request that made it. */
  function make(name: string, body: unknown, more: Partial<Logged & { visible: boolean; state: string }> = {}): string {
    const id = more.targets?.[0] ?? `dc-${name}-${log.length}`;
    const properties: object = Object(Reflect.get(Object(body), "properties"));
    const { visible = true, state = "AVAILABLE", user = "u1", ...rest } = more;
    if (visible) items.set(id, { state, properties, user });
    log.push({
      id: `req-${log.length}`,
      at: "2026-01-01T00:00:00Z",
      path: "/datacenters",
      body: JSON.stringify(body),
      status: "DONE",
      targets: [id],
      user,
      ...rest,
    });
    return id;
  }

  const connectionOf = (id: string, contractNumber = contract): Connection => ({
    id,
    async send(call): Promise<Reply> {
      if ((call.deadlineMs ?? 1) <= 0) throw new Retry({ call: `${call.method} ${call.url}`, status: 0 }, "no");
      call.guard?.();
      calls.push(call);
      before(call);
      const body = answer(call);
      after(call);
      const made = log.at(-1);
      const request = call.method === "POST" && made ? { id: made.id, url: `/requests/${made.id}/status` } : undefined;
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
    connectionOf,
    beforeEach(next: typeof before) {
      before = next;
    },
    afterEach(next: typeof after) {
      after = next;
    },
    sent: (method: PlatformCall["method"]) => calls.filter((call) => call.method === method),
  };
}
export type FakePlatform = ReturnType<typeof fakePlatform>;
