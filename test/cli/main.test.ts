import { mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { mooring, root, run } from "../processes.ts";

describe("the command line", () => {
  it.each([[[]], [["help"]], [["--help"]], [["-h"]]])("lists the commands for %j", async (args) => {
    const { code, stdout, stderr } = await run(mooring, args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    for (const command of ["demo", "cluster", "simulator", "operator", "rights", "version", "help"]) {
      expect(stdout).toMatch(new RegExp(`^  ${command} +\\S`, "m"));
    }
    expect(stdout).toContain("Exit codes");
  });

  it("lists the options of one command", async () => {
    const direct = await run(mooring, ["cluster", "--help"]);
    const asked = await run(mooring, ["help", "cluster"]);
    expect(direct).toEqual(asked);
    expect(direct.stdout).toContain("--controller-manager");
  });

  it("says its version", async () => {
    const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    expect(await run(mooring, ["version"])).toEqual({ code: 0, stdout: `mooring ${version}\n`, stderr: "" });
  });

  it.each([
    [["clutser"], 'unknown command "clutser"; valid: why, get'],
    [["toString"], 'unknown command "toString"'],
    [["cluster", "--jsno"], "Unknown option '--jsno'"],
    [["cluster", "--data"], "argument missing"],
    [["cluster", "biuld"], 'unexpected "biuld"'],
    [["cluster", "build", "kubelet"], 'unknown binary "kubelet"'],
  ])("refuses %j with exit code 2", async (args, message) => {
    const { code, stdout, stderr } = await run(mooring, args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(message);
    expect(stderr).not.toContain("    at ");
  });

  it("fails in one readable line, and shows where with MOORING_DEBUG", async () => {
    const env = { ...process.env, KUBEBUILDER_ASSETS: "/nowhere", MOORING_DEBUG: "" };
    const brief = await run(mooring, ["cluster", "build", "etcd"], { env });
    expect(brief.code).toBe(1);
    expect(brief.stderr).toMatch(/^mooring: KUBEBUILDER_ASSETS is \/nowhere, which lacks etcd.*\n$/);
    const full = await run(mooring, ["cluster", "build", "etcd"], { env: { ...env, MOORING_DEBUG: "1" } });
    expect(full.stderr).toContain("    at ");
  });

  it("ends well when its reader has gone", async () => {
    const { code, stderr } = await run("bash", ["-c", `set -o pipefail; "${mooring}" explain | true`]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  });

  it("runs from any folder and through a link", async () => {
    const folder = mkdtempSync(join(tmpdir(), "mooring-link-"));
    try {
      symlinkSync(mooring, join(folder, "absolute"));
      symlinkSync("absolute", join(folder, "relative"));
      const { code, stdout } = await run("./relative", ["version"], { cwd: folder });
      expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^mooring \d/) });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
