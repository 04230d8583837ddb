import { describe, expect, it } from "vitest";
import { parseFlags, UsageError } from "../../../src/cli/flowlogs/flags.ts";

const now = Date.parse("2026-03-01T12:00:00Z");

describe("the flags", () => {
  it("have defaults", () => {
    expect(parseFlags(["--bucket", "logs"], now)).toMatchObject({
      bucket: "logs",
      prefix: "",
      format: "table",
      by: "bytes",
      rows: 10,
      limit: Number.POSITIVE_INFINITY,
      tops: [],
      nics: [],
    });
  });

  it("take a bucket with a prefix, as a flow log names it", () => {
    const { bucket, prefix } = parseFlags(["--bucket", "logs/web/", "--prefix", "eu"], now);
    expect({ bucket, prefix }).toEqual({ bucket: "logs", prefix: "web/eu" });
  });

  it("refuse an argument with what is meant", () => {
    const parse = (word: string) => () => parseFlags([word], now);
    expect(parse("flowlog/x")).toThrow(
      "unexpected argument flowlog/x: write --bucket with the bucket in its spec.bucket",
    );
    expect(parse("logs/web")).toThrow("unexpected argument logs/web: write --bucket logs/web");
  });

  it("count time back from now", () => {
    const { criteria } = parseFlags(["--bucket", "logs", "--since", "1h", "--port", "22", "--port", "80"], now);
    expect(criteria).toEqual({ since: now - 3_600_000, until: undefined, action: undefined, ports: new Set([22, 80]) });
  });

  it.each([
    [[], "--bucket is missing"],
    [["--bucket", "b", "--since", "soon"], "--since soon: give it as"],
    [["--bucket", "b", "--since", "1h", "--until", "2h"], "--since is after --until"],
    [["--bucket", "b", "--port", "65536"], "--port 65536: give a whole number up to 65535"],
    [["--bucket", "b", "--action", "drop"], "--action DROP: unknown; valid: ACCEPT, REJECT"],
    [["--bucket", "b", "--top", "bytes"], "--top bytes: unknown; valid: srcaddr, dstaddr"],
    [["--bucket", "b", "--top", "srcaddr", "--limit", "3"], "with --top, use --rows"],
    [["--bucket", "b", "-o", "xml"], "--output xml: unknown; valid: table, json, csv"],
  ])("refuse %j", (args, message) => {
    const parse = () => parseFlags(args, now);
    expect(parse).toThrow(UsageError);
    expect(parse).toThrow(message);
  });
});
