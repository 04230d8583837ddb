import { describe, expect, it } from "vitest";
import { duration, isoDuration, secondsOf } from "../../../src/kinds/fields/duration.ts";

describe("a duration", () => {
  it.each([
    ["PT5M", 300],
    ["5m", 300],
    ["300s", 300],
    ["PT300S", 300],
    ["1h30m", 5_400],
    ["PT1H30M", 5_400],
    ["PT90M", 5_400],
    ["PT24H", 86_400],
    ["P1D", 86_400],
    ["P1DT1H1M1S", 90_061],
    ["PT0S", 0],
    ["0s", 0],
  ])("%s is %d seconds", (text, seconds) => {
    expect(secondsOf(text)).toBe(seconds);
  });

  it.each(["", "P", "PT", "P1DT", "5", "m", "5 m", "5M", "PT5m", "pt5m", "30m1h", "-5m", "1.5h", "P1W", "PT1S1M"])(
    "is not %j",
    (text) => {
      expect(secondsOf(text)).toBeUndefined();
      expect(duration("0s").safeParse(text).success).toBe(false);
    },
  );

  it.each([
    ["PT5M", "PT5M"],
    ["300s", "PT5M"],
    ["PT90M", "PT1H30M"],
    ["P1D", "PT24H"],
    ["PT0S", "PT0S"],
    ["PT1H0M5S", "PT1H5S"],
  ])("%s is written %s: equal lengths are equal texts", (text, written) => {
    expect(isoDuration(text)).toBe(written);
    expect(secondsOf(written)).toBe(secondsOf(text));
  });

  it("leaves what it does not understand as it is", () => {
    expect(isoDuration("P1W")).toBe("P1W");
  });
});

describe("a duration within bounds", () => {
  const bounded = duration("2m", "24h");

  it.each(["2m", "PT120S", "PT24H", "P1D", "1h"])("takes %s", (text) => {
    expect(bounded.parse(text)).toBe(text);
  });

  it.each(["119s", "PT1M59S", "P1DT1S", "25h", "P2D", "0s"])("does not take %s, and names the bounds", (text) => {
    expect(() => bounded.parse(text)).toThrow("must be from 2m to 24h");
  });

  it("may be without an end", () => {
    expect(duration("2m").parse("P365D")).toBe("P365D");
    expect(() => duration("2m").parse("1m")).toThrow("must be at least 2m");
  });
});
