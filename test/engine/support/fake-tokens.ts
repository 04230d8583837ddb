import { NotFound, Unauthorized } from "../../../src/platform/answers/errors.ts";
import { type Credentials, tokenIdentity } from "../../../src/platform/calls/credentials.ts";
import type { Connection, PlatformCall, Reply } from "../../../src/platform/calls/transport.ts";

/**
 * The tokens of one user in a few lines: each is told once. What a call meets is in the test's hands. `aheadMs`: what a connection knows
 * of the platform's clock.
 */
export function fakeTokens(now: () => number, aheadMs = 0) {
  const items = new Map<string, { createdAt: number; expiresAt: number; value: string }>();
  /** Every value that was ever told. */
  const values: string[] = [];
  const calls: PlatformCall[] = [];
  /** The entries of the activity log. */
  const activity: object[] = [];
  let most = 0;
  let before: (call: PlatformCall) => void = () => {};
  let after: (call: PlatformCall) => void = () => {};

  function make(ttl: number): string {
    const id = `00000000-0000-4000-8000-${String(values.length + 1).padStart(12, "0")}`;
    const createdAt = Math.floor(now() / 1000) * 1000;
    const expiresAt = createdAt + ttl * 1000;
    const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString("base64url");
    const head = encode({ typ: "JWT", alg: "RS256", kid: id });
    const value = `${head}.${encode({ iat: createdAt / 1000, exp: expiresAt / 1000, identity: { uuid: "u1" } })}.signature-${id}`;
    items.set(id, { createdAt, expiresAt, value });
    values.push(value);
    most = Math.max(most, items.size);
    return value;
  }
  function shown(id: string) {
    const item = items.get(id);
    if (!item) throw new NotFound({ call: `/tokens/${id}`, status: 404 });
    const [createdDate, expirationDate] = [item.createdAt, item.expiresAt].map((at) => new Date(at).toISOString());
    return { id, href: "", createdDate, expirationDate };
  }
  function answer({ method, url, headers = {} }: PlatformCall): unknown {
    const { pathname, searchParams } = new URL(url);
    const id = pathname.split("/")[4];
    if (pathname.startsWith("/activitylog/")) return { hits: { total: activity.length, hits: activity } };
    if (pathname.endsWith("/contracts")) return { items: [{ properties: { contractNumber: 1 } }] };
    if (searchParams.get("criteria") === "EXPIRED") {
      for (const [each, { expiresAt }] of items) if (expiresAt <= now()) items.delete(each);
      return { success: true };
    }
    if (searchParams.get("criteria") === "CURRENT") {
      const own = headers.authorization?.replace("Bearer ", "");
      for (const [each, { value }] of items) if (value === own) items.delete(each);
      return { success: true };
    }
    if (id === "generate") return { token: make(Number(searchParams.get("ttl"))) };
    if (id === undefined) return { tokens: [...items.keys()].map(shown) };
    const found = shown(id);
    if (method !== "DELETE") return found;
    items.delete(id);
    return { success: true };
  }
  let credentials: Credentials = {};
  const login = { username: "ops@example.org", password: "the-secret-password" };
  /** With a password that is right, or a token that works; what has neither is not asked for one. */
  function admit({ withPassword, method, url, headers = {} }: PlatformCall): void {
    const own = headers.authorization?.replace("Bearer ", "");
    const isLogin = credentials.login?.username === login.username && credentials.login.password === login.password;
    const token = [...items.values()].find(({ value }) => value === credentials.token);
    if (own !== undefined && [...items.values()].some(({ value }) => value === own)) return;
    if (
      withPassword
        ? isLogin && own === undefined
        : credentials.token === undefined || (token && token.expiresAt > now())
    )
      return;
    const call = `${method} ${new URL(url).pathname}`;
    throw new Unauthorized({ call, status: 401, platformMessage: "the credentials are wrong" });
  }
  const connection: Connection = {
    id: "shop/main",
    async send(call): Promise<Reply> {
      call.guard?.();
      calls.push(call);
      before(call);
      admit(call);
      const body = answer(call);
      after(call);
      return { status: 200, headers: {}, body };
    },
    setCredentials(next) {
      credentials = { ...(credentials.token !== undefined && { token: credentials.token }), ...next };
    },
    get identity() {
      return { userId: "u1", ...(credentials.token !== undefined && tokenIdentity(credentials.token)) };
    },
    contractNumber: 1,
    aheadMs,
    close: async () => {},
  };
  return {
    items,
    values,
    calls,
    login,
    connection,
    make,
    forgetMost() {
      most = 0;
    },
    /** Somebody revokes all of them. */
    revokeByHand() {
      for (const id of items.keys()) {
        const event = { status: "DONE", resources: [{ type: "token", id, action: ["auth.token.delete"] }] };
        activity.push({
          _source: { time: new Date(now()).toISOString(), user: "a@b", action: "auth.token.delete", event },
        });
      }
      items.clear();
    },
    /** The most that there have ever been at once. */
    most: () => most,
    isGood: (value: string | undefined) => [...items.values()].some((item) => item.value === value),
    beforeEach(next: typeof before) {
      before = next;
    },
    afterEach(next: typeof after) {
      after = next;
    },
  };
}
