import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { simulatorCommand } from "../../../src/simulator/command.ts";
import { items } from "../platform.ts";
import { startProcess } from "../process.ts";

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "simulator-"));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const file = (name: string, text: string) => {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
};

/** Runs a command line that ends by itself. */
async function run(...argv: string[]) {
  const written: Record<"out" | "err", unknown[]> = { out: [], err: [] };
  const keep = (where: "out" | "err") => (text: unknown) => written[where].push(text) > 0;
  const out = vi.spyOn(process.stdout, "write").mockImplementation(keep("out"));
  const err = vi.spyOn(process.stderr, "write").mockImplementation(keep("err"));
  try {
    const code = await simulatorCommand(argv);
    return { code, out: written.out.join(""), err: written.err.join("") };
  } finally {
    out.mockRestore();
    err.mockRestore();
  }
}

describe("mooring simulator", () => {
  it("prints one line of JSON, serves, and ends with 0 on SIGTERM", async () => {
    const child = startProcess(["--json", "--seed", "3"]);
    const platform = await child.platform();
    expect(platform.ready.endpoints.api).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(items(await platform.core("GET", "/datacenters"))).toEqual([]);
    child.kill("SIGTERM");
    expect(await child.exit).toBe(0);
    expect(child.stdout().trim().split("\n")).toHaveLength(1);
    expect(child.stderr()).toBe("");
  });

  it("tells people what they need and ends with 0 on SIGINT, also with a caller that hangs", async () => {
    const plan = file("hang.yaml", "rules:\n  - fault: hang\n");
    const child = startProcess(["--listen", "127.0.0.1:0", "--faults", plan, "--speed", "10"]);
    await child.firstLine;
    await vi.waitUntil(() => child.stdout().includes("Stop with Ctrl-C."));
    const api = /API +(\S+)/.exec(child.stdout())?.[1];
    const hanging = fetch(`${api}/cloudapi/v6/`).catch(() => "broken");
    child.kill("SIGINT");
    expect(await child.exit).toBe(0);
    expect(await hanging).toBe("broken");
    expect(child.stdout()).toMatch(/token +ey/);
    expect(child.stdout()).toMatch(/S3 +http:\/\/127\.0\.0\.1:\d+/);
  });

  it("has a help text", async () => {
    const { code, out } = await run("--help");
    expect(code).toBe(0);
    const flags = ["listen", "data", "seed", "speed", "faults", "object-storage", "bucket", "kafka", "brokers", "json"];
    for (const flag of flags) expect(out).toContain(`--${flag} `);
  });

  it.each([
    [["--colour"], "--colour"],
    [["stray"], "stray"],
    [["--listen", "nowhere"], "--listen"],
    [["--listen", "127.0.0.1:65536"], "--listen"],
    [["--seed", "x"], "--seed"],
    [["--seed", "1.5"], "--seed"],
    [["--speed", "0"], "--speed"],
    [["--speed", "fast"], "--speed"],
    [["--data", ""], "--data"],
    [["--faults", "/no/such/file"], "--faults"],
    [["--object-storage", "somewhere"], "--object-storage"],
    [["--object-storage", "ftp://s3.example.com"], "--object-storage"],
    [["--object-storage-listen", "8080"], "--object-storage-listen"],
    [["--forward-listen", "9000"], "--forward-listen"],
    [["--bucket", "Not_A_Bucket"], "--bucket"],
    [["--kafka", "sometimes"], "--kafka"],
    [["--brokers", "2"], "--brokers"],
  ])("refuses %o with exit code 2 and names the flag", async (argv, named) => {
    const { code, err } = await run(...argv);
    expect(code).toBe(2);
    expect(err).toContain(named);
    expect(err).toContain("--help");
  });

  it.each([
    ["rules: 7", "rules"],
    ["rules: [{fault: status, status: 200}]", "rules.0.status"],
    ["rules: [{fault: reset, route: datacenters}]", "rules.0.route"],
    ["rules: [{fault: reset, colour: red}]", "colour"],
    ["rates: []", "rates"],
    ["{", "--faults"],
  ])("refuses the fault plan %o and names the field", async (text, named) => {
    const { code, err } = await run("--faults", file("plan.yaml", text));
    expect(code).toBe(2);
    expect(err).toContain(named);
  });

  it("ends with 1 when the address is taken", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const address = other.address();
    const port = typeof address === "object" ? address?.port : undefined;
    const { code, err } = await run("--listen", `127.0.0.1:${port}`);
    expect(code).toBe(1);
    expect(err).toContain(`${port}`);
    other.close();
  });
});
