import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

/** A headless browser. Throws with the way out if there is none and none can be installed. */
export function openBrowser() {
  const setup = fileURLToPath(new URL("../../bin/setup-browser", import.meta.url));
  const executablePath = execFileSync(setup, { encoding: "utf8", stdio: "pipe" }).trim();
  // The root user has no sandbox. All pages come from this machine.
  return chromium.launch({ executablePath, args: ["--no-sandbox"] });
}
