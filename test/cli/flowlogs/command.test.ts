import { Readable } from "node:stream";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { run, start } from "../../processes.ts";
import { program } from "../../run/program.ts";
import { flow, lineOf } from "./lines.ts";
import { failure, keys, type Storage, startStorage } from "./storage.ts";

let storage: Storage;
beforeEach(async () => {
  storage = await startStorage(2);
});
afterEach(() => storage[Symbol.asyncDispose]());

const compressed = (...lines: string[]) => gzipSync(lines.map((line) => `${line}\n`).join(""));
const env = (more: Record<string, string> = {}) => ({
  PATH: process.env.PATH,
  MOORING_ENDPOINTS: JSON.stringify({ objectStorage: storage.url }),
  MOORING_S3_ACCESS_KEY: keys.accessKey,
  MOORING_S3_SECRET_KEY: keys.secretKey,
  ...more,
});
const flowlogs = (...args: string[]) => run(program(), ["flowlogs", "--bucket", "logs", ...args], { env: env() });
const fetched = () => storage.requests.filter((path) => !path.includes("?"));

/** Three objects over two pages, with keys that need encoding. */
function store() {
  storage.objects.set("a b/web-1-20260301T100000Z.log.gz", {
    body: compressed(lineOf({ dstport: 1 }), lineOf({ dstport: 2 })),
  });
  storage.objects.set("a b/web-1-20260301T101000Z.log.gz", {
    body: compressed(lineOf({ dstport: 3, action: "REJECT" })),
  });
  storage.objects.set("c&(1)!.log.gz", {
    body: compressed(lineOf({ dstport: 4, srcaddr: "2001:db8::1", bytes: 10_000_000 })),
  });
  storage.objects.set("notes.txt", { body: Buffer.from("not a flow log") });
}

// Each call is one process or two, which may be slow on a busy machine.
describe("mooring flowlogs", { timeout: 60_000 }, () => {
  it("prints the records of all objects in the order of their keys, with signed requests", async () => {
    store();
    const { code, stdout, stderr } = await flowlogs("-o", "json");
    expect(
      stdout
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line).dstport),
    ).toEqual([1, 2, 3, 4]);
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: "3 objects, 4 records, 0 bad lines, 0 incomplete intervals\n",
    });
    expect(storage.refused).toBe(0);
    expect(storage.requests.filter((path) => path.includes("list-type=2"))).toHaveLength(2);
  });

  it("shows the top talkers with bars", async () => {
    store();
    const { code, stdout } = await flowlogs("--top", "srcaddr", "--top", "dstport", "--by", "bytes", "--rows", "1");
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^Top srcaddr by bytes \(9\.5 MiB in 4 flows\)\n.*\n2001:db8::1 +9\.5 MiB +17 +1 +100\.0% {2}█+\n\nTop dstport/,
    );
  });

  it("filters by source, destination and network", async () => {
    const flows = [
      lineOf({ dstport: 1, srcaddr: "10.7.1.2", dstaddr: "192.0.2.1" }),
      lineOf({ dstport: 2, srcaddr: "192.0.2.1", dstaddr: "10.7.255.1" }),
      lineOf({ dstport: 3, srcaddr: "2001:db8::7", dstaddr: "2001:db9::1" }),
    ];
    storage.objects.set("web-1-20260301T100000Z.log.gz", { body: compressed(...flows) });
    const ports = async (...args: string[]) =>
      (await flowlogs("-o", "json", ...args)).stdout
        .split("\n")
        .slice(0, -1)
        .map((line) => JSON.parse(line).dstport);
    expect(await ports("--source", "10.7.0.0/16")).toEqual([1]);
    expect(await ports("--destination", "10.7.0.0/16", "--destination", "2001:db9::1")).toEqual([2, 3]);
    expect(await ports("--cidr", "192.0.2.1", "--source", "192.0.2.0/24")).toEqual([2]);
    const { code, stderr } = await flowlogs("--cidr", "10.7.0.0/33");
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining("--cidr 10.7.0.0/33") });
  });

  it("follows the bucket until it is interrupted", async () => {
    storage.objects.set("web-1-20260301T100000Z.log.gz", { body: compressed(lineOf({ dstport: 1 })) });
    const following = start(program(), ["flowlogs", "--bucket", "logs", "--follow", "-o", "json"], { env: env() });
    expect(await following.line()).toContain('"dstport":1');
    storage.objects.set("web-1-20260301T101000Z.log.gz", { body: compressed(lineOf({ dstport: 2 })) });
    expect(await following.line()).toContain('"dstport":2');
    following.signal("SIGINT");
    expect(await following.ended).toBe(130);
    expect(following.output().match(/^\{/gm)).toHaveLength(2);
  });

  it("filters, and fetches only what can matter", async () => {
    store();
    const args = ["--prefix", "a b/", "--since", "2026-03-01T10:12Z", "--action", "reject", "--port", "3", "-o", "csv"];
    const { code, stdout, stderr } = await flowlogs(...args);
    expect(fetched()).toEqual(["/logs/a%20b/web-1-20260301T101000Z.log.gz"]);
    expect({ code, lines: stdout.split("\r\n").length }).toEqual({ code: 0, lines: 2 });
    expect(stderr).toBe("1 object, 1 record (0 matched), 0 bad lines, 0 incomplete intervals\n");
  });

  it("stops after --limit, in the middle of an object if need be", async () => {
    storage.objects.set("1.log.gz", { body: compressed(...Array.from({ length: 5_000 }, () => lineOf())) });
    storage.objects.set("2.log.gz", { body: compressed("bad") });
    const { code, stdout, stderr } = await flowlogs("--limit", "1", "-o", "json");
    expect(stdout.split("\n")).toHaveLength(2);
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(/^1 object, .* 0 bad lines/) });
  });

  it("continues after bad lines and broken objects, reports where they are, and exits with 1", async () => {
    const bad = Array.from({ length: 30 }, () => "bad\x1b[2J");
    storage.objects.set("1-lines.log.gz", { body: compressed(lineOf(), ...bad) });
    storage.objects.set("2-cut.log.gz", {
      body: compressed(...Array.from({ length: 50 }, () => lineOf())).subarray(0, 60),
    });
    storage.objects.set("3-plain.log.gz", { body: Buffer.from(lineOf()) });
    storage.objects.set("4-gone.log.gz", { body: compressed(lineOf()) });
    storage.objects.set("5-good.log.gz", { body: compressed(lineOf({ status: "SKIPDATA", dstport: 5 })) });
    storage.trouble = ({ pathname }) =>
      pathname.includes("gone") ? { status: 404, body: failure("NoSuchKey") } : undefined;
    const { code, stdout, stderr } = await flowlogs("-o", "json");
    expect(code).toBe(1);
    expect(JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "")).toEqual(flow({ status: "SKIPDATA", dstport: 5 }));
    const messages = stderr.trimEnd().split("\n");
    expect(messages[0]).toBe("1-lines.log.gz:2: 1 fields instead of 14");
    expect(messages.filter((line) => line.startsWith("1-lines"))).toHaveLength(20);
    expect(stderr).toContain("further bad lines are only counted\n");
    expect(stderr).toContain("2-cut.log.gz: unexpected end of file\n");
    expect(stderr).toContain("3-plain.log.gz: incorrect header check\n");
    expect(stderr).toContain("4-gone.log.gz: object storage: answered 404: NoSuchKey: as the test says\n");
    expect(messages.at(-1)).toMatch(
      /^5 objects \(3 unreadable\), \d+ records, 30 bad lines, 1 incomplete interval \(SKIPDATA/,
    );
  });

  it("tries again what passes", async () => {
    store();
    let times = 2;
    storage.trouble = () => (times-- > 0 ? { status: 503, body: failure("SlowDown") } : undefined);
    expect(await flowlogs("--top", "protocol", "-o", "json")).toMatchObject({ code: 0 });
  });

  it("fails in one line without the key when it may not read", async () => {
    const wrong = env({ MOORING_S3_SECRET_KEY: "another/secret" });
    const { code, stdout, stderr } = await run(program(), ["flowlogs", "--bucket", "logs"], { env: wrong });
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(/^mooring: bucket logs: answered 403: SignatureDoesNotMatch: .*is the key active.*\n$/);
    expect(stderr).not.toMatch(/another|EXAMPLE/);
  });

  it("names the bucket that is not there", async () => {
    const { code, stderr } = await run(program(), ["flowlogs", "--bucket", "other"], { env: env() });
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: "mooring: bucket other: answered 404: NoSuchBucket: as the test says\n",
    });
  });

  it("ends quietly with 0 when nobody reads on", async () => {
    storage.objects.set("large.log.gz", { body: compressed(...Array.from({ length: 50_000 }, () => lineOf())) });
    const script = `{ ${program()} flowlogs --bucket logs -o csv; echo "code $?" >&2; } | head -n 2`;
    const { stdout, stderr } = await run("sh", ["-c", script], { env: env() });
    expect(stdout.split("\r\n")).toHaveLength(3);
    expect(stderr).toBe("code 0\n");
  });

  it("ends with 130 on Ctrl-C", async () => {
    storage.objects.set("endless.log.gz", { body: () => new Readable({ read() {} }) });
    const command = start(program(), ["flowlogs", "--bucket", "logs", "--top", "srcaddr"], { env: env() });
    await expect.poll(() => fetched().length).toBe(1);
    command.signal("SIGINT");
    expect(await command.ended).toBe(130);
    expect(command.output()).toBe("");
  });

  it.each([
    [["--bucket", "b", "--top", "bytes"], "--top bytes: unknown; valid: srcaddr, dstaddr"],
    [["--buket", "b"], "Unknown option '--buket'"],
  ])("refuses %j with exit code 2", async (args, message) => {
    const { code, stdout, stderr } = await run(program(), ["flowlogs", ...args], { env: env() });
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(message);
  });
});
