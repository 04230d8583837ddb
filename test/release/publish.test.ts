import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
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

it("the workflow of a release publishes the npm package with its token", async () => {
  const seen: string[] = [];
  const registry = createServer((request, response) => {
    seen.push(`${request.method} ${request.url} ${request.headers.authorization}`);
    request.resume();
    response.writeHead(request.method === "PUT" ? 201 : 404, { "content-type": "application/json" }).end("{}");
  });
  registry.listen(0, "127.0.0.1");
  await once(registry, "listening");
  const host = `127.0.0.1:${(registry.address() as AddressInfo).port}`;

  const archive = join(folder.path, "dist/release/mooring-npm-1.2.3.tgz");
  mkdirSync(dirname(archive), { recursive: true });
  const program = programFiles(root, [{ path: "main.js", content: "#!/usr/bin/env node\n" }], "1.2.3");
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
      GITHUB_REF_NAME: "v1.2.3",
      ...filled(env, { "runner.temp": folder.path, "secrets.NPM_TOKEN": "the-token" }),
    },
  });
  registry.close();
  expect(code, stderr).toBe(0);
  expect(seen).toContain("PUT /mooring Bearer the-token");
});
