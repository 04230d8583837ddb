import { NotFound } from "../../../src/platform/answers/errors.ts";
import type { Connection, PlatformCall, Reply } from "../../../src/platform/calls/transport.ts";
import { API } from "./fake-platform.ts";

/** Metric pipelines of a few lines: each has one key that counts, told once. What a call meets is in the test's hands. */
export function fakePipelines() {
  const items = new Map<string, { name: string; key: string }>();
  /** Every key that was ever told. */
  const keys: string[] = [];
  const calls: PlatformCall[] = [];
  let before: (call: PlatformCall) => void = () => {};
  let after: (call: PlatformCall) => void = () => {};

  const newKey = () => {
    const key = `the-secret-key-${keys.length + 1}`;
    keys.push(key);
    return key;
  };
  const missing = (id: string) => new NotFound({ call: `/pipelines/${id}`, status: 404 });
  function shown(id: string, key?: string) {
    const item = items.get(id);
    if (!item) throw missing(id);
    const metadata = { status: "AVAILABLE", createdByUserId: "u1", httpEndpoint: `${API}/in`, ...(key && { key }) };
    return { id, metadata, properties: { name: item.name } };
  }
  function make(id: string, name: string) {
    const key = newKey();
    items.set(id, { name, key });
    return shown(id, key);
  }
  function answer({ method, url, body }: PlatformCall): unknown {
    const [, , id, part] = new URL(url).pathname.split("/");
    const name = String(Reflect.get(Object(Reflect.get(Object(body), "properties")), "name"));
    if (id === undefined) {
      return method === "POST"
        ? make(`mp-${keys.length + 1}`, name)
        : { items: [...items.keys()].map((each) => shown(each)) };
    }
    const item = items.get(id);
    if (method === "PUT" && !item) return make(id, name);
    if (!item) throw missing(id);
    if (part === "key") {
      item.key = newKey();
      return { key: item.key };
    }
    if (method === "PUT") item.name = name;
    if (method === "DELETE") return void items.delete(id);
    return shown(id);
  }

  const connection: Connection = {
    id: "shop/main",
    async send(call): Promise<Reply> {
      call.guard?.();
      calls.push(call);
      before(call);
      const body = answer(call);
      after(call);
      return { status: 200, headers: {}, body };
    },
    setCredentials: () => {},
    identity: { userId: "u1" },
    contractNumber: 1,
    close: async () => {},
  };

  return {
    items,
    keys,
    connection,
    make,
    /** Writes so far, as method and path. */
    writes: () =>
      calls.filter(({ method }) => method !== "GET").map(({ method, url }) => `${method} ${new URL(url).pathname}`),
    isGood: (key: string | undefined) => [...items.values()].some((item) => item.key === key),
    beforeEach(next: typeof before) {
      before = next;
    },
    afterEach(next: typeof after) {
      after = next;
    },
  };
}
export type FakePipelines = ReturnType<typeof fakePipelines>;
