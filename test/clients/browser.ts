import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

/** A real browser, without a window. Fails with the way out when there is none and none can be installed. */
export function openBrowser() {
  const setup = fileURLToPath(new URL("../../bin/setup-browser", import.meta.url));
  const executablePath = execFileSync(setup, { encoding: "utf8", stdio: "pipe" }).trim();
  // A root user has no sandbox; what is looked at comes from this machine alone.
  return chromium.launch({ executablePath, args: ["--no-sandbox"] });
}
