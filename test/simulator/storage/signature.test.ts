import { AwsClient } from "aws4fetch";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { crc32c, crc64nvme } from "../../../src/simulator/s3/request/crc.ts";
import { dechunked, type Trailers } from "../../../src/simulator/s3/request/dechunk.ts";
import { verified } from "../../../src/simulator/s3/request/signature.ts";
import { targetOf } from "../../../src/simulator/s3/request/target.ts";
import { type Platform, resource, startPlatform } from "../platform.ts";

/** The examples of S3's documentation, with their secret and date. */
const published = {
  key: "AKIAIOSFODNN7EXAMPLE",
  secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
  scope: "20130524/us-east-1/s3/aws4_request",
  now: Date.UTC(2013, 4, 24),
};

const check = (method: string, url: string, headers: Record<string, string>) => {
  const distinct = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]]));
  const secretOf = (key: string) => (key === published.key ? published.secret : undefined);
  return verified({ method, target: targetOf(url), headers: distinct }, secretOf, published.now);
};

const signedWith = (headers: Record<string, string>, signature: string) => ({
  ...headers,
  authorization:
    `AWS4-HMAC-SHA256 Credential=${published.key}/${published.scope},` +
    `SignedHeaders=${Object.keys(headers).sort().join(";")},Signature=${signature}`,
});

const nothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

describe("the published examples", () => {
  it("of a signed header are found right", () => {
    const headers = {
      host: "examplebucket.s3.amazonaws.com",
      range: "bytes=0-9",
      "x-amz-content-sha256": nothing,
      "x-amz-date": "20130524T000000Z",
    };
    const signature = "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41";
    expect(check("GET", "/test.txt", signedWith(headers, signature)).accessKey).toBe(published.key);
    expect(() => check("PUT", "/test.txt", signedWith(headers, signature))).toThrow("signature");
  });

  it("of a presigned query are found right", () => {
    const query = (signature: string) =>
      "/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256" +
      `&X-Amz-Credential=${encodeURIComponent(`${published.key}/${published.scope}`)}` +
      "&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host" +
      `&X-Amz-Signature=${signature}`;
    const headers = { host: "examplebucket.s3.amazonaws.com" };
    const signature = "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404";
    expect(check("GET", query(signature), headers).payload).toBe("UNSIGNED-PAYLOAD");
    expect(() => check("GET", query(signature.replace("a", "b")), headers)).toThrow("signature");
  });

  const chunkedHeaders = (payload: string) => ({
    "content-encoding": "aws-chunked",
    host: "s3.amazonaws.com",
    "x-amz-content-sha256": payload,
    "x-amz-date": "20130524T000000Z",
    "x-amz-decoded-content-length": "66560",
    "x-amz-storage-class": "REDUCED_REDUNDANCY",
  });

  /** The content of the examples: 65 KiB of `a` in two chunks, and the trailer. */
  const framed = (signatures: [string, string, string], trailer: string) =>
    `10000;chunk-signature=${signatures[0]}\r\n${"a".repeat(65_536)}\r\n` +
    `400;chunk-signature=${signatures[1]}\r\n${"a".repeat(1024)}\r\n` +
    `0;chunk-signature=${signatures[2]}\r\n${trailer}\r\n`;

  async function* pieces(text: string, size: number) {
    for (let index = 0; index < text.length; index += size) yield Buffer.from(text.slice(index, index + size));
  }

  async function lengthOf(body: string, signed: ReturnType<typeof check>, trailers: Trailers = new Map(), size = 1000) {
    let length = 0;
    for await (const part of dechunked(pieces(body, size), trailers, signed)) length += part.length;
    return length;
  }

  const chunks: [string, string, string] = [
    "ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648",
    "0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497",
    "b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9",
  ];
  const signedChunks = () => {
    const headers = { ...chunkedHeaders("STREAMING-AWS4-HMAC-SHA256-PAYLOAD"), "content-length": "66824" };
    const signature = "4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9";
    return check("PUT", "/examplebucket/chunkObject.txt", signedWith(headers, signature));
  };

  it.each([1, 7, 1000, 100_000])("of signed chunks are found right in pieces of %d bytes", async (size) => {
    expect(await lengthOf(framed(chunks, ""), signedChunks(), new Map(), size)).toBe(66_560);
  });

  it.each([
    ["a changed byte", (body: string) => body.replace("aaa", "aba")],
    ["a chunk left out", (body: string) => body.replace(/400;[^\r]*\r\na*\r\n/, "")],
    ["an unsigned chunk", (body: string) => body.replace(/400;[^\r]*/, "400")],
  ])("of signed chunks with %s are refused", async (_what, spoil) => {
    await expect(lengthOf(spoil(framed(chunks, "")), signedChunks())).rejects.toThrow("signature of a chunk");
  });

  it("of signed chunks that end early are refused", async () => {
    await expect(lengthOf(framed(chunks, "").slice(0, 66_000), signedChunks())).rejects.toThrow("ends in the middle");
  });

  const trailing = (value: string) =>
    framed(
      [
        "b474d8862b1487a5145d686f57f013e54db672cee1c953b3010fb58501ef5aa2",
        "1c1344b170168f8e65b41376b44b20fe354e373826ccbbe2c1d40a8cae51e5c7",
        "2ca2aba2005185cf7159c6277faf83795951dd77a3a99e6e65d5c9f85863f992",
      ],
      `x-amz-checksum-crc32c:${value}\r\n` +
        "x-amz-trailer-signature:d81f82fc3505edab99d459891051a732e8730629a2e4a59689829ca17fe2e435\r\n",
    );
  const signedTrailer = () => {
    const payload = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER";
    const headers = { ...chunkedHeaders(payload), "x-amz-trailer": "x-amz-checksum-crc32c" };
    const signature = "106e2a8a18243abcf37539882f36619c00e2dfc72633413f02d3b74544bfeb8e";
    return check("PUT", "/examplebucket/chunkObject.txt", signedWith(headers, signature));
  };

  it("of a signed trailer are found right, and refused when it was changed", async () => {
    const trailers: Trailers = new Map();
    expect(await lengthOf(trailing("sOO8/Q=="), signedTrailer(), trailers)).toBe(66_560);
    const crc = crc32c();
    crc.update(Buffer.alloc(66_560, "a"));
    expect(trailers).toEqual(new Map([["x-amz-checksum-crc32c", crc.digest().toString("base64")]]));
    await expect(lengthOf(trailing("AAAAAA=="), signedTrailer())).rejects.toThrow("signature");
  });
});

describe("checksums", () => {
  it.each([
    ["CRC-32C", crc32c, "e3069283"],
    ["CRC-64/NVME", crc64nvme, "ae8b14860a799888"],
  ])("of %s have the published value for 123456789", (_name, start, expected) => {
    const crc = start();
    crc.update(Buffer.from("1234"));
    crc.update(Buffer.from("56789"));
    expect(crc.digest().toString("hex")).toBe(expected);
  });
});

describe("a request to the running storage", () => {
  let platform: Platform;
  let url: string;
  beforeAll(async () => {
    platform = await startPlatform();
    url = `${platform.ready.endpoints.objectStorage}/flow-logs`;
  });
  afterAll(() => platform.close());

  const signer = ({ accessKey, secretKey } = platform.ready.s3) =>
    new AwsClient({ accessKeyId: accessKey, secretAccessKey: secretKey, service: "s3", region: "eu-central-1" });

  const stamp = (at: number) => new Date(at).toISOString().replace(/[-:]|\.\d+/g, "");

  /** Status and error code. */
  async function outcome(request: Request | Promise<Request>) {
    const response = await fetch(await request);
    const code = /<Code>(\w+)<\/Code>/.exec(await response.text())?.[1];
    return code === undefined ? response.status : `${response.status} ${code}`;
  }

  it("is answered when a foreign signer signed it, in a header or presigned", async () => {
    expect(await outcome(signer().sign(`${url}/a%20b(1)?x=%2B`, { method: "PUT", body: "text" }))).toBe(200);
    expect(await outcome(signer().sign(`${url}/a%20b(1)`, { aws: { signQuery: true } }))).toBe(200);
  });

  it("is refused without a signature, and with one of another kind", async () => {
    expect(await outcome(new Request(url))).toBe("403 AccessDenied");
    expect(await outcome(new Request(url, { headers: { authorization: "AWS key:signature" } }))).toBe(
      "400 InvalidRequest",
    );
    expect(await outcome(new Request(url, { headers: { authorization: "AWS4-HMAC-SHA256 Credential=a" } }))).toBe(
      "400 AuthorizationHeaderMalformed",
    );
  });

  it("is refused when its path, its query or its content was changed on the way", async () => {
    const signed = await signer().sign(`${url}/k?versions=`, { aws: { signQuery: true } });
    expect(await outcome(new Request(signed.url.replace("/k?", "/other?")))).toBe("403 SignatureDoesNotMatch");
    expect(await outcome(new Request(`${signed.url}&prefix=x`))).toBe("403 SignatureDoesNotMatch");
    const headers = { "x-amz-content-sha256": nothing };
    const put = signer().sign(`${url}/k`, { method: "PUT", body: "not nothing", headers });
    expect(await outcome(put)).toBe("400 XAmzContentSHA256Mismatch");
    expect(await outcome(signer().sign(`${url}/k`))).toBe("404 NoSuchKey");
  });

  it("is refused with a header that S3 acts on and nobody signed", async () => {
    const signed = await signer().sign(`${url}/k`, { method: "PUT", body: "x" });
    signed.headers.set("x-amz-meta-added", "later");
    expect(await outcome(signed)).toBe("403 AccessDenied");
  });

  it("is refused more than fifteen minutes off the machine's time, whatever the platform's clock says", async () => {
    await platform.advance(3600);
    const at = (ms: number) => signer().sign(url, { aws: { datetime: stamp(Date.now() + ms) } });
    expect(await outcome(at(0))).toBe(200);
    expect(await outcome(at(14 * 60_000))).toBe(200);
    expect(await outcome(at(16 * 60_000))).toBe("403 RequestTimeTooSkewed");
    expect(await outcome(at(-16 * 60_000))).toBe("403 RequestTimeTooSkewed");
  });

  it("is refused after the life of a presigned link", async () => {
    const presigned = (age: number) =>
      signer().sign(`${url}?X-Amz-Expires=60`, { aws: { signQuery: true, datetime: stamp(Date.now() - age) } });
    expect(await outcome(presigned(30_000))).toBe(200);
    expect(await outcome(presigned(90_000))).toBe("403 AccessDenied");
    const tooLong = await signer().sign(`${url}?X-Amz-Expires=604801`, { aws: { signQuery: true } });
    expect(await outcome(tooLong)).toBe("400 AuthorizationQueryParametersError");
  });

  it("is refused with a key that was made inactive or deleted", async () => {
    const { userId, token } = await platform.user("keys@example.org");
    const as = { authorization: `Bearer ${token}` };
    const key = resource(await platform.core("POST", `/um/users/${userId}/s3keys`, undefined, as));
    const path = `/um/users/${userId}/s3keys/${key.id}`;
    const all = platform.ready.endpoints.objectStorage;
    const keys = { accessKey: key.id, secretKey: String(key.properties.secretKey) };
    expect(await outcome(signer(keys).sign(all))).toBe(200);
    await platform.core("PUT", path, { properties: { active: false } }, as);
    expect(await outcome(signer(keys).sign(all))).toBe("403 InvalidAccessKeyId");
    await platform.core("PUT", path, { properties: { active: true } }, as);
    expect(await outcome(signer(keys).sign(all))).toBe(200);
    await platform.core("DELETE", path, undefined, as);
    expect(await outcome(signer(keys).sign(all))).toBe("403 InvalidAccessKeyId");
  });

  it("is answered by S3's XML that never holds a secret", async () => {
    const wrong = await fetch(await signer({ ...platform.ready.s3, secretKey: "wrong" }).sign(url));
    const text = await wrong.text();
    expect(wrong.headers.get("content-type")).toBe("application/xml");
    expect(text).toContain("<Code>SignatureDoesNotMatch</Code>");
    expect(text).toContain("<CanonicalRequest>");
    expect(text).not.toContain(platform.ready.s3.secretKey);
  });
});
