import { readFileSync } from "node:fs";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { parse } from "yaml";
import { parsePlan } from "../../../src/simulator/faults/plan.ts";
import { type Answer, items, platformForFile, refusal, resource, serverBody } from "../platform.ts";

/** Every example on the page about the simulator does what the sentence before it says. */

const page = readFileSync(new URL("../../../docs/simulator.md", import.meta.url), "utf8");
const chapter = page.slice(page.indexOf("## Fault plan"), page.indexOf("## Object storage"));
const examples = [...chapter.matchAll(/^([^\n]+):\n\n```yaml\n(.*?)```$/gms)];
const planOf = new Map(examples.map(([, sentence = "", plan = ""]) => [sentence, plan]));

const platform = await platformForFile();
const datacenter = await platform.datacenter();
const servers = `${datacenter}/servers`;
await platform.made(servers, serverBody());

const create = (name: string) => platform.core("POST", "/datacenters", { properties: { name, location: "de/fra" } });
const list = () => platform.core("GET", "/datacenters?depth=1");
const named = async (name: string) =>
  items(await list()).filter(({ properties }) => Object(properties).name === name).length;

/** `status`, or the outcome of a call without an answer. */
const outcome = (call: Promise<Answer>) =>
  call.then(
    ({ status }) => status,
    () => "no answer",
  );
const outcomes = async (calls: number, call: () => Promise<Answer> = list) => {
  const seen: (number | string)[] = [];
  for (let made = 0; made < calls; made += 1) seen.push(await outcome(call()));
  return seen;
};

const proofs: Record<string, (force: () => Promise<unknown>) => Promise<void>> = {
  async "A server is created, but the answer is lost"(force) {
    const before = items(await platform.core("GET", servers)).length;
    await force();
    expect(await outcomes(1, () => platform.core("POST", servers, serverBody()))).toEqual(["no answer"]);
    await platform.advance(60);
    expect(items(await platform.core("GET", servers))).toHaveLength(before + 1);
  },
  async "The first two calls pass, then the platform is down for three"(force) {
    await force();
    expect(await outcomes(2)).toEqual([200, 200]);
    const down = await list();
    expect(refusal(down, 503, "200")).toBe("down for maintenance");
    expect(down.headers.get("retry-after")).toBe("5");
    expect(await outcomes(3)).toEqual([503, 503, 200]);
  },
  async "A bad network, the same in every run"(force) {
    const runs: unknown[] = [];
    for (const _ of [1, 2]) {
      await force();
      runs.push(await outcomes(40));
    }
    expect(runs[0]).toEqual(runs[1]);
    expect(new Set(runs.flat(2))).toEqual(new Set([200, "no answer"]));
  },
  async "A write hangs after it was executed, until the platform closes the connection"(force) {
    await force();
    expect(await outcomes(1, () => create("hung"))).toEqual(["no answer"]);
    await platform.advance(60);
    expect(await named("hung")).toBe(1);
  },
  async "A proxy delivers a creation that its client has given up, late"(force) {
    await force();
    await platform.steer("POST", "calls/reset");
    const client = new AbortController();
    const given = { properties: { name: "buffered", location: "de/fra" } };
    const creation = outcome(platform.core("POST", "/datacenters", given, { signal: client.signal }));
    const until = (truth: () => Promise<boolean>) => vi.waitUntil(truth, { timeout: 60_000 });
    await until(async () => Object(await platform.steer("GET", "calls")).total === 1);
    client.abort();
    expect(await creation).toBe("no answer");
    await until(async () => {
      await platform.advance(60);
      return (await named("buffered")) === 1;
    });
  },
  async "A client that calls too often gets 429"(force) {
    await force();
    expect(await outcomes(4)).toEqual([200, 200, 200, 429]);
    expect((await list()).headers.get("retry-after")).toBe("1");
  },
  async "Provisioning takes ten times as long, and fails"(force) {
    await force();
    const answer = await create("doomed");
    await platform.advance(19);
    expect(await platform.requestOf(answer)).toMatchObject({ status: "BUSY" });
    await platform.advance(22);
    expect(await platform.requestOf(answer)).toEqual(
      expect.objectContaining({ status: "FAILED", message: "[VDC-5-1000] no capacity left" }),
    );
  },
  async "A load balancer in front of the platform delivers a creation twice"(force) {
    await force();
    expect(await outcomes(1, () => create("twins"))).toEqual([202]);
    await platform.advance(60);
    expect(await named("twins")).toBe(2);
  },
  async "Reads lag behind writes: new resources cannot be read for two minutes, are in no list for three, and deletions are visible after half a minute"(
    force,
  ) {
    await force();
    const path = `/datacenters/${resource(await create("lagging")).id}`;
    await platform.advance(60);
    expect(await outcomes(1, () => platform.core("GET", path))).toEqual([404]);
    // Reads are thirty seconds old.
    await platform.advance(91);
    expect(await outcomes(1, () => platform.core("GET", path))).toEqual([200]);
    expect(await named("lagging")).toBe(0);
    await platform.advance(60);
    expect(await named("lagging")).toBe(1);
    expect((await platform.core("DELETE", path)).status).toBe(202);
    await platform.advance(20);
    expect(await outcomes(1, () => platform.core("GET", path))).toEqual([200]);
    await platform.advance(31);
    expect(await outcomes(1, () => platform.core("GET", path))).toEqual([404]);
  },
  async "A gateway has lost its routes and answers 404 to everything but the contract's own path"(force) {
    await force();
    expect(await outcomes(1)).toEqual([404]);
    expect((await platform.call("GET", "/auth/v1/tokens")).body).toBe("default backend - 404");
    expect(await outcomes(1, () => platform.core("GET", "/contracts"))).toEqual([200]);
  },
  async "All lists of a product are empty, and nothing in them can be read"(force) {
    await force();
    for (const path of ["/datacenters", servers]) expect(items(await platform.core("GET", path))).toEqual([]);
    refusal(await platform.core("GET", datacenter), 404, "309");
    expect(items(await platform.core("GET", "/locations"))).not.toEqual([]);
  },
  async "A deletion that takes long and fails hides the datacenter meanwhile"(force) {
    await force();
    const answer = await platform.core("DELETE", datacenter);
    await platform.advance(15);
    expect(await platform.requestOf(answer)).toMatchObject({ status: "BUSY" });
    expect(await outcomes(1, () => platform.core("GET", datacenter))).toEqual([404]);
    await platform.advance(120);
    expect(await platform.requestOf(answer)).toMatchObject({ status: "FAILED" });
    expect(await outcomes(1, () => platform.core("GET", datacenter))).toEqual([200]);
  },
  async "Changes of datacenters are accepted and not made"(force) {
    await force();
    await platform.done("PATCH", datacenter, { name: "renamed" });
    expect(resource(await platform.core("GET", datacenter)).properties.name).toBe("prod");
  },
  async "Answers are incomplete: servers without volumes and NICs, a datacenter without a name"(force) {
    await force();
    const [server] = items(await platform.core("GET", `${servers}?depth=3`));
    expect(server).toHaveProperty("properties");
    expect(server).not.toHaveProperty("entities");
    const { properties } = resource(await platform.core("GET", datacenter));
    expect(properties).toMatchObject({ version: 99, location: "de/fra" });
    expect(properties).not.toHaveProperty("name");
  },
  async "The token is revoked in the middle of the work"(force) {
    const { token } = await platform.user("revoked@example.org");
    const as = () => platform.core("GET", "/datacenters", undefined, { authorization: `Bearer ${token}` });
    await force();
    expect(await outcomes(3, as)).toEqual([200, 401, 401]);
  },
  async "The clock of the platform is ten minutes behind"(force) {
    const created = async () =>
      Date.parse(String(resource(await platform.core("GET", datacenter)).metadata.createdDate));
    const honest = await created();
    await force();
    expect(await created()).toBe(honest - 600_000);
  },
  async "A single answer has a date of a year ahead, and nothing else is wrong"(force) {
    const year = async () => new Date((await list()).headers.get("date") ?? "").getUTCFullYear();
    const honest = await year();
    await force();
    expect(await year()).toBe(honest + 1);
    expect(await year()).toBe(honest);
  },
  async "Models answer nothing every fifth time, and a slow stream breaks off in the middle"(force) {
    await platform.steer("PUT", "limits", { inference: { perSecond: 1000, burst: 1000 } });
    await force();
    const asked = { model: "openai/gpt-oss-120b", messages: [{ role: "user", content: "hello" }] };
    const chat = (more: object) => platform.call("POST", "/inference/v1/chat/completions", { ...asked, ...more });
    const contents = new Set<unknown>();
    for (let made = 0; made < 20; made += 1) contents.add(Object((await chat({})).body).choices[0].message.content);
    expect([...contents].sort()).toEqual(["", expect.stringContaining("hello")]);
    expect(await outcomes(1, () => chat({ stream: true }))).toEqual(["no answer"]);
  },
};

describe("an example of a fault plan", () => {
  beforeEach(async () => {
    await platform.faults();
    await platform.advance(60);
  });

  it("has a proof each, and every fault has an example", () => {
    expect([...planOf.keys()]).toEqual(Object.keys(proofs));
    const shown = new Set([...planOf.values()].flatMap((plan) => parsePlan(plan).rules.map(({ fault }) => fault)));
    const listed = [
      ...chapter.matchAll(/^\| `([a-z0-9-]+)`(?:, `([a-z-]+)`)?(?: \([^)]*\))? \| (?!method|how|one|routes)/gm),
    ];
    const faults = listed.flatMap(([, ...names]) => names.filter((name) => name !== undefined));
    // A reset is like a lost request.
    expect(faults.filter((name) => name !== "reset").sort()).toEqual([...shown].sort());
  });

  it.each(Object.entries(proofs))("%s", async (sentence, proof) => {
    await proof(() => platform.steer("PUT", "faults", parse(planOf.get(sentence) ?? "")));
  });

  it("is sent to a simulator that runs", async () => {
    const [, body = ""] = /-d '([^']+)' \$API(\/_simulator\/faults)/.exec(chapter) ?? [];
    await platform.steer("PUT", "faults", JSON.parse(body));
    expect(await outcomes(4, () => create("sent"))).toEqual([503, 503, 503, 202]);
    await platform.steer("PUT", "faults", {});
    expect(await platform.steer("GET", "faults")).toEqual({ rules: [] });
  });
});
