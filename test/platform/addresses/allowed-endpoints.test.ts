import { createServer } from "node:https";
import type { LookupFunction } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { allowedEndpoints, patternOf } from "../../../src/platform/addresses/allowed-endpoints.ts";
import { createTransport, type Transport, type TransportOptions } from "../../../src/platform/calls/transport.ts";
import { newAuthority, serverCertificate, validFor } from "../../../src/simulator/certificates.ts";
import { fakeClock } from "../../fake-clock.ts";
import { answer, scriptedServer } from "../scripted-server.ts";

describe("a pattern", () => {
  test.each([
    ["https://*.example.com", "https://api.example.com", true],
    ["https://*.example.com", "https://api.example.com/base/path", true],
    ["https://*.example.com", "https://API.Example.com:443", true],
    ["https://*.example.com", "https://logging.{region}.example.com", false],
    ["https://logging.*.example.com", "https://logging.{region}.example.com", true],
    ["https://*.example.com", "https://a.b.example.com", false],
    ["https://*.example.com", "https://example.com", false],
    ["https://*.example.com", "https://evilexample.com", false],
    ["https://*.example.com", "https://apixexample.com", false],
    ["https://*.example.com", "https://api.example.com.", true],
    ["https://api.example.com.", "https://api.example.com", true],
    ["https://*.example.com", "https://api.example.com..", false],
    ["http://127.0.0.1:*", "http://127.1:4000", true],
    ["http://127.0.0.1:*", "http://127.0.0.1.:4000", true],
    ["https://*.example.com", "https://api.example.com.evil.test", false],
    ["https://*.example.com", "https://api.example.com@evil.test", false],
    ["https://*.example.com", "https://evil.test/.example.com", false],
    ["https://*.example.com", "https://evil.test#.example.com", false],
    ["https://*.example.com", "https://user:pass@api.example.com", false],
    ["https://*.example.com", "http://api.example.com", false],
    ["https://*.example.com", "https://api.example.com:8443", false],
    ["https://*.example.com:*", "https://api.example.com:8443", true],
    ["https://api-*.example.com", "https://api-eu.example.com", true],
    ["http://127.0.0.1:*", "http://127.0.0.1:4000", true],
    ["http://127.0.0.1:*", "http://2130706433:4000", true],
    ["http://127.0.0.1:*", "http://127.0.0.2:4000", false],
    ["http://127.0.0.1:*", "https://127.0.0.1:4000", false],
    ["http://127.0.0.1:*", "http://[::ffff:127.0.0.1]:1", true],
    ["http://[::1]:*", "http://[::1]:1", true],
    ["https://10.20.0.0/16:8443", "https://10.20.3.4:8443", true],
    ["https://10.20.0.0/16:8443", "https://10.21.3.4:8443", false],
    ["https://[fd00::/8]", "https://[fd00::1]", true],
    ["https://*.*.*.*", "https://10.0.0.1", false],
    ["https://*.*.*.*", "https://169.254.169.254", false],
    ["https://*.*.*.*", "https://8.8.8.8", true],
    ["https://api.example.com", "not a url", false],
    ["https://api.example.com", "ftp://api.example.com", false],
  ])("%s and the endpoint %s: %s", (pattern, endpoint, expected) => {
    expect(allowedEndpoints([pattern]).allows(endpoint)).toBe(expected);
    expect(allowedEndpoints(["https://other.test", pattern]).allows(endpoint)).toBe(expected);
  });

  test.each([
    "",
    "*",
    "example.com",
    "ftp://x",
    "https://",
    "https://a/path",
    "https://a:b",
    "https://a b",
    "https://a?x",
  ])("that is none is refused: %j", (text) => {
    expect(() => allowedEndpoints([text])).toThrow(`"${text}" is not a pattern`);
  });

  test.each(["https://10.0.0.0/33", "https://1.2.3", "https://a.example.com/8"])(
    "with a wrong range is refused: %s",
    (text) => {
      expect(() => allowedEndpoints([text])).toThrow("is not a pattern");
    },
  );
});

test.each([
  ["https://api.example.com/base/", "https://api.example.com"],
  ["https://logging.{region}.example.com", "https://logging.*.example.com"],
  ["http://127.0.0.1:4000/{region}", "http://127.0.0.1:4000"],
  ["http://[::1]:4000", "http://[::1]:4000"],
])("the endpoint %s is allowed by the pattern that is made of it", (endpoint, pattern) => {
  expect(patternOf(endpoint)).toBe(pattern);
  expect(allowedEndpoints([pattern]).allows(endpoint)).toBe(true);
});

describe("an address", () => {
  const inside = [
    ...["127.0.0.1", "10.1.2.3", "172.31.0.1", "192.168.1.1", "100.64.0.1", "169.254.169.254", "0.0.0.0", "224.0.0.1"],
    ...[
      "255.255.255.255",
      "198.18.0.1",
      "::",
      "::1",
      "fd12::1",
      "fe80::1",
      "ff02::1",
      "::ffff:10.0.0.1",
      "::ffff:a9fe:a9fe",
    ],
    ...["64:ff9b::a00:1", "2002:a00:1::", "::10.0.0.1", "fd00:ec2::254"],
  ];
  const url = new URL("https://api.example.com");

  test.each(inside)("inside is out of reach for a name with a star: %s", (address) => {
    expect(allowedEndpoints(["https://*.example.com"]).allowsAddress(url, address)).toBe(false);
    expect(allowedEndpoints(["https://api.example.com"]).allowsAddress(url, address)).toBe(true);
    expect(
      allowedEndpoints(["https://*.example.com", "https://api.example.com:8443"]).allowsAddress(url, address),
    ).toBe(false);
  });

  test.each(["8.8.8.8", "172.32.0.1", "100.128.0.1", "2606:4700::1111"])("of the world is not: %s", (address) => {
    expect(allowedEndpoints(["https://*.example.com"]).allowsAddress(url, address)).toBe(true);
  });

  test("in a range that a pattern names for the same scheme and port is within reach", () => {
    const allowed = allowedEndpoints(["https://*.example.com", "https://10.0.0.0/8", "http://172.16.0.0/12:*"]);
    expect(allowed.allowsAddress(url, "10.9.9.9")).toBe(true);
    expect(allowed.allowsAddress(url, "172.16.0.1")).toBe(false);
  });
});

const transports: Transport[] = [];
afterEach(async () => {
  for (const transport of transports.splice(0)) await transport.close();
});

function connect(options: Partial<TransportOptions>) {
  const transport = createTransport({ clock: fakeClock(), random: () => 0, ...options });
  transports.push(transport);
  return transport.connect("ns/account", { token: "token" });
}

/** A name server that returns the addresses in turn. */
function nameServer(...addresses: string[]): LookupFunction & { asked: number } {
  const lookup: LookupFunction = (_, { all }, callback) => {
    const address = addresses[Math.min(named.asked++, addresses.length - 1)] ?? "";
    if (all) callback(null, [{ address, family: 4 }]);
    else callback(null, address, 4);
  };
  const named = Object.assign(lookup, { asked: 0 });
  return named;
}

const messageOf = async (sending: Promise<unknown>): Promise<string> =>
  sending.then(
    () => "answered",
    (error: unknown) => (error instanceof Error ? error.message.replace(/https?:\/\/\S+/, "URL") : ""),
  );

describe("a connection", () => {
  test("to an endpoint that is not allowed is not made", async () => {
    await using server = await scriptedServer(answer(200, {}));
    const connection = connect({ allowEndpoints: ["https://*.example.com"] });
    const sending = connection.send({ method: "GET", url: `${server.url}/x` });
    await expect(sending).rejects.toMatchObject({ kind: "Terminal", executed: "no" });
    await expect(sending).rejects.toThrow(`the endpoint ${server.url} is not allowed here`);
    expect(server.sockets).toBe(0);
  });

  test("is made where the pattern names the host, or the address", async () => {
    await using server = await scriptedServer(answer(200, {}));
    const { port } = new URL(server.url);
    const url = `http://api.example.com:${port}/x`;
    const lookup = nameServer("127.0.0.1");
    for (const allowEndpoints of [["http://api.example.com:*"], ["http://*.example.com:*", "http://127.0.0.0/8:*"]]) {
      expect(await connect({ allowEndpoints, lookup }).send({ method: "GET", url })).toMatchObject({ status: 200 });
    }
    expect(
      await connect({ allowEndpoints: ["http://127.0.0.1:*"] }).send({ method: "GET", url: server.url }),
    ).toBeDefined();
  });

  test("by a name that leads inside is not made, whatever it led to before, and not told from one that cannot be", async () => {
    await using server = await scriptedServer(answer(200, {}));
    const { port } = new URL(server.url);
    const url = `http://api.example.com:${port}/x`;
    const closed = await scriptedServer(() => {});
    await closed[Symbol.asyncDispose]();
    const allowEndpoints = ["http://*.example.com:*", "http://*.invalid:*", "http://127.0.0.0/8:*"];
    const rebound = nameServer("127.0.0.1", "10.0.0.1");
    // The name resolves to an allowed address and then to another one. Each connection resolves it again.
    const connection = connect({ allowEndpoints, lookup: rebound });
    await connection.send({ method: "GET", url, headers: { connection: "close" } });
    const inside = await messageOf(connection.send({ method: "GET", url }));
    const refused = await messageOf(connect({ allowEndpoints }).send({ method: "GET", url: `${closed.url}/x` }));
    const unknown = await messageOf(
      connect({ allowEndpoints }).send({ method: "GET", url: `http://no.invalid:${port}/x` }),
    );
    expect([inside, refused, unknown]).toEqual(
      Array(3).fill("GET /x got no answer: the endpoint URL cannot be reached"),
    );
    expect(server.arrived).toHaveLength(1);
    expect(rebound.asked).toBe(2);
  });

  test("over TLS trusts the given certificates, and no unknown ones", async () => {
    const validity = validFor(Date.now(), 2);
    const authority = await newAuthority("a platform of our own", validity);
    const { certificate: cert, privateKey: key } = await serverCertificate(authority, ["localhost"], validity);
    const server = createServer({ cert, key }, (_, response) => response.end("{}"));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    const url = `https://localhost:${typeof address === "object" ? address?.port : ""}/x`;
    const lookup = nameServer("127.0.0.1");
    try {
      expect(await connect({ ca: authority.certificate, lookup }).send({ method: "GET", url })).toMatchObject({
        status: 200,
      });
      const stranger = await messageOf(connect({ lookup }).send({ method: "GET", url }));
      expect(stranger).toBe("GET /x got no answer: the endpoint URL cannot be reached");
    } finally {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  });
});
