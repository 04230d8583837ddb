import { createServer } from "node:http";
import { afterAll, expect, it } from "vitest";
import { z } from "zod";
import { listenOn } from "../../../src/simulator/http/serve.ts";
import { serviceFor } from "../pipelines.ts";
import { platformForFile } from "../platform.ts";

const platform = await platformForFile();
const reported: unknown[] = [];
const receiver = createServer(async (request, response) => {
  let text = "";
  for await (const piece of request) text += piece;
  reported.push(JSON.parse(text));
  response.writeHead(204).end();
});
const url = await listenOn(receiver, "127.0.0.1", 0);
afterAll(() => new Promise((resolve) => receiver.close(resolve)));

const { id, key } = await serviceFor(platform, "monitoring").made();
const push = async (text: string) => {
  const headers = { apikey: key, "content-type": "text/plain" };
  const path = `/ingest/metrics/${id}/api/v1/push`;
  expect((await platform.call("POST", path, undefined, { authorization: null, raw: text, headers })).status).toBe(204);
};
const rules = z.looseObject({ rules: z.array(z.looseObject({ name: z.string(), state: z.string() })) });
const states = async () =>
  Object.fromEntries(rules.parse(await platform.steer("GET", "alerts")).rules.map(({ name, state }) => [name, state]));
const page = async () => (await fetch(`${platform.ready.endpoints.api}/dashboards/de-txl`)).text();
const queue = { region: "de-txl", metric: "queue_length", notify: url };

it("a rule on a pushed metric fires beyond its threshold, tells its target once, and resolves", async () => {
  const all = [
    { ...queue, name: "long", above: 100 },
    { ...queue, name: "idle", below: 1 },
    { ...queue, name: "elsewhere", region: "de-fra", above: 1 },
  ];
  await platform.steer("PUT", "alerts", { rules: all });
  expect(await states()).toEqual({ long: "no data", idle: "no data", elsewhere: "no data" });
  await push('queue_length{shop="a"} 50\n');
  expect(await states()).toEqual({ long: "ok", idle: "ok", elsewhere: "no data" });
  expect(reported).toEqual([]);
  await platform.advance(60);
  await push('queue_length{shop="a"} 150\n');
  await platform.advance(60);
  await push('queue_length{shop="a"} 151\n');
  expect(await states()).toMatchObject({ long: "firing" });
  expect(await page()).toMatch(/long.*queue_length above 100.*firing/s);
  const news = { name: "long", metric: "queue_length", labels: { shop: "a" } };
  await expect.poll(() => reported).toEqual([{ ...news, state: "firing", value: 150 }]);
  await platform.advance(60);
  await push('queue_length{shop="a"} 5\n');
  expect(await states()).toMatchObject({ long: "ok" });
  await expect.poll(() => reported.slice(1)).toEqual([{ ...news, state: "resolved", value: 5 }]);
});

it("a rule has one threshold, and a target that is an address", async () => {
  for (const wrong of [{}, { above: 1, below: 2 }, { above: "1" }, { above: 1, notify: "mail me" }]) {
    const { notify: _, ...rest } = queue;
    const answer = await platform.call("PUT", "/_simulator/alerts", { rules: [{ ...rest, name: "wrong", ...wrong }] });
    expect(answer).toMatchObject({ status: 422 });
  }
});
