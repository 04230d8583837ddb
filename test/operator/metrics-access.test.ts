import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { z } from "zod";
import { KubeError } from "../../src/kube/client/errors.ts";
import type { KubeCall, KubeClient } from "../../src/kube/client/transport.ts";
import { readConfig } from "../../src/operator/config.ts";
import { createMetricsAccess } from "../../src/server/metrics-access.ts";
import { serve } from "../../src/server/serve.ts";
import { followPair, readPair, selfSigned } from "../../src/server/serving-certificate.ts";
import { temporaryFolder } from "../../src/simulator/programs/swept.ts";
import { fakeClock } from "../fake-clock.ts";
import { secureFetch } from "./secure-fetch.ts";

const SCRAPER = { username: "system:serviceaccount:monitoring:prometheus", groups: ["system:authenticated"], uid: "1" };

const users: Record<string, object> = { scraper: SCRAPER, tenant: { username: "tenant" } };

/** An API server that knows the tokens "scraper", which may read metrics, and "tenant", which may not. */
function open({ hangs = false } = {}) {
  const clock = fakeClock();
  const calls: KubeCall[] = [];
  let broken = false;
  const client: Pick<KubeClient, "request"> = {
    async request<T>(call: KubeCall): Promise<T> {
      calls.push(call);
      if (hangs) await new Promise(() => {});
      if (broken) throw new KubeError({ status: 500, reason: "InternalError", message: "down" });
      return JSON.parse(JSON.stringify(answer(call.body)));
    },
  };
  const access = createMetricsAccess({ client, clock, onError() {} });
  const paths = () => calls.map(({ path }) => path.split("/").at(-1));
  return { clock, calls, access, paths, setBroken: (is: boolean) => (broken = is) };
}

const review = z.object({ spec: z.object({ token: z.string().optional(), user: z.string().optional() }) });

function answer(body: unknown): object {
  const { spec } = review.parse(body);
  if (spec.token === undefined) return { status: { allowed: spec.user === SCRAPER.username } };
  const user = users[spec.token];
  // For an unknown user, the review is an empty object.
  return { status: { authenticated: user !== undefined, user: user ?? {} } };
}

const REVIEWS = ["tokenreviews", "subjectaccessreviews"];

test("a client that may read metrics by the API server's answer is let in", async () => {
  const { access, calls } = open();
  expect(await access("Bearer scraper")).toBe(200);
  expect(calls.map(({ method, path, body }) => ({ method, path, body }))).toEqual([
    {
      method: "POST",
      path: "/apis/authentication.k8s.io/v1/tokenreviews",
      body: { apiVersion: "authentication.k8s.io/v1", kind: "TokenReview", spec: { token: "scraper" } },
    },
    {
      method: "POST",
      path: "/apis/authorization.k8s.io/v1/subjectaccessreviews",
      body: {
        apiVersion: "authorization.k8s.io/v1",
        kind: "SubjectAccessReview",
        spec: {
          user: SCRAPER.username,
          groups: SCRAPER.groups,
          uid: SCRAPER.uid,
          nonResourceAttributes: { path: "/metrics", verb: "get" },
        },
      },
    },
  ]);
});

test.each([[undefined], [""], ["Basic c2NyYXBlcg=="], ["Bearer "]])(
  "%j is no token, and nobody is asked",
  async (header) => {
    const { access, calls } = open();
    expect(await access(header)).toBe(401);
    expect(calls).toEqual([]);
  },
);

test("a wrong token is 401, and somebody without the right 403", async () => {
  const { access, paths } = open();
  expect(await access("Bearer wrong")).toBe(401);
  expect(paths()).toEqual(["tokenreviews"]);
  expect(await access("Bearer tenant")).toBe(403);
});

test("an answer serves for a minute, also to those who ask meanwhile; a right that was taken away ends with it", async () => {
  const { access, paths, clock } = open();
  expect(await Promise.all([access("Bearer scraper"), access("Bearer scraper")])).toEqual([200, 200]);
  await clock.advance(59_000);
  expect(await access("Bearer scraper")).toBe(200);
  expect(paths()).toEqual(REVIEWS);
  await clock.advance(2_000);
  expect(await access("Bearer scraper")).toBe(200);
  expect(paths()).toEqual([...REVIEWS, ...REVIEWS]);
});

test("a right that is given counts after ten seconds", async () => {
  const { access, paths, clock } = open();
  expect(await access("Bearer tenant")).toBe(403);
  await clock.advance(9_000);
  expect(await access("Bearer tenant")).toBe(403);
  expect(paths()).toEqual(REVIEWS);
  await clock.advance(2_000);
  await access("Bearer tenant");
  expect(paths()).toEqual([...REVIEWS, ...REVIEWS]);
});

test("an API server that does not answer lets nobody in, and is asked again", async () => {
  const { access, setBroken } = open();
  setBroken(true);
  expect(await access("Bearer scraper")).toBe(500);
  setBroken(false);
  expect(await access("Bearer scraper")).toBe(200);
});

test("a client that tries many tokens does not flood the API server: others wait, but not forever", async () => {
  const hanging = open({ hangs: true });
  const tried = Array.from({ length: 50 }, (_, index) => hanging.access(`Bearer guess-${index}`));
  await hanging.clock.advance(29_000);
  expect(hanging.calls).toHaveLength(6);
  await hanging.clock.advance(1_000);
  expect(await Promise.all(tried.slice(6))).toEqual(Array(44).fill(429));
});

test("the cache has a limit, and a client that tries many tokens evicts no good one", async () => {
  const { access, calls } = open();
  await access("Bearer scraper");
  for (let index = 0; index <= 1000; index++) await access(`Bearer guess-${index}`);
  const before = calls.length;
  expect(await access("Bearer scraper")).toBe(200);
  expect(await access("Bearer guess-1000")).toBe(401);
  expect(calls).toHaveLength(before);
  expect(await access("Bearer guess-0")).toBe(401);
  expect(calls).toHaveLength(before + 1);
});

const metrics = {
  contentType: "text/plain",
  async *scrape() {
    yield "mooring_objects 1\n";
  },
};
const health = { ready: () => true, problem: () => undefined };
const here = { host: "127.0.0.1", port: 0 };
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

test("metrics are served over TLS to who may read them, health to everybody", async () => {
  const { access, clock } = open();
  const tls = await selfSigned(clock.now());
  const { url, close } = await serve(here, metrics, health, { tls, access });
  closing.push(close);
  expect(url).toMatch(/^https:/);
  const get = (path: string, token?: string) =>
    secureFetch(url + path, token === undefined ? {} : { authorization: `Bearer ${token}` });
  expect(await get("/metrics", "scraper")).toMatchObject({ status: 200, text: "mooring_objects 1\n" });
  expect(await get("/metrics", "tenant")).toMatchObject({ status: 403 });
  const refused = await get("/metrics");
  expect(refused).toMatchObject({ status: 401, challenge: "Bearer" });
  expect(refused.text).not.toContain("mooring_objects");
  for (const path of ["/healthz", "/readyz"]) expect(await get(path)).toMatchObject({ status: 200, text: "ok" });
  await expect(fetch(url.replace("https:", "http:"))).rejects.toThrow();
});

test("a certificate that is renewed in its files is served without a restart", async () => {
  const clock = fakeClock();
  const folder = temporaryFolder("certificate");
  closing.push(folder.remove);
  const files = { cert: join(folder.path, "tls.crt"), key: join(folder.path, "tls.key") };
  const write = async (part: "cert" | "key" | "both") => {
    const made = await selfSigned(clock.now());
    if (part !== "key") writeFileSync(files.cert, made.cert);
    if (part !== "cert") writeFileSync(files.key, made.key);
  };
  await write("both");
  const serving = await serve(here, metrics, health, { tls: await readPair(files) });
  const failures: unknown[] = [];
  const onError = (error: unknown) => failures.push(error);
  const stop = followPair(files, { clock, changed: serving.renew, onError });
  closing.push(serving.close, async () => stop());
  const shown = async () => (await secureFetch(`${serving.url}/healthz`)).fingerprint;
  const first = await shown();
  // A certificate without its new key is not a renewal.
  await write("cert");
  await clock.advance(60_000);
  await expect.poll(() => failures).toHaveLength(1);
  expect(await shown()).toBe(first);
  await write("both");
  await clock.advance(60_000);
  await expect.poll(shown).not.toBe(first);
});

test.each([
  [["--tls-cert-file", "package.json"], "--tls-key-file: missing"],
  [["--tls-key-file", "package.json"], "--tls-cert-file: missing"],
  [["--tls-cert-file", "package.json", "--tls-key-file", "nowhere"], '--tls-key-file: "nowhere" does not exist'],
])("a certificate without its key is wrong usage: %j", (argv, message) => {
  expect(() => readConfig(argv, {})).toThrow(message);
});
