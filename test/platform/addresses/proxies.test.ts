import { createServer as createHttp } from "node:http";
import { createServer as createHttps } from "node:https";
import { type AddressInfo, connect as connectTo, type Socket } from "node:net";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { type Proxies, proxyFor } from "../../../src/platform/addresses/proxies.ts";
import { createTransport, type TransportOptions } from "../../../src/platform/calls/transport.ts";
import { newAuthority, serverCertificate, validFor } from "../../../src/simulator/certificates.ts";
import { fakeClock } from "../../fake-clock.ts";

const cleanup: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of cleanup.splice(0)) await close();
});

const validity = validFor(Date.now(), 2);
let authority: Awaited<ReturnType<typeof newAuthority>>;
let tls: { cert: string; key: string };
beforeAll(async () => {
  authority = await newAuthority("a platform of our own", validity);
  const { certificate: cert, privateKey: key } = await serverCertificate(authority, ["api.example.com"], validity);
  tls = { cert, key };
});

type Server = ReturnType<typeof createHttp> | ReturnType<typeof createHttps>;
async function portOf(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanup.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** The platform under a name that only the proxy resolves. */
async function platform() {
  const seen: (string | undefined)[] = [];
  const port = await portOf(
    createHttps(tls, (request, response) => {
      seen.push(request.headers.authorization);
      response.end("{}");
    }),
  );
  return { port, seen, url: `https://api.example.com:${port}/x` };
}

/** A proxy that resolves api.example.com. With `refuses`, it answers CONNECT with that status. */
async function proxy({ refuses }: { refuses?: number } = {}) {
  const asked: { target: string | undefined; authorization: string | undefined }[] = [];
  const open = new Set<Socket>();
  const server = createHttp((request, response) => {
    asked.push({ target: request.url, authorization: request.headers["proxy-authorization"] });
    response.end("{}");
  });
  server.on("connect", (request, socket: Socket) => {
    asked.push({ target: request.url, authorization: request.headers["proxy-authorization"] });
    open.add(socket.on("error", () => {}));
    if (refuses !== undefined) return void socket.end(`HTTP/1.1 ${refuses} No\r\n\r\n`);
    const upstream = connectTo(Number(request.url?.split(":")[1]), "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
      upstream.pipe(socket).pipe(upstream);
    });
    open.add(upstream.on("error", () => {}));
    return undefined;
  });
  const port = await portOf(server);
  cleanup.push(() => {
    for (const socket of open) socket.destroy();
  });
  return { asked, url: `http://someone:a-password@127.0.0.1:${port}`, port };
}

function connect(options: Partial<TransportOptions>) {
  const transport = createTransport({
    clock: fakeClock(),
    allowEndpoints: ["https://api.example.com:*", "https://*.example.com:*", "http://api.example.com"],
    ca: authority.certificate,
    // A local DNS lookup fails here.
    lookup: (hostname, _, callback) => callback(new Error(`${hostname} is not known here`), ""),
    ...options,
  });
  cleanup.push(() => transport.close());
  return transport.connect("shop/main", { token: "the-token" });
}

describe("a connection to the platform", () => {
  test("leads through the proxy, which resolves the name; the endpoint is known by its certificate, the token is for it alone", async () => {
    const [{ url, seen, port }, way] = [await platform(), await proxy()];
    const connection = connect({ proxies: { https: way.url } });
    expect(await connection.send({ method: "GET", url })).toMatchObject({ status: 200 });
    expect(seen).toEqual(["Bearer the-token"]);
    const authorization = `Basic ${Buffer.from("someone:a-password").toString("base64")}`;
    expect(way.asked).toEqual([{ target: `api.example.com:${port}`, authorization }]);
    const stranger = connect({ proxies: { https: way.url }, ca: "" });
    await expect(stranger.send({ method: "GET", url })).rejects.toMatchObject({ executed: "no" });
    expect(seen).toHaveLength(1);
  });

  test("is made directly where NO_PROXY says so, and goes to addresses that are checked", async () => {
    const [{ url, seen }, way] = [await platform(), await proxy()];
    const lookup: TransportOptions["lookup"] = (_, options, callback) =>
      options.all ? callback(null, [{ address: "127.0.0.1", family: 4 }]) : callback(null, "127.0.0.1", 4);
    const proxies = { https: way.url, no: "other.test, .example.com" };
    expect(await connect({ proxies, lookup }).send({ method: "GET", url })).toMatchObject({ status: 200 });
    const guarded = connect({ proxies, lookup, allowEndpoints: ["https://*.example.com:*"] });
    await expect(guarded.send({ method: "GET", url })).rejects.toThrow("cannot be reached");
    expect([seen.length, way.asked]).toEqual([1, []]);
  });

  test.each(["https://10.0.0.1/x", "https://[fd00::1]/x", "https://169.254.169.254/x", "http://2852039166/x"])(
    "asks no proxy for an address inside: %s",
    async (url) => {
      const way = await proxy();
      const allowEndpoints = ["https://*.*.*.*", "http://*.*.*.*", "https://*.example.com"];
      const connection = connect({ proxies: { https: way.url, http: way.url }, allowEndpoints });
      await expect(connection.send({ method: "GET", url })).rejects.toMatchObject({ kind: "Terminal", executed: "no" });
      expect(way.asked).toEqual([]);
    },
  );

  test("that the proxy refuses was certainly not used, and is not told from one that cannot be made", async () => {
    const way = await proxy({ refuses: 403 });
    const sending = connect({ proxies: { https: way.url } }).send({ method: "POST", url: "https://api.example.com/x" });
    await expect(sending).rejects.toMatchObject({ executed: "no" });
    await expect(sending).rejects.toThrow("the endpoint https://api.example.com cannot be reached");
  });

  test("without TLS asks the proxy for the whole address", async () => {
    const way = await proxy();
    await connect({ proxies: { http: way.url } }).send({ method: "GET", url: "http://api.example.com/x?a=b" });
    expect(way.asked.map(({ target }) => target)).toEqual(["http://api.example.com/x?a=b"]);
  });
});

describe("the proxy for an endpoint", () => {
  const both: Proxies = { http: "http://plain", https: "http://secure" };

  test("is that of its scheme, and never one for this machine", () => {
    const chosen = ["https://a.test", "http://a.test", "http://localhost:1", "https://127.0.0.2", "http://[::1]"];
    expect(chosen.map((url) => proxyFor(both, new URL(url)))).toEqual([
      "http://secure",
      "http://plain",
      undefined,
      undefined,
      undefined,
    ]);
    expect(proxyFor({ http: "http://plain" }, new URL("https://a.test"))).toBeUndefined();
  });

  test.each([
    ["example.com", "https://example.com", true],
    ["example.com", "https://api.Example.com", true],
    ["example.com", "https://evilexample.com", false],
    [".example.com", "https://api.example.com", true],
    [".example.com", "https://example.com", false],
    ["*.example.com", "https://api.example.com", true],
    ["a.test,  EXAMPLE.com ,", "https://example.com", true],
    ["example.com:8443", "https://example.com", false],
    ["example.com:443", "https://example.com", true],
    ["*", "https://example.com", true],
    ["10.0.0.0/8", "https://10.1.2.3", true],
    ["10.0.0.0/8", "https://11.1.2.3", false],
    ["10.1.2.3", "https://10.1.2.3:8443", true],
    ["fd00::/8", "https://[fd00::1]", true],
    ["fd00::1", "https://[fd00::1]", true],
    ["[fd00::1]:443", "https://[fd00::1]", true],
    ["2.3", "https://10.1.2.3", false],
    ["10.0.0.0/x,nonsense/8,10.0.0.0/99,[", "https://10.0.0.1", false],
    ["", "https://example.com", false],
  ])("is none where NO_PROXY is %j and the endpoint %s: %s", (no, url, isDirect) => {
    expect(proxyFor({ ...both, no }, new URL(url)) === undefined).toBe(isDirect);
  });
});
