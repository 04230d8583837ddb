import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, expect, it } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { packForNpm, programFiles } from "../../release/artifacts/program.ts";
import { temporaryFolder } from "../../src/simulator/programs/swept.ts";
import { root, run } from "../processes.ts";

const folder = temporaryFolder("publish");
afterAll(() => folder.remove());

const workflow = z.object({
  jobs: z.object({
    release: z.looseObject({
      steps: z.array(
        z.looseObject({
          name: z.string().optional(),
          run: z.string().optional(),
          env: z.record(z.string(), z.string()).optional(),
        }),
      ),
    }),
  }),
});

/** The variables of a step, with these values for the expressions of GitHub. */
const filled = (env: Record<string, string>, values: Record<string, string>) =>
  Object.fromEntries(
    Object.entries(env).map(([name, text]) => [
      name,
      text.replace(/\$\{\{ *([\w.]+) *\}\}/g, (_, key) => values[key] ?? ""),
    ]),
  );

it.each([
  ["1.2.3", "latest"],
  ["1.3.0-rc.1", "next"],
])("the workflow of a release publishes the npm package %s with its token, as %s", async (version, tag) => {
  const seen: string[] = [];
  const bodies: string[] = [];
  const registry = createServer(async (request, response) => {
    const body = await text(request);
    seen.push(`${request.method} ${request.url} ${request.headers.authorization}`);
    bodies.push(body);
    response.writeHead(request.method === "PUT" ? 201 : 404, { "content-type": "application/json" }).end("{}");
  });
  registry.listen(0, "127.0.0.1");
  await once(registry, "listening");
  const host = `127.0.0.1:${(registry.address() as AddressInfo).port}`;

  const archive = join(folder.path, `dist/release/mooring-npm-${version}.tgz`);
  mkdirSync(dirname(archive), { recursive: true });
  const program = programFiles(root, [{ path: "main.js", content: "#!/usr/bin/env node\n" }], version);
  writeFileSync(archive, packForNpm(program, 1_700_000_000));

  const { jobs } = workflow.parse(parse(readFileSync(join(root, ".github/workflows/release.yml"), "utf8")));
  const { run: script = "", env = {} } = jobs.release.steps.find(({ name }) => name === "publish to npm") ?? {};
  const { code, stderr } = await run("bash", ["-e", "-c", script.replaceAll("registry.npmjs.org", host)], {
    cwd: folder.path,
    env: {
      ...process.env,
      HOME: folder.path,
      npm_config_registry: `http://${host}/`,
      npm_config_cache: join(folder.path, "cache"),
      GITHUB_REF_NAME: `v${version}`,
      ...filled(env, { "runner.temp": folder.path, "secrets.NPM_TOKEN": "the-token" }),
    },
  });
  registry.close();
  expect(code, stderr).toBe(0);
  expect(seen).toContain("PUT /mooring Bearer the-token");
  expect(JSON.parse(bodies[seen.indexOf("PUT /mooring Bearer the-token")] ?? "")["dist-tags"]).toEqual({
    [tag]: version,
  });
});
