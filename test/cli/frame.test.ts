import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { command, FOUND } from "../../src/cli/frame/command.ts";
import { durationIn, outputFlag, parseFlags, UsageError, usualOutput } from "../../src/cli/frame/flags.ts";
import { openScreen } from "../../src/cli/frame/screen.ts";
import { red, visible } from "../../src/cli/frame/text.ts";
import { streams } from "./streams.ts";

/**
 * A name that clears the screen, sets the title, breaks the line, reverses the text direction and hides a character.
 */
const hostile = "a\u001b[2J\u001b]0;x\u0007\r\nb\u009b31m\u202ec\u200bd\u2028e";

const surroundings = (isTTY = false, env: Record<string, string> = {}) => streams(env, isTTY);

const steering = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

describe("output for people", () => {
  it("shows a hostile name as escapes, on one line", () => {
    expect(visible(hostile)).toBe("a\\e[2J\\e]0;x\\x07\\r\\nb\\x9b31m\\u{202e}c\\u{200b}d\\u{2028}e");
    const { written, given } = surroundings();
    const screen = openScreen(given, "table", () => 0);
    screen.line("name ", red(hostile));
    screen.table([hostile], [[hostile]]);
    screen.live([[hostile]]);
    screen.note(hostile);
    for (const line of (written.stdout + written.stderr).split("\n")) expect(line).not.toMatch(steering);
    expect(written.stdout.split("\n")).toHaveLength(5);
  });

  it.each(["json", "yaml"])("keeps a hostile name in %s, as escapes that programs read", (format) => {
    const { written, given } = surroundings();
    openScreen(given, format, () => 0).data({ [hostile]: hostile, list: [hostile] });
    expect(written.stdout.replaceAll("\n", "")).not.toMatch(steering);
    expect(parse(written.stdout)).toEqual({ [hostile]: hostile, list: [hostile] });
  });

  it("has colours on a terminal only, and not with NO_COLOR", () => {
    const shown = (isTTY: boolean, env = {}) => {
      const { written, given } = surroundings(isTTY, env);
      openScreen(given, "table", () => 0).line(red("x"));
      return written.stdout;
    };
    expect(shown(true)).toBe("\u001b[31mx\u001b[0m\n");
    expect(shown(false)).toBe("x\n");
    expect(shown(true, { NO_COLOR: "1" })).toBe("x\n");
  });

  it("shows progress of long work on a terminal, and takes it away before the answer", () => {
    const { written, given } = surroundings(true);
    let now = 0;
    const screen = openScreen(given, "table", () => now);
    screen.progress(1, "objects read");
    expect(written.stderr).toBe("");
    now = 5_000;
    screen.progress(2, "objects read");
    screen.line("done");
    expect(written.stderr).toBe("\r\u001b[Kobjects read: 2 …\r\u001b[K");
  });

  it("draws live lines in place on a terminal, and writes what is new elsewhere", () => {
    const terminal = surroundings(true);
    const screen = openScreen(terminal.given, "table", () => 0);
    screen.live([["a"], ["b"]]);
    screen.live([["a"], ["c"]]);
    expect(terminal.written.stdout).toBe("\u001b[Ja\nb\n\u001b[2A\u001b[Ja\nc\n");
    const small = surroundings(true);
    openScreen({ ...small.given, stdout: { ...small.given.stdout, rows: 3, columns: 4 } }, "table", () => 0).live([
      ["abcdef"],
      ["b"],
      ["c"],
    ]);
    expect(small.written.stdout).toBe("\u001b[Jabc\n… 2\n");
    const file = surroundings();
    const other = openScreen(file.given, "table", () => 0);
    other.live([["a"], ["b"]]);
    other.live([["a"], ["c"]]);
    expect(file.written.stdout).toBe("a\nb\nc\n");
  });
});

describe("a command", () => {
  const declared = {
    name: "sample",
    summary: "a sample",
    usage: ["[OPTION…]"],
    description: "Shows a sample.",
    examples: [["mooring sample", "the sample"]] as const,
    flags: usualOutput,
  };

  it("reports wrong usage with exit code 2, a failure with 1, and findings with its own code", async () => {
    const outcome = async (fail?: Error) => {
      const { written, given } = surroundings();
      const made = command({
        ...declared,
        run: async () => {
          if (fail) throw fail;
          return FOUND;
        },
      });
      return { code: await made.run([], given), ...written };
    };
    expect(await outcome()).toEqual({ code: 3, stdout: "", stderr: "" });
    expect(await outcome(new Error(`no ${hostile}`))).toMatchObject({
      code: 1,
      stderr: `mooring sample: no ${visible(hostile)}\n`,
    });
    expect(await outcome(new UsageError("name one"))).toMatchObject({
      code: 2,
      stderr: 'mooring sample: name one; see "mooring sample --help"\n',
    });
  });

  it("whose exit code 2 has another meaning reports wrong usage with 1", async () => {
    const made = command({ ...declared, exitCodes: { 2: "changes" }, run: async () => 2 });
    expect(await made.run(["--nothing"], surroundings().given)).toBe(1);
    expect(made.help).toContain("Exit codes: 0 done, 1 failed, 2 changes, 130 interrupted.");
  });

  it.each([
    [
      "that fails",
      new Error("no objects"),
      1,
      "not checked: servers: you may not list them\nmooring sample: no objects\n",
    ],
    ["that writes its answer itself", undefined, 0, "not checked: servers: you may not list them\n"],
  ])("%s names what could not be read", async (_, fail, code, stderr) => {
    const { written, given } = surroundings();
    const made = command({
      ...declared,
      async run({ sources }) {
        sources.missing?.("servers: you may not list them");
        if (fail) throw fail;
        return 0;
      },
    });
    expect({ code: await made.run([], given), ...written }).toEqual({ code, stdout: "", stderr });
  });

  it.each(["table", "json"])("names it once, with -o %s", async (format) => {
    const { written, given } = surroundings();
    const made = command({
      ...declared,
      async run({ sources, answer }) {
        sources.missing?.("servers: you may not list them");
        answer({ items: [] }, () => {});
        return 0;
      },
    });
    expect(await made.run(["-o", format], given)).toBe(0);
    expect((written.stdout + written.stderr).match(/you may not list them/g)).toHaveLength(1);
  });

  it("refuses an output that it does not have", () => {
    expect(() => parseFlags(outputFlag("table", "json"), ["-o", "xml"])).toThrow(
      "--output xml: unknown; valid: table, json",
    );
  });
});

it.each([
  ["90s", 90_000],
  ["1h30m", 5_400_000],
])("reads the duration %s", (text, ms) => {
  expect(durationIn("timeout", text)).toBe(ms);
});

it.each(["", "5", "5x", "-1s"])("refuses the duration %j", (text) => {
  expect(() => durationIn("timeout", text)).toThrow(UsageError);
});
