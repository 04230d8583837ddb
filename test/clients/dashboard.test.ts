import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { serviceFor, stream } from "../simulator/pipelines.ts";
import { type Platform, resource, startPlatform } from "../simulator/platform.ts";
import { openBrowser } from "./browser.ts";

let platform: Platform;
let browser: Browser;
beforeAll(async () => {
  [platform, browser] = await Promise.all([startPlatform(), openBrowser()]);
}, 300_000);
afterAll(async () => {
  await browser?.close();
  await platform?.close();
});

let page: Page;
const complaints: string[] = [];
beforeEach(async () => {
  page = await browser.newPage();
  await page.clock.install();
  page.on("console", (message) => complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("dialog", (dialog) => complaints.push(dialog.message()));
});
afterEach(async () => {
  await page.close();
  expect(complaints.splice(0)).toEqual([]);
});

/** A pipeline of each product in one region, functions that send data to them, and their common page. */
async function pipelinesIn(region: string) {
  const monitoring = serviceFor(platform, "monitoring", region);
  const logging = serviceFor(platform, "logging", region);
  const metrics = await monitoring.made();
  const logs = await logging.made({
    logs: [stream({ tag: "app", protocol: "http" }), stream({ tag: "store", protocol: "http" })],
  });
  const { grafanaAddress } = resource(await logging.call("GET", logs.path)).properties;
  expect(resource(await monitoring.call("GET", metrics.path)).metadata.grafanaEndpoint).toBe(grafanaAddress);
  const post = (url: string, key: string, type: string, body: string) =>
    fetch(url, { method: "POST", headers: { apikey: key, "content-type": type }, body });
  return {
    address: String(grafanaAddress),
    push: (...lines: string[]) =>
      post(`${metrics.endpoint}/api/v1/push`, metrics.key, "text/plain", `${lines.join("\n")}\n`),
    ship: (tag: string, record: object) =>
      post(
        `${platform.ready.endpoints.api}/ingest/logs/${logs.id}/${tag}`,
        logs.key,
        "application/json",
        JSON.stringify(record),
      ),
  };
}

/** Waits for the page's refresh interval of five seconds. */
const refreshed = () => page.clock.runFor(5_000);
const points = async () => {
  const d = (await page.locator("path.curve").first().getAttribute("d")) ?? "";
  return d.match(/[ML]/g)?.length ?? 0;
};

describe("the dashboard in a browser", { timeout: 60_000 }, () => {
  it("shows a pushed series as a curve and a shipped line in the tail, without being reloaded", async () => {
    const { address, push, ship } = await pipelinesIn("de-txl");
    await page.goto(address);
    await page.getByText("No samples yet").waitFor();
    await page.getByText("No lines yet").waitFor();
    const now = Date.now();
    await push(...[3, 2, 1].map((minutes) => `temperature{room="kitchen"} ${20 + minutes} ${now - minutes * 60_000}`));
    await ship("app", { message: "the kettle is on" });
    await refreshed();
    await page.getByText("the kettle is on").waitFor();
    expect(await page.locator("figcaption").allTextContents()).toEqual(["temperature"]);
    expect(await points()).toBe(3);
    const curve = await page.locator("path.curve").boundingBox();
    expect(curve?.width).toBeGreaterThan(50);
    expect(curve?.height).toBeGreaterThan(20);
  });

  it("shows markup in a line, a label or a filter as text", async () => {
    const { address, push, ship } = await pipelinesIn("de-fra");
    const evil = "<script>alert(1)</script><img src=x onerror=alert(2)>";
    await push(`temperature{room="${evil}"} 1`);
    await ship("app", { message: evil });
    await page.goto(`${address}?metric=&tag=app`);
    await refreshed();
    expect(await page.locator(".tail li").innerText()).toContain(evil);
    expect(await page.locator(".legend li").innerText()).toContain(evil);
    expect(await page.locator("main script, main img").count()).toBe(0);
    await page.goto(`${address}?metric=${encodeURIComponent(evil)}`);
    expect(await page.locator("input[name=metric]").inputValue()).toBe(evil);
  });

  it("shows the lines of the tag that is chosen", async () => {
    const { address, ship } = await pipelinesIn("es-vit");
    await ship("app", { message: "from the app" });
    await ship("store", { message: "from the database" });
    await page.goto(address);
    await page.getByText("from the database").waitFor();
    await page.locator("select").selectOption("app");
    await page.waitForURL(/tag=app/);
    expect(await page.locator(".tail li").allInnerTexts()).toEqual([expect.stringContaining("from the app")]);
  });

  it.each([
    ["a phone", { width: 360, height: 740 }],
    ["a desk", { width: 1600, height: 900 }],
  ])("fits %s, by day and by night", async (_, size) => {
    const { address, push, ship } = await pipelinesIn("fr-par");
    await push(`a_rather_long_name_of_a_metric_that_somebody_has_thought_of{with="labels",and="more"} 1`);
    await ship("app", { message: "x".repeat(500) });
    await page.setViewportSize(size);
    await page.goto(address);
    // Runs in the browser, whose global names the types of the tests do not have.
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(size.width);
    const background = () => page.evaluate("getComputedStyle(document.body).backgroundColor");
    await page.emulateMedia({ colorScheme: "light" });
    const day = await background();
    await page.emulateMedia({ colorScheme: "dark" });
    expect(await background()).not.toBe(day);
  });

  it("keeps what it shows while the simulator does not answer, and says so", async () => {
    const { address, ship } = await pipelinesIn("us-mci");
    await ship("app", { message: "still here" });
    await page.goto(address);
    await page.route(address, (route) => route.fulfill({ status: 503 }));
    await refreshed();
    await page.getByText("The simulator does not answer").waitFor();
    await page.getByText("still here").waitFor();
    complaints.splice(0);
    await page.unroute(address);
    await refreshed();
    await expect.poll(() => page.locator("#note").textContent()).toBe("");
  });
});
