import { createServer as createHttp, request } from "node:http";
import { createServer as createHttps } from "node:https";
import { type AddressInfo, connect as connectTo, createServer, type Server, type Socket } from "node:net";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { createTransport, type TransportOptions } from "../../../src/platform/calls/transport.ts";
import { newAuthority, serverCertificate, validFor } from "../../../src/simulator/certificates.ts";
import { fakeClock } from "../../fake-clock.ts";

const cleanup: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of cleanup.splice(0).reverse()) await close();
});

let authority: Awaited<ReturnType<typeof newAuthority>>;
let tls: { cert: string; key: string };
beforeAll(async () => {
  const validity = validFor(Date.now(), 2);
  authority = await newAuthority("a platform of our own", validity);
  const { certificate: cert, privateKey: key } = await serverCertificate(
    authority,
    ["127.0.0.1", "localhost", "api.example.com"],
    validity,
  );
  tls = { cert, key };
});

async function portOf(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanup.push(() => new Promise((resolve) => server.close(resolve)));
  return (server.address() as AddressInfo).port;
}

/** A TCP listener in front of a server. It reports how its first connection ended: with a reset or regularly. */
async function wire(upstream: number) {
  const ended = Promise.withResolvers<string>();
  const opened: Socket[] = [];
  const port = await portOf(
    createServer((socket) => {
      opened.push(socket);
      const onward = connectTo(upstream, "127.0.0.1");
      onward.on("error", () => socket.destroy());
      socket.on("error", (error) => ended.resolve("code" in error ? String(error.code) : error.message));
      socket.on("end", () => ended.resolve("FIN"));
      socket.on("close", () => onward.destroy());
      cleanup.push(() => socket.destroy());
      socket.pipe(onward).pipe(socket);
    }),
  );
  return { port, opened, ended: ended.promise };
}

/** A platform that answers only GET. */
async function platform(secure: boolean) {
  const arrived = Promise.withResolvers<void>();
  const listener: Parameters<typeof createHttp>[1] = (request, response) => {
    if (request.method === "GET") return void response.end("{}");
    request.resume().on("end", arrived.resolve);
  };
  const server = secure ? createHttps(tls, listener) : createHttp(listener);
  const port = await portOf(server);
  cleanup.push(() => server.closeAllConnections());
  return { port, arrived: arrived.promise };
}

/** A proxy that leads every request to the platform: through a tunnel, or by forwarding. */
async function proxy(to: number, secure: boolean) {
  const open: Socket[] = [];
  const forward: Parameters<typeof createHttp>[1] = ({ method, headers, url = "" }, response) => {
    const { pathname: path } = new URL(url);
    // The body is not forwarded.
    const onward = request({ host: "127.0.0.1", port: to, method, path, headers: { host: headers.host } }).end();
    onward.on("error", () => response.destroy());
  };
  const server = secure ? createHttps(tls, forward) : createHttp(forward);
  server.on("connect", (_, socket: Socket) => {
    const onward = connectTo(to, "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
      onward.pipe(socket).pipe(onward);
    });
    for (const each of [socket, onward]) open.push(each.on("error", () => {}));
    socket.on("close", () => onward.destroy());
  });
  const port = await portOf(server);
  cleanup.push(() => {
    for (const socket of open) socket.destroy();
    server.closeAllConnections();
  });
  return port;
}

function open(options: Partial<TransportOptions> = {}) {
  const clock = fakeClock();
  const allowEndpoints = [
    "http://*.example.com:*",
    "https://*.example.com:*",
    "http://127.0.0.1:*",
    "https://127.0.0.1:*",
  ];
  const transport = createTransport({ clock, ca: authority.certificate, allowEndpoints, ...options });
  cleanup.push(() => transport.close());
  return { clock, transport, connection: transport.connect("shop/main", { token: "a-token" }) };
}

const post = { method: "POST", body: { name: "a" }, deadlineMs: 10_000 } as const;

describe.each(["http", "https"])("a call over %s whose request has left", (scheme) => {
  test("resets its connection when its deadline passes", async () => {
    const { port, arrived } = await platform(scheme === "https");
    const { port: listener, ended } = await wire(port);
    const { clock, connection } = open();
    const sending = connection.send({ ...post, url: `${scheme}://127.0.0.1:${listener}/x` });
    const failed = expect(sending).rejects.toMatchObject({ executed: "unknown" });
    await arrived;
    await clock.advance(10_000);
    await failed;
    expect(await ended).toBe("ECONNRESET");
  });

  test("resets its connection when it is aborted, and when the process stops", async () => {
    for (const how of ["aborted", "stopped"]) {
      const { port, arrived } = await platform(scheme === "https");
      const { port: listener, ended } = await wire(port);
      const { transport, connection } = open();
      const abort = new AbortController();
      const url = `${scheme}://127.0.0.1:${listener}/x`;
      const failed = expect(connection.send({ ...post, url, signal: abort.signal })).rejects.toThrow();
      await arrived;
      if (how === "aborted") abort.abort(new Error("enough"));
      else await transport.close();
      await failed;
      expect(await ended).toBe("ECONNRESET");
    }
  });

  test("leaves its connection to the next calls when it is answered", async () => {
    const { port } = await platform(scheme === "https");
    const { port: listener, opened } = await wire(port);
    const { connection } = open();
    for (let n = 0; n < 5; n++) {
      const url = `${scheme}://127.0.0.1:${listener}/x`;
      expect(await connection.send({ method: "GET", url })).toMatchObject({ status: 200 });
    }
    // The next call may start before the former connection is free.
    expect(opened.length).toBeLessThanOrEqual(2);
  });

  test.each(["http", "https"])("resets its connection to an %s proxy, too", async (between) => {
    const { port, arrived } = await platform(scheme === "https");
    const { port: listener, ended } = await wire(await proxy(port, between === "https"));
    const { clock, connection } = open({ proxies: { [scheme]: `${between}://localhost:${listener}` } });
    const failed = expect(connection.send({ ...post, url: `${scheme}://api.example.com/x` })).rejects.toThrow();
    await arrived;
    await clock.advance(10_000);
    await failed;
    expect(await ended).toBe("ECONNRESET");
  });
});

test("nothing of a request that waits in a buffer arrives after the deadline", async () => {
  const accepted = Promise.withResolvers<Socket>();
  const port = await portOf(createServer({ pauseOnConnect: true }, accepted.resolve));
  const { clock, connection } = open();
  const body = "x".repeat(2_000_000);
  const sending = connection.send({ ...post, body, url: `http://127.0.0.1:${port}/x` });
  const failed = expect(sending).rejects.toMatchObject({ executed: "unknown" });
  const socket = await accepted.promise;
  cleanup.push(() => socket.destroy());
  await clock.advance(10_000);
  await failed;
  let bytes = 0;
  const ended = Promise.withResolvers<unknown>();
  socket.on("data", (chunk) => {
    bytes += chunk.length;
  });
  socket.on("end", () => ended.resolve("FIN"));
  socket.on("error", (error) => ended.resolve("code" in error && error.code));
  socket.resume();
  expect(await ended.promise).toBe("ECONNRESET");
  expect(bytes).toBeLessThan(body.length);
});
