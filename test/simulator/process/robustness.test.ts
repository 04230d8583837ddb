import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { refusal, unfailingPlatformForFile } from "../platform.ts";

const platform = await unfailingPlatformForFile();

const raw = (body: string, contentType = "application/json") =>
  platform.core("POST", "/datacenters", undefined, { raw: body, headers: { "content-type": contentType } });

describe("bodies", () => {
  it.each(["{", "", "{'name':1}", "nonsense", '{"properties":', "\u0000"])("malformed %o is 422", async (body) => {
    expect(refusal(await raw(body), 422, "100")).toContain("[(root)]");
  });

  it.each(["[]", "null", "7", '"text"', '{"properties":[]}', '{"properties":7}', '{"properties":null}', "{}"])(
    "%s is JSON, but no resource: 422",
    async (body) => {
      refusal(await raw(body), 422, "100");
    },
  );

  it.each([
    '{"properties":{"name":"a","location":"de/fra"},"entities":7}',
    '{"properties":{"name":"a","location":"de/fra"},"entities":{"servers":7}}',
    '{"properties":{"name":"a","location":"de/fra"},"entities":{"servers":{"items":7}}}',
    '{"properties":{"name":"a","location":"de/fra"},"entities":{"servers":{"items":[7]}}}',
  ])("entities that are none are 422: %s", async (body) => {
    refusal(await raw(body), 422, "100");
  });

  it("that reach for prototypes change nothing but themselves", async () => {
    await raw(
      '{"properties":{"name":"a","location":"de/fra","__proto__":{"x":1}},"entities":{"__proto__":{"items":[1]}}}',
    );
    expect(await raw('{"properties":{"name":"b","location":"de/fra"}}')).not.toHaveProperty("body.properties.x");
  });

  it("larger than 1 MiB are 413", async () => {
    refusal(await raw(JSON.stringify({ properties: { name: "x".repeat(2 ** 20) } })), 413, "100");
  });

  it("that are not JSON by their type are 415", async () => {
    refusal(await raw("name=x", "application/x-www-form-urlencoded"), 415, "100");
    expect(
      (await raw('{"properties":{"name":"a","location":"de/fra"}}', "application/json; charset=utf-8")).status,
    ).toBe(202);
  });
});

describe("paths and methods", () => {
  it.each(["/", "/nowhere", "/cloudapi/v6/unicorns", "/cloudapi/v6/datacenters/%zz", "/auth/v2/tokens"])(
    "%s is 404",
    async (path) => {
      refusal(await platform.call("GET", path), 404, "309");
    },
  );

  it.each(["/__proto__", "/constructor", "/..%2f..", "/%00", "/a%20b"])("the datacenter %s is 404", async (id) => {
    refusal(await platform.core("GET", `/datacenters${id}`), 404, "309");
  });

  it("a method that a path does not have is 405 with those it has", async () => {
    const answer = await platform.core("DELETE", "/datacenters");
    refusal(answer, 405, "200");
    expect(answer.headers.get("allow")).toBe("GET, POST");
  });

  it("a trailing slash does not matter", async () => {
    expect((await platform.core("GET", "/datacenters/")).status).toBe(200);
  });
});

describe("connections", () => {
  const talk = async (...parts: string[]) => {
    const { hostname, port } = new URL(platform.ready.endpoints.api);
    const socket = connect(Number(port), hostname);
    for (const part of parts) socket.write(part);
    socket.end();
    return text(socket);
  };

  it("stay open between calls", async () => {
    const { hostname, port } = new URL(platform.ready.endpoints.api);
    const socket = connect(Number(port), hostname);
    const request = "GET /cloudapi/v6/ HTTP/1.1\r\nHost: x\r\n\r\n";
    socket.write(request + request);
    socket.end();
    expect((await text(socket)).match(/HTTP\/1\.1 200/g)).toHaveLength(2);
  });

  it("may send anything at all", async () => {
    await talk("\u0000\u0001\u0002\r\n\r\n");
    await talk("GET / HTTP/9.9\r\n\r\n");
    await talk("POST /cloudapi/v6/datacenters HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{");
    await talk("GET http://elsewhere/cloudapi/v6/ HTTP/1.1\r\nHost: x\r\n\r\n");
    await talk("GET /cloudapi/v6/ HTTP/1.1\r\nHost: <script>\r\n\r\n");
    expect((await platform.core("GET", "/")).status).toBe(200);
  });
});
