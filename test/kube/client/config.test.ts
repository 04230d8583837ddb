import { existsSync, readFileSync } from "node:fs";
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { authorizeBy } from "../../../src/kube/client/authorize.ts";
import { type ConnectOptions, connect } from "../../../src/kube/client/config.ts";
import { type FakeClock, fakeClock } from "../../fake-clock.ts";
import { eventually, status } from "../objects.ts";
import { type Exchange, type ScriptedServer, scriptedServer } from "../scripted-server.ts";

let folder: string;
let server: ScriptedServer;
let clock: FakeClock;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "kubeconfig-"));
  server = await scriptedServer();
  clock = fakeClock();
});

afterEach(async () => {
  await server[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

/** Writes a kubeconfig with one context `one` for the scripted server and this user. */
async function kubeconfig(user: object, name = "config", context: object = {}): Promise<string> {
  const path = join(folder, name);
  await mkdir(join(path, ".."), { recursive: true });
  const file = {
    apiVersion: "v1",
    kind: "Config",
    "current-context": "one",
    clusters: [{ name: "c", cluster: { server: server.url } }],
    contexts: [{ name: "one", context: { cluster: "c", user: "u", ...context } }],
    users: [{ name: "u", user }],
  };
  await writeFile(path, stringify(file));
  return path;
}

/** The request of a client with these options. */
async function sent(options: ConnectOptions): Promise<Exchange> {
  const client = await connect({ env: {}, clock, ...options });
  const answer = client.request({ method: "GET", path: "/version" });
  const exchange = await server.next();
  exchange.json(200, {});
  await answer;
  await client.close();
  return exchange;
}

describe("a kubeconfig's user", () => {
  test("proves itself by its token, its password, or a token in a file beside the kubeconfig", async () => {
    await writeFile(join(folder, "token"), "from-file\n");
    const basic = `Basic ${Buffer.from("me:secret").toString("base64")}`;
    for (const [user, header] of [
      [{ token: "t" }, "Bearer t"],
      [{ username: "me", password: "secret" }, basic],
      [{ tokenFile: "token" }, "Bearer from-file"],
      [{}, undefined],
    ] as const) {
      const { headers } = await sent({ kubeconfig: await kubeconfig(user), userAgent: "test/1" });
      expect(headers.authorization).toBe(header);
      expect(headers["user-agent"]).toBe("test/1");
    }
  });

  test("may act as somebody else", async () => {
    const { headers } = await sent({ kubeconfig: await kubeconfig({ token: "t", as: "jane" }) });
    expect(headers).toMatchObject({ authorization: "Bearer t", "impersonate-user": "jane" });
  });

  test("whose token file was renewed goes on with the new token, after a refusal at once", async () => {
    const token = join(folder, "token");
    await writeFile(token, "one");
    const client = await connect({ kubeconfig: await kubeconfig({ tokenFile: "token" }), clock });
    const call = async () => {
      const answer = client.request({ method: "GET", path: "/" });
      const exchange = await server.next();
      return { answer, exchange, token: exchange.headers.authorization };
    };
    const first = await call();
    await writeFile(token, "two");
    first.exchange.json(401, status(401, "Unauthorized"));
    const again = await server.next();
    expect([first.token, again.headers.authorization]).toEqual(["Bearer one", "Bearer two"]);
    again.json(200, {});
    await first.answer;
    await writeFile(token, "three");
    await clock.advance(10_000);
    const later = await call();
    later.exchange.json(200, {});
    await later.answer;
    await rm(token);
    await clock.advance(10_000);
    const missing = await call();
    missing.exchange.json(200, {});
    await missing.answer;
    expect([later.token, missing.token]).toEqual(["Bearer three", "Bearer three"]);
    await client.close();
  });

  test("proves itself by a credential plugin, which is asked again when its token is refused", async () => {
    const plugin = join(folder, "plugin.sh");
    const credential = '{"kind":"ExecCredential","status":{"token":"\'$WHO-$n\'"}}';
    const count = `n=$(cat ${folder}/n 2>/dev/null || echo 0); n=$((n+1)); echo $n > ${folder}/n`;
    await writeFile(plugin, `#!/bin/sh\n[ -n "$KUBERNETES_EXEC_INFO" ] || exit 1\n${count}\necho '${credential}'\n`);
    await chmod(plugin, 0o755);
    const exec = {
      apiVersion: "client.authentication.k8s.io/v1",
      command: "./plugin.sh",
      env: [{ name: "WHO", value: "p" }],
    };
    const client = await connect({ kubeconfig: await kubeconfig({ exec }), clock });
    const tokens: unknown[] = [];
    const answerNext = async (code: number) => {
      const exchange = await server.next();
      tokens.push(exchange.headers.authorization);
      exchange.json(code, {});
    };
    const calls = Array.from({ length: 3 }, () => client.request({ method: "GET", path: "/" }));
    for (const _ of [...calls]) await answerNext(200);
    calls.push(client.request({ method: "GET", path: "/" }));
    await answerNext(401);
    await answerNext(200);
    await Promise.all(calls);
    expect(tokens).toEqual([...Array(4).fill("Bearer p-1"), "Bearer p-2"]);
    await client.close();
  });

  test("whose token was refused does not get it again from a call that began before", async () => {
    const plugin = join(folder, "slow.sh");
    const credential = '{"kind":"ExecCredential","status":{"token":"\'$n\'"}}';
    const count = `n=$(cat ${folder}/slow 2>/dev/null || echo 0); n=$((n+1)); echo $n > ${folder}/slow`;
    // The first run waits until the test ends it, or is over.
    const held = `[ $n -ne 1 ] || while [ -d ${folder} ] && [ ! -e ${folder}/go ]; do sleep 0.05; done`;
    await writeFile(plugin, `#!/bin/sh\n${count}\n${held}\necho '${credential}'\n`);
    await chmod(plugin, 0o755);
    const user = { exec: { apiVersion: "client.authentication.k8s.io/v1", command: plugin } };
    const authorize = authorizeBy({ cluster: { server: server.url }, user, userName: "u" }, clock);
    const before = authorize?.(false);
    const counted = join(folder, "slow");
    await eventually(() => existsSync(counted) && readFileSync(counted, "utf8") !== "");
    const refreshed = [authorize?.(true), authorize?.(true), authorize?.(false)];
    await writeFile(join(folder, "go"), "");
    expect(await Promise.all(refreshed)).toEqual(Array(3).fill({ Authorization: "Bearer 2" }));
    expect(await before).toEqual({ Authorization: "Bearer 1" });
  });

  test("proves itself by OpenID Connect", async () => {
    const payload = Buffer.from(JSON.stringify({ exp: Date.now() / 1000 + 3600 })).toString("base64url");
    const token = `e30.${payload}.sig`;
    const config = { "id-token": token, "client-id": "c", "idp-issuer-url": "https://issuer.invalid" };
    const { headers } = await sent({ kubeconfig: await kubeconfig({ "auth-provider": { name: "oidc", config } }) });
    expect(headers.authorization).toBe(`Bearer ${token}`);
  });
});

describe("which cluster", () => {
  test("the file given, and the context asked for", async () => {
    const path = await kubeconfig({ token: "t" }, "config", { namespace: "team" });
    const client = await connect({ kubeconfig: path, context: "one", env: { KUBERNETES_SERVICE_HOST: "10.0.0.1" } });
    expect([client.server, client.namespace]).toEqual([server.url, "team"]);
    await client.close();
    await expect(connect({ kubeconfig: path, context: "two" })).rejects.toThrow('there is no context "two"');
  });

  test("the service account in a pod", async () => {
    for (const [name, content] of [
      ["ca.crt", ""],
      ["token", "t"],
      ["namespace", "system\n"],
    ] as const) {
      await writeFile(join(folder, name), content);
    }
    const env = { KUBERNETES_SERVICE_HOST: "fd00::1", KUBERNETES_SERVICE_PORT: "6443", KUBECONFIG: "/nowhere" };
    const client = await connect({ env, serviceAccount: folder });
    expect([client.server, client.namespace]).toEqual(["https://[fd00::1]:6443", "system"]);
    await client.close();
  });

  test("KUBECONFIG, of whose files the first to define something wins, else the one in the home folder", async () => {
    const one = await kubeconfig({ token: "one" }, "a");
    const two = await kubeconfig({ token: "two" }, "b");
    const home = await kubeconfig({ token: "home" }, ".kube/config");
    const KUBECONFIG = [join(folder, "missing"), one, two].join(delimiter);
    expect((await sent({ env: { KUBECONFIG } })).headers.authorization).toBe("Bearer one");
    expect((await sent({ env: { HOME: folder } })).headers.authorization).toBe("Bearer home");
    await rm(home);
    await expect(connect({ env: { HOME: folder } })).rejects.toThrow("no cluster to connect to");
  });

  test("a broken file is named, and nothing of it quoted", async () => {
    const path = join(folder, "broken");
    for (const text of ["users:\n- {name: u, user: {token: [hunter2", "users: [{name: u, user: {token: [hunter2]}}]"]) {
      await writeFile(path, text);
      const broken = connect({ kubeconfig: path });
      await expect(broken).rejects.toThrow(path);
      await expect(broken).rejects.not.toThrow("hunter2");
    }
    await expect(connect({ kubeconfig: join(folder, "missing") })).rejects.toThrow("no such file");
  });
});

test.each(["the-secret-token", '{"status": {"token": "the-secret-token"} and more', ""])(
  "a credential plugin that answers no JSON is named, and its answer is not quoted: %j",
  async (answer) => {
    const exec = { apiVersion: "client.authentication.k8s.io/v1", command: "/bin/echo", args: [answer] };
    const client = await connect({ kubeconfig: await kubeconfig({ exec }), clock });
    await expect(client.request({ method: "GET", path: "/" })).rejects.toThrow(
      /^(?!.*secret).*\/bin\/echo: the answer of this credential plugin is not valid JSON$/s,
    );
    await client.close();
  },
);
