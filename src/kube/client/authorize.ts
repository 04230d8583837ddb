import { readFile } from "node:fs/promises";
import type { Clock } from "../../runtime/clock.ts";
import type { ExecPlugin, KubeconfigContext } from "./kubeconfig.ts";

/** Authentication headers; `refused` is true right after a 401. */
export type Authorize = (refused: boolean) => Promise<Record<string, string>>;

const REREAD_MS = 10_000;

const bearer = (token: string) => ({ authorization: `Bearer ${token.trim()}` });

/** A token in a file that is rotated: read again every ten seconds, and after a 401. */
export function tokenFile(path: string, clock: Clock): Authorize {
  let read: { headers: Record<string, string>; at: number } | undefined;
  return async (refused) => {
    if (read && !refused && clock.monotonic() - read.at < REREAD_MS) return read.headers;
    try {
      read = { headers: bearer(await readFile(path, "utf8")), at: clock.monotonic() };
    } catch (error) {
      // While the file is being replaced, the old token is still valid.
      if (!read) throw error;
    }
    return read.headers;
  };
}

/** The authentication of a kubeconfig user, except client certificates. */
export function authorizeBy(context: KubeconfigContext, clock: Clock): Authorize | undefined {
  const { user } = context;
  const impersonation: Record<string, string> = user.as ? { "impersonate-user": user.as } : {};
  const credentials = credentialsOf(context, clock);
  if (!credentials) return user.as ? async () => impersonation : undefined;
  return async (refused) => ({ ...(await credentials(refused)), ...impersonation });
}

function credentialsOf(context: KubeconfigContext, clock: Clock): Authorize | undefined {
  const { user } = context;
  if (user.tokenFile) return tokenFile(user.tokenFile, clock);
  const { token, username, password = "" } = user;
  if (token) return async () => bearer(token);
  if (username) {
    const basic = Buffer.from(`${username}:${password}`).toString("base64");
    return async () => ({ authorization: `Basic ${basic}` });
  }
  if (user.exec) return shared(plugin(user.exec, context.userName));
  if (user["auth-provider"]) return shared(provider(context));
  return undefined;
}

/**
 * Concurrent callers share one result: at startup, a plugin must not run once per watch. After a 401, a caller shares only the
 * result of another call after a 401: a call that began before may return the refused token again.
 */
function shared(ask: Authorize): Authorize {
  const asking = new Map<boolean, ReturnType<Authorize>>();
  return (refused) => {
    const known = asking.get(true) ?? asking.get(refused);
    if (known) return known;
    const asked = ask(refused).finally(() => asking.delete(refused));
    asking.set(refused, asked);
    return asked;
  };
}

/** The token of a credential plugin, cached until it expires or is refused. */
function plugin(exec: ExecPlugin, name: string): Authorize {
  const info = { apiVersion: exec.apiVersion, kind: "ExecCredential", spec: { interactive: false } };
  const env = [{ name: "KUBERNETES_EXEC_INFO", value: JSON.stringify(info) }, ...(exec.env ?? [])];
  const loading = import("@kubernetes/client-node/dist/exec_auth.js");
  loading.catch(() => {});
  let auth:
    | { applyAuthentication(user: unknown, options: { headers: Record<string, string> }): Promise<void> }
    | undefined;
  return async (refused) => {
    const { ExecAuth } = await loading;
    if (!auth || refused) auth = new ExecAuth();
    const options: { headers: Record<string, string>; cert?: string } = { headers: {} };
    await auth.applyAuthentication({ name, exec: { ...exec, env } }, options).catch((error: unknown) => {
      // The parser's message quotes the answer, which may hold a token.
      if (!(error instanceof SyntaxError)) throw error;
      throw new Error(`${exec.command}: the answer of this credential plugin is not valid JSON`);
    });
    if (options.cert) throw new Error(`${exec.command}: client certificates from credential plugins are not supported`);
    return options.headers;
  };
}

/** OIDC and other auth providers, handled by the official client. */
function provider({ cluster, user, userName: name }: KubeconfigContext): Authorize {
  const loading = import("@kubernetes/client-node/dist/config.js").then(({ KubeConfig }) => {
    const config = new KubeConfig();
    // Only its authentication is used. Connection and TLS verification are our own.
    config.loadFromClusterAndUser(
      { name: "cluster", server: cluster.server, skipTLSVerify: true },
      { name, authProvider: user["auth-provider"] },
    );
    return config;
  });
  loading.catch(() => {});
  return async () => {
    const options: { headers?: Record<string, string> } = {};
    await (await loading).applyToHTTPSOptions(options);
    return options.headers ?? {};
  };
}
