import { createHash } from "node:crypto";
import { describe, expect, it, onTestFinished } from "vitest";
import { chart, pathThrough } from "../../../src/simulator/dashboard/chart.ts";
import { amount, rangeOf, ticks, timeTicks } from "../../../src/simulator/dashboard/scale.ts";
import { serviceFor, stream } from "../pipelines.ts";
import { platformForFile, refusal, resource } from "../platform.ts";

const platform = await platformForFile();

async function read(region: string, query = "") {
  const response = await fetch(`${platform.ready.endpoints.api}/dashboards/${region}${query}`);
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** A metric pipeline in its own region, and a function that pushes to it. */
async function metricsIn(region: string, name = "metrics") {
  const pipeline = await serviceFor(platform, "monitoring", region).made({ name });
  return {
    async push(...lines: string[]) {
      const headers = { apikey: pipeline.key, "content-type": "text/plain" };
      const body = { authorization: null, raw: `${lines.join("\n")}\n`, headers };
      const path = new URL(`${pipeline.endpoint}/api/v1/push`).pathname;
      expect(await platform.call("POST", path, undefined, body)).toMatchObject({ status: 204 });
    },
  };
}

/** A log pipeline in its own region, and a function that sends to it. */
async function logsIn(region: string, ...tags: string[]) {
  const logs = tags.map((tag) => stream({ tag, source: "generic", protocol: "http" }));
  const pipeline = await serviceFor(platform, "logging", region).made({ logs });
  return (tag: string, record: object) =>
    platform.call("POST", `/ingest/logs/${pipeline.id}/${tag}`, record, {
      authorization: null,
      headers: { apikey: pipeline.key },
    });
}

const curvesIn = (text: string) => [...text.matchAll(/<path class="curve [^"]*" d="([^"]*)"/g)].map(([, d]) => d ?? "");
const minutesAgo = (minutes: number) => Date.now() - minutes * 60_000;

describe("the dashboard of a region", () => {
  it("is a page that anybody on this machine can open, and says so", async () => {
    const { status, headers, text } = await read("de-fra");
    expect(status).toBe(200);
    expect(headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(text).toContain("Open to everybody on this machine, without a login");
  });

  it("tells how to push while there is nothing to see", async () => {
    const { text } = await read("gb-lhr");
    const { api } = platform.ready.endpoints;
    expect(text).toContain("No samples yet. Make a metric pipeline");
    expect(text).toContain(`${api}/monitoring/gb-lhr/pipelines`);
    expect(text).toContain("Make a log pipeline");
    expect(text).toContain(`${api}/logging/gb-lhr/pipelines`);
    await metricsIn("gb-lhr");
    await logsIn("gb-lhr", "front");
    const later = (await read("gb-lhr")).text;
    expect(later).toContain("Push one, with the key of the pipeline");
    expect(later).not.toContain("Make a");
    expect(later).toMatch(/\/ingest\/logs\/[0-9a-f-]{36}\/front/);
  });

  it("draws a chart per metric and a curve per series, with times, values and labels", async () => {
    const { push } = await metricsIn("es-vit");
    const times = [30, 20, 10].map(minutesAgo);
    await push(...times.map((at, index) => `temperature{room="kitchen"} ${20 + index} ${at}`));
    await push(...times.map((at, index) => `temperature{room="cellar"} ${10 + index} ${at}`));
    await push(...times.map((at) => `humidity 55 ${at}`));
    const { text } = await read("es-vit");
    expect([...text.matchAll(/<figcaption>(.*?)<\/figcaption>/g)].map(([, name]) => name)).toEqual([
      "humidity",
      "temperature",
    ]);
    expect(curvesIn(text).map((d) => d.match(/[ML]/g)?.join(""))).toEqual(["MLL", "MLL", "MLL"]);
    expect(text).toContain("{room=&quot;cellar&quot;} <b>12</b>");
    expect(text).toMatch(/class="time"[^>]*>\d\d:\d\d</);
    expect(text).toMatch(/class="value"[^>]*>15</);
    const filtered = (await read("es-vit", "?metric=humid")).text;
    expect(filtered).not.toContain("<figcaption>temperature");
    expect(curvesIn(filtered)).toHaveLength(1);
  });

  it("draws at most twenty charts and says how many it leaves out", async () => {
    const { push } = await metricsIn("fr-par");
    await push(...Array.from({ length: 23 }, (_, index) => `metric_${String(index).padStart(2, "0")} ${index}`));
    const { text } = await read("fr-par");
    expect(text.match(/<figure>/g)).toHaveLength(20);
    expect(text).toContain("3 more metrics are not drawn");
  });

  it("shows the hour up to the newest sample, and is not led astray by one from the future", async () => {
    const { push } = await metricsIn("us-mci");
    await push(`old 1 ${minutesAgo(200)}`, `young 1 ${minutesAgo(5)}`, `future 1 ${minutesAgo(-100_000)}`);
    const { text } = await read("us-mci");
    expect([...text.matchAll(/<figcaption>(.*?)<\/figcaption>/g)].map(([, name]) => name)).toEqual(["young"]);
  });

  it("tails the newest lines, of all tags or of one", async () => {
    const ship = await logsIn("gb-bhx", "front", "back");
    await ship("front", { message: "Ahoy", user: 7 });
    await platform.advance(1);
    await ship("back", { msg: "Bonjour" });
    const { text } = await read("gb-bhx");
    expect(text.indexOf("Bonjour")).toBeLessThan(text.indexOf("Ahoy"));
    expect(text).toContain("{&quot;user&quot;:7}");
    const front = (await read("gb-bhx", "?tag=front")).text;
    expect(front).toContain("Ahoy");
    expect(front).not.toContain("Bonjour");
    expect((await read("gb-bhx", "?tag=none")).text).toContain("No line has the tag");
  });

  it("shows no more than two hundred lines", async () => {
    const ship = await logsIn("gb-bhx", "many");
    await ship(
      "many",
      Array.from({ length: 250 }, (_, n) => ({ n })),
    );
    expect((await read("gb-bhx", "?tag=many")).text.match(/<li><time/g)).toHaveLength(200);
  });

  it("tells which lines were refused and why", async () => {
    const ship = await logsIn("gb-bhx", "known");
    await ship("stranger", { message: "lost" });
    expect((await read("gb-bhx")).text).toContain(
      "1 lines refused: the pipeline has no log with the tag &quot;stranger&quot;",
    );
  });

  it("is neither counted as a call nor hit by a fault", async () => {
    onTestFinished(async () => void (await platform.faults()));
    await platform.faults({ fault: "status", status: 500 });
    await platform.steer("POST", "calls/reset");
    expect((await read("de-fra")).status).toBe(200);
    expect(await platform.steer("GET", "calls")).toMatchObject({ total: 0 });
  });

  it("is one per contract and region, whatever the pipelines", async () => {
    const other = await platform.contract();
    const addressIn = async (region: string, caller: Parameters<typeof serviceFor>[0] = platform) => {
      const body = { properties: { name: "one" } };
      const made = resource(await serviceFor(caller, "monitoring", region).call("POST", "/pipelines", body));
      return String(made.metadata.grafanaEndpoint);
    };
    const here = await addressIn("fr-par");
    expect(await addressIn("fr-par")).toBe(here);
    const all = [here, await addressIn("us-mci"), await addressIn("fr-par", other)];
    expect(new Set(all).size).toBe(3);
    for (const address of all) expect((await fetch(address)).status).toBe(200);
  });

  it("does not exist for a region that does not", async () => {
    refusal(await platform.call("GET", "/dashboards/xx-yyy"), 404, "309");
  });
});

describe("hostile text", () => {
  const evil = `<script>alert("x")</script><img src=x onerror='y'>&`;
  const shown = "&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;&lt;img src=x onerror=&#39;y&#39;&gt;&amp;";

  it("stays text wherever it comes from", async () => {
    const { push } = await metricsIn("de-txl", "<b>pipeline</b>");
    await push(`temperature{room="${evil.replaceAll('"', '\\"')}"} 1`);
    const ship = await logsIn("de-txl", "app");
    await ship("app", { message: evil, [evil]: evil });
    await ship(encodeURIComponent(evil), {});
    const { text } = await read("de-txl", `?tag=app&metric=`);
    expect(text).toContain(shown);
    expect(text).toContain("&lt;b&gt;pipeline&lt;/b&gt;");
    expect(text.match(/<script>/g)).toHaveLength(1);
    expect(text).not.toMatch(/<img|<b>pipeline/);
    const echoed = (await read("de-txl", `?tag=${encodeURIComponent(evil)}&metric=${encodeURIComponent(evil)}`)).text;
    expect(echoed).toContain(`value="${shown}"`);
    expect(echoed.match(/<script>/g)).toHaveLength(1);
  });

  it("could not run either: the page allows its own script and style and nothing else", async () => {
    const { headers, text } = await read("de-fra");
    const policy = headers.get("content-security-policy") ?? "";
    const hash = (tag: string) => {
      const content = new RegExp(`<${tag}>([^]*?)</${tag}>`).exec(text)?.[1] ?? "";
      return `'sha256-${createHash("sha256").update(content).digest("base64")}'`;
    };
    expect(policy.split("; ")).toEqual([
      "default-src 'none'",
      `script-src ${hash("script")}`,
      `style-src ${hash("style")}`,
      "img-src data:",
      "connect-src 'self'",
      "form-action 'self'",
      "base-uri 'none'",
      "frame-ancestors 'none'",
    ]);
    expect(text).not.toMatch(/(src|href)="(?!data:,")/);
  });
});

describe("a curve", () => {
  it("has a gap where a value is no number, and a lone value is a dot", () => {
    expect(pathThrough([1, 2, Number.NaN, 4].map((y, x) => ({ x, y })))).toBe("M0.0 1.0L1.0 2.0M3.0 4.0");
    expect(pathThrough([{ x: 1, y: 2 }])).toBe("M1.0 2.0h0");
    expect(pathThrough([])).toBe("");
  });

  it.each([[[0, 0]], [[Number.NaN]], [[1e300, -1e300]], [[5, 5.0000001]], [[Number.POSITIVE_INFINITY, 1]]])(
    "of the values %j stays within its picture",
    (values) => {
      const samples = values.map((value, index) => ({ value, timestamp: index * 1000 }));
      const picture = chart("m", [{ label: "l", samples }], { from: 0, to: 300_000 }).markup;
      for (const [, y] of picture.matchAll(/ y1="([^"]*)"/g)) expect(Number(y)).toSatisfy((at) => at >= 0 && at <= 240);
      expect(picture).not.toMatch(/"NaN|Infinity"/);
    },
  );
});

describe("an axis", () => {
  it("has round numbers within its range", () => {
    expect(ticks(0, 10, 4)).toEqual([0, 5, 10]);
    expect(ticks(-3, 7, 5)).toEqual([-2, 0, 2, 4, 6]);
    expect(timeTicks(0, 3_600_000)).toHaveLength(7);
    expect(timeTicks(30_000, 300_000).map((at) => at / 60_000)).toEqual([1, 2, 3, 4, 5]);
  });

  it("never has an empty range, nor goes below zero for what never did", () => {
    expect(rangeOf([])).toEqual({ low: 0, high: 1 });
    expect(rangeOf([3])).toEqual({ low: 2, high: 4 });
    expect(rangeOf([0, 100]).low).toBe(0);
  });

  it("shows numbers short, but so that neighbours differ", () => {
    expect([0, 1.5, 1_234_567].map((value) => amount(value))).toEqual(["0", "1.5", "1.23M"]);
    expect(amount(1_000_100, 100)).not.toBe(amount(1_000_200, 100));
  });
});
