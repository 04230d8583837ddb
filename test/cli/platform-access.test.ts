import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openPlatform, withAccount } from "../../src/cli/platform-access.ts";
import { scriptedServer } from "../platform/scripted-server.ts";
import { paths, token } from "./scripted-platform.ts";

describe("access by the environment", () => {
  it("has the endpoints and the token of it", async () => {
    await using access = await openPlatform({
      env: { MOORING_ENDPOINTS: '{"api":"http://a/"}', MOORING_TOKEN: token },
    });
    expect(access.endpoint("api")).toBe("http://a");
    expect(access.connection().identity?.userId).toBe("user-1");
  });

  it("says what to set, only when it is needed", async () => {
    await using access = await openPlatform({ env: { MOORING_ENDPOINTS: '{"objectStorage":"http://s"}' } });
    expect(access.endpoint("objectStorage")).toBe("http://s");
    expect(() => access.endpoint("api")).toThrow('MOORING_ENDPOINTS has no "api"');
    expect(() => access.connection()).toThrow("MOORING_TOKEN is not set");
    await using nothing = await openPlatform({ env: {} });
    expect(() => nothing.endpoint("api")).toThrow('MOORING_ENDPOINTS is not set: set it to a JSON object with "api"');
  });

  it("has the public endpoints of a platform, and single ones over them", async () => {
    const env = { MOORING_ENDPOINTS: '{"dns":"http://dns"}', MOORING_REGION: "de/txl" };
    await using access = await openPlatform({ platform: "ionos", env });
    expect(access.endpoint("api")).toBe("https://api.ionos.com");
    expect(access.endpoint("streaming")).toBe("https://kafka.de-txl.ionos.com");
    expect(access.endpoint("dns")).toBe("http://dns");
    await expect(openPlatform({ platform: "other", env })).rejects.toThrow('--platform: "other" is unknown');
  });

  it("fills in the region where an endpoint needs one", async () => {
    const env = { MOORING_ENDPOINTS: '{"api":"http://a","logging":"http://logging.{region}.example"}' };
    await using access = await openPlatform({ env });
    expect(access.endpoint("api")).toBe("http://a");
    expect(() => access.endpoint("logging")).toThrow("set MOORING_REGION");
    await using regional = await openPlatform({ env: { ...env, MOORING_REGION: "de/fra" } });
    expect(regional.endpoint("logging")).toBe("http://logging.de-fra.example");
  });

  it.each(["{", "[]", '{"api": 1}', '{"api": "ftp://x"}'])("refuses MOORING_ENDPOINTS=%s", async (text) => {
    await expect(openPlatform({ env: { MOORING_ENDPOINTS: text } })).rejects.toThrow(/^MOORING_ENDPOINTS.*JSON object/);
  });
});

describe("access through a proxy", () => {
  const url = "http://api.example.com/contracts";
  const open = (more: Record<string, string>) =>
    openPlatform({ env: { MOORING_TOKEN: token, MOORING_ENDPOINTS: '{"api":"http://api.example.com"}', ...more } });

  it("asks the proxy of the environment for the platform", async () => {
    await using proxy = await scriptedServer((_, response) => response.end("{}"));
    await using access = await open({ http_proxy: proxy.url });
    expect(await access.connection().send({ method: "GET", url })).toMatchObject({ status: 200 });
    expect(proxy.arrived.map(({ url }) => url)).toEqual([url]);
  });

  it("refuses one that is no URL by its name, without its value", async () => {
    await expect(open({ HTTPS_PROXY: "user:a-password@proxy:3128" })).rejects.toThrow(
      /^HTTPS_PROXY must be an http or https URL such as http:\/\/proxy.example.com:3128$/,
    );
  });
});

describe("access by an Account", () => {
  const account = {
    spec: {
      endpoints: { api: "http://api.example", objectStorage: "http://s3.{region}.example" },
      region: "de/fra",
      credentialsSecretRef: { name: "access" },
    },
  };
  const accountPath = "/apis/mooring.dev/v1alpha1/namespaces/team/accounts/main";
  const secretPath = "/api/v1/namespaces/team/secrets/access";
  const secret = { data: { token: Buffer.from(`${token}\n`).toString("base64") } };

  const open = (answers: Record<string, unknown>, namespace?: string, more: Record<string, string> = {}) =>
    inCluster(answers, (KUBECONFIG) => openPlatform({ account: "main", namespace, env: { KUBECONFIG, ...more } }));

  async function inCluster<T>(answers: Record<string, unknown>, use: (kubeconfig: string) => Promise<T>): Promise<T> {
    await using cluster = await scriptedServer(paths(answers));
    const folder = mkdtempSync(join(tmpdir(), "mooring-access-"));
    const kubeconfig = join(folder, "config");
    const config = {
      "current-context": "c",
      clusters: [{ name: "c", cluster: { server: cluster.url } }],
      contexts: [{ name: "c", context: { cluster: "c", namespace: "team" } }],
    };
    writeFileSync(kubeconfig, JSON.stringify(config));
    try {
      return await use(kubeconfig);
    } finally {
      rmSync(folder, { recursive: true });
    }
  }

  it("has its endpoints, with the region, and the token of its Secret", async () => {
    await using access = await open({ [accountPath]: account, [secretPath]: secret });
    expect(access.endpoint("objectStorage")).toBe("http://s3.de-fra.example");
    expect(() => access.endpoint("logging")).toThrow("Account team/main has no spec.endpoints.logging");
    expect(access.connection().identity?.userId).toBe("user-1");
  });

  it("has the operator's endpoints, where it names none, from MOORING_ENDPOINTS", async () => {
    const MOORING_ENDPOINTS = '{"logging": "http://logs.{region}.example", "objectStorage": "http://other.example"}';
    await using access = await open({ [accountPath]: account, [secretPath]: secret }, "team", { MOORING_ENDPOINTS });
    expect(access.endpoint("logging")).toBe("http://logs.de-fra.example");
    expect(access.endpoint("objectStorage")).toBe("http://s3.de-fra.example");
  });

  it("is that of the only Account of the namespace, unless a flag or the environment says more", async () => {
    const list = { items: [{ metadata: { name: "main", namespace: "team" } }] };
    const answers = { "/apis/mooring.dev/v1alpha1/namespaces/team/accounts": list };
    const asked = (given: object, more: object = {}) =>
      inCluster(answers, (KUBECONFIG) => withAccount(given, { KUBECONFIG, ...more }));
    expect(await asked({})).toEqual({ account: "main", namespace: "team" });
    expect(await asked({ account: "second" })).toEqual({ account: "second" });
    expect(await asked({ namespace: "other" })).toEqual({ namespace: "other" });
    expect(await asked({}, { MOORING_TOKEN: token })).toEqual({});
    expect(await withAccount({}, { KUBECONFIG: "/nowhere" })).toEqual({});
  });

  it("says which Account is not there", async () => {
    await expect(open({ [accountPath]: account }, "other")).rejects.toThrow("Account other/main not found");
  });

  it("says which Secret lacks the token", async () => {
    await using access = await open({ [accountPath]: account });
    expect(() => access.connection()).toThrow("Account team/main: Secret access has no key token");
  });
});
